"""MS-MQQB 3.1.5.8.3 Security: signatures and the identity of the signer."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.judging.verdicts import Verdict
from harness.peer.peer import PEER_QUEUE
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, BOB, CAROL, DAVE, MALLORY
from harness.wire import protection
from harness.wire.protection import HASH_ALGORITHM_IDS, SIG10, SIG20, SIG30
from suites.mqqb.steps.secured import (
    SENDER_TYPE_OF_NO_SENDER,
    SENDER_TYPE_OF_QUEUE_MANAGER,
    SHA1,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    add_signature,
    encrypt_message,
    flip_signature_bit,
    judge_dispositions,
    sign_message,
)

UNKNOWN_HASH_ALGORITHM = 0x8009
ENHANCED_PRIVACY_LEVEL = 3
ARRIVAL_ACK_NAME, BAD_SIGNATURE_NACK_NAME = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"
HASH_NAME_BY_ALGORITHM = dict(
    zip(HASH_ALGORITHM_IDS, ("MD2", "MD4", "MD5", "SHA-1", "SHA-256", "SHA-512"), strict=True)
)
STORED_OUTCOME, NOT_STORED_OUTCOME = "stored in its queue", "not stored in its queue"
NEEDED_SECURITY_FACILITIES = needs("security", "receive")
MESSAGE_EXTENSION = b"an extension"
RULES_OF_REFUSALS = ("MQQB-3.1.5.8.3-02", "MQQB-3.1.5.8.3-14", "MQQB-3.1.5.8.3-15")
LARGE_BODY = b"a large body" * 6_000
EXPECTED_DISPOSITIONS_OF_SIGNED_MESSAGES = (
    *(
        ("MQQB-3.1.5.8.3-02", f"MSMQ 2.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "answer", ARRIVAL_ACK_NAME)
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-04", f"MSMQ 2.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "answer", ARRIVAL_ACK_NAME)
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-05", f"MSMQ 2.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "answer", ARRIVAL_ACK_NAME)
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-04", f"MSMQ 2.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "level", "sig20")
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-06", f"MSMQ 2.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "level", "sig20")
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-08", f"MSMQ 1.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "level", "sig10")
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-09", f"MSMQ 1.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "level", "sig10")
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-11", f"MSMQ 3.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "level", "sig30")
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-12", f"MSMQ 3.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "level", "sig30")
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-13", f"MSMQ 3.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "level", "sig30")
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        (
            "MQQB-3.1.5.8.3-05",
            f"one bit changed, with hash {HASH_NAME_BY_ALGORITHM[one]}",
            "answer",
            BAD_SIGNATURE_NACK_NAME,
        )
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        (
            "MQQB-3.1.5.8.3-14",
            f"one bit changed, with hash {HASH_NAME_BY_ALGORITHM[one]}",
            "answer",
            BAD_SIGNATURE_NACK_NAME,
        )
        for one in HASH_ALGORITHM_IDS
    ),
    ("MQQB-3.1.5.8.3-02", "one bit of the signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-05", "one bit of the signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "one bit of the signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-15", "one bit of the signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQDMPR-3.1.1.12-D16", "one bit of the signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-21", "one bit of the signature changed", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-12", "one bit of the list's signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "one bit of the list's signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-15", "one bit of the list's signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQDMPR-3.1.1.12-D16", "one bit of the list's signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-21", "one bit of the list's signature changed", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-05", "signed with the key of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "signed with the key of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-12", "the list signed with the key of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "the list signed with the key of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-04", "signed with a hash other than HashAlgorithm", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "signed with a hash other than HashAlgorithm", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-11", "an MSMQ 2.0 signature in the list", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "an MSMQ 2.0 signature in the list", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-04", "an MSMQ 3.0 signature outside the list", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-08", "an MSMQ 3.0 signature outside the list", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "an MSMQ 3.0 signature outside the list", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-13", "MSMQ 3.0 with an extension", "level", "sig30"),
    ("MQQB-3.1.5.8.3-13", "MSMQ 3.0 without a body", "level", "sig30"),
    ("MQQB-3.1.5.8.3-09", "MSMQ 1.0 with an extension", "level", "sig10"),
    ("MQQB-3.1.5.8.3-06", "MSMQ 2.0 with an extension", "level", "sig20"),
    ("MQQB-3.1.5.8.3-06", "no body", "level", "sig20"),
    ("MQQB-3.1.5.8.3-02", "no body", "level", "sig20"),
    ("MQQB-3.1.5.8.3-14", "no body, an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-02", "more than 64 KB, an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "more than 64 KB, an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    *(
        ("MQSO-7.4.1.4.1-D01", f"MSMQ 2.0 with hash {HASH_NAME_BY_ALGORITHM[one]}", "answer", ARRIVAL_ACK_NAME)
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        (
            "MQSO-7.4.1.4.1-D01",
            f"one bit changed, with hash {HASH_NAME_BY_ALGORITHM[one]}",
            "answer",
            BAD_SIGNATURE_NACK_NAME,
        )
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        (
            "MQSO-7.4.1.4.2-03",
            f"one bit changed, with hash {HASH_NAME_BY_ALGORITHM[one]}",
            "answer",
            BAD_SIGNATURE_NACK_NAME,
        )
        for one in HASH_ALGORITHM_IDS
    ),
    ("MQSO-7.4.1.4.2-02", "one bit of the signature changed", "answer", BAD_SIGNATURE_NACK_NAME),
    *(
        (
            "MQQB-3.1.5.8.3-15",
            f"one bit changed, with hash {HASH_NAME_BY_ALGORITHM[one]}",
            "answer",
            BAD_SIGNATURE_NACK_NAME,
        )
        for one in HASH_ALGORITHM_IDS
    ),
    *(
        ("MQQB-3.1.5.8.3-21", f"one bit changed, with hash {HASH_NAME_BY_ALGORITHM[one]}", "kept", NOT_STORED_OUTCOME)
        for one in HASH_ALGORITHM_IDS
    ),
    ("MQQB-3.1.5.8.3-21", "signed with the key of another user", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-15", "no body, an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    *((rule, "the signature of an earlier message", "answer", BAD_SIGNATURE_NACK_NAME) for rule in RULES_OF_REFUSALS),
    ("MQQB-3.1.5.8.3-05", "the signature of an earlier message", "answer", BAD_SIGNATURE_NACK_NAME),
    *((rule, "no sender, an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME) for rule in RULES_OF_REFUSALS),
    *((rule, "a queue manager, an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME) for rule in RULES_OF_REFUSALS),
    ("MQQB-3.1.5.8.3-14", "half of a signature", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-14", "a signature without a certificate", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-14", "an unknown HashAlgorithm", "kept", NOT_STORED_OUTCOME),
    *((rule, "MSMQ 1.0, more than 64 KB", "level", "sig10") for rule in ("MQQB-3.1.5.8.3-08", "MQQB-3.1.5.8.3-09")),
    *((rule, "MSMQ 2.0, more than 64 KB", "level", "sig20") for rule in ("MQQB-3.1.5.8.3-04", "MQQB-3.1.5.8.3-06")),
    *((rule, "MSMQ 3.0, more than 64 KB", "level", "sig30") for rule in ("MQQB-3.1.5.8.3-11", "MQQB-3.1.5.8.3-13")),
    ("MQQB-3.1.5.8.3-15", "refused without NA", "answer", "no acknowledgment"),
    ("MQDMPR-3.1.1.12-D16", "refused without NA", "answer", "no acknowledgment"),
    ("MQQB-3.1.5.8.3-21", "refused without NA", "kept", NOT_STORED_OUTCOME),
)


@malforms("MQMQ-2.2.20.6-16")
@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_OF_SIGNED_MESSAGES))
def test_message_arrives_only_with_a_valid_signature(peer, sut, judge):
    """The peer sends messages with MSMQ 1.0, 2.0 and 3.0 signatures and each hash. These messages arrive. The SUT
    refuses messages with each kind of invalid signature.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()

    def change_packet(packet, **fields):
        for name, value in fields.items():
            setattr(packet["MessagePropertiesHeader"], name, value)
        return packet

    outside = secured.message(several=True)
    outside["SecurityHeader"].Signature = sign_message(outside.copy(), SIG30)[
        "MultiQueueFormatHeader"
    ].Signature.Signature
    dispositions = secured.send_and_read_dispositions(
        {
            **{
                f"MSMQ 2.0 with hash {HASH_NAME_BY_ALGORITHM[one]}": sign_message(secured.message(HashAlgorithm=one))
                for one in HASH_ALGORITHM_IDS
            },
            **{
                f"MSMQ 1.0 with hash {HASH_NAME_BY_ALGORITHM[one]}": sign_message(
                    secured.message(HashAlgorithm=one), SIG10
                )
                for one in HASH_ALGORITHM_IDS
            },
            **{
                f"MSMQ 3.0 with hash {HASH_NAME_BY_ALGORITHM[one]}": sign_message(
                    secured.message(several=True, HashAlgorithm=one), SIG30
                )
                for one in HASH_ALGORITHM_IDS
            },
            **{
                f"one bit changed, with hash {HASH_NAME_BY_ALGORITHM[one]}": flip_signature_bit(
                    sign_message(secured.message(HashAlgorithm=one))
                )
                for one in HASH_ALGORITHM_IDS
            },
            "one bit of the signature changed": flip_signature_bit(sign_message(secured.message())),
            "one bit of the list's signature changed": flip_signature_bit(
                sign_message(secured.message(several=True), SIG30)
            ),
            "signed with the key of another user": sign_message(secured.message(), SIG20, BOB.key),
            "the list signed with the key of another user": sign_message(secured.message(several=True), SIG30, BOB.key),
            "signed with a hash other than HashAlgorithm": change_packet(
                sign_message(secured.message()), HashAlgorithm=SHA1
            ),
            "an MSMQ 2.0 signature in the list": _sign_list_as_msmq_2(secured),
            "an MSMQ 3.0 signature outside the list": outside,
            "MSMQ 3.0 with an extension": sign_message(
                secured.message(several=True, ExtensionData=MESSAGE_EXTENSION), SIG30
            ),
            "MSMQ 3.0 without a body": sign_message(secured.message(several=True, body=b""), SIG30),
            "MSMQ 1.0 with an extension": sign_message(secured.message(ExtensionData=MESSAGE_EXTENSION), SIG10),
            "MSMQ 2.0 with an extension": sign_message(secured.message(ExtensionData=MESSAGE_EXTENSION)),
            "no body": sign_message(secured.message(body=b"")),
            "no body, an invalid signature": flip_signature_bit(sign_message(secured.message(body=b""))),
            "more than 64 KB, an invalid signature": flip_signature_bit(sign_message(secured.message(body=LARGE_BODY))),
            "refused without NA": flip_signature_bit(sign_message(secured.message(NA=0, NR=1))),
            **_build_unusually_signed_messages(secured),
        }
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_OF_SIGNED_MESSAGES)


def _build_unusually_signed_messages(secured):
    of_queue_manager = {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "SecurityID": secured.peer.identifier.bytes_le}
    earlier, half, bare = (sign_message(secured.message()) for _ in range(3))
    half["SecurityHeader"].Signature = half["SecurityHeader"].Signature[:32]
    bare["SecurityHeader"].SenderCert = b""
    unknown = sign_message(secured.message())
    unknown["MessagePropertiesHeader"].HashAlgorithm = UNKNOWN_HASH_ALGORITHM
    return {
        "an earlier message": earlier,
        "the signature of an earlier message": add_signature(
            secured.message(body=b"another body"), earlier["SecurityHeader"].Signature
        ),
        "no sender, an invalid signature": flip_signature_bit(
            sign_message(secured.message(security={"ST": SENDER_TYPE_OF_NO_SENDER, "SecurityID": b""}))
        ),
        "a queue manager, an invalid signature": flip_signature_bit(
            sign_message(secured.message(security=of_queue_manager))
        ),
        "half of a signature": half,
        "a signature without a certificate": bare,
        "an unknown HashAlgorithm": unknown,
        "MSMQ 1.0, more than 64 KB": sign_message(secured.message(body=LARGE_BODY), SIG10),
        "MSMQ 2.0, more than 64 KB": sign_message(secured.message(body=LARGE_BODY)),
        "MSMQ 3.0, more than 64 KB": sign_message(secured.message(body=LARGE_BODY, several=True), SIG30),
    }


AUTHENTICATION_TYPE_AS_SET_BY_PEER = 0xE
"""A value of AS that the peer sends although only the receiver should set AS: the SUT may refuse the message (MS-MQMQ
2.2.20.6).
"""


@malforms("MQMQ-2.2.20.6-09")
@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.5.8.3-06", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06", "MQQB-3.1.5.8.3-09", "MQQB-3.1.5.8.3-13")
def test_authentication_signature_is_set_by_the_valid_signature(peer, sut, judge):
    """The peer sends signed messages with AS 0xE: in the queue, AS is the kind of the valid signature."""
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    marked = {"AS": AUTHENTICATION_TYPE_AS_SET_BY_PEER}
    dispositions = secured.send_and_read_dispositions(
        {
            "sig20": sign_message(secured.message(security=marked)),
            "sig10": sign_message(secured.message(security=marked), SIG10),
            "sig30": sign_message(secured.message(several=True, security=marked), SIG30),
        }
    )
    for rule, kind in (
        ("MQQB-3.1.5.8.3-06", "sig20"),
        ("MQDMPR-3.1.7.1.31-D08", "sig20"),
        ("MQDMPR-3.1.7.1.31-06", "sig20"),
        ("MQQB-3.1.5.8.3-09", "sig10"),
        ("MQDMPR-3.1.7.1.31-D08", "sig10"),
        ("MQDMPR-3.1.7.1.31-06", "sig10"),
        ("MQQB-3.1.5.8.3-13", "sig30"),
        ("MQDMPR-3.1.7.1.31-D08", "sig30"),
        ("MQDMPR-3.1.7.1.31-06", "sig30"),
    ):
        if dispositions[kind].found is None:
            judge.mark_not_exercised(
                rule, reason="the SUT refuses a message with AS set", evidence=dispositions[kind].sent
            )
        else:
            judge_dispositions(judge, secured, dispositions, [(rule, kind, "level", kind)])


TAG_OF_SIGNED_MESSAGE = 0x51D5_0001


@needs("security", "receive", "send")
@covers("MQQB-3.1.5.8.3-05", "MQQB-3.1.5.8.3-09", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06")
@pytest.mark.parametrize("algorithm", ["md2", "md4", "md5", "sha1", "sha256", "sha512"])
def test_signature_of_the_sut_is_valid_when_it_comes_back(peer, sut, judge, algorithm):
    """The SUT signs a message, and the peer sends the SUT a message with the same fields and signature, which arrives.
    The SUT refuses a copy with one changed bit. The peer can change the destination, because an MSMQ 1.0 signature does
    not cover the destination.
    """
    secured = SecuredMessageSender(peer, sut)
    to = f"DIRECT=TCP:{peer.address}\\{PEER_QUEUE}"
    options = {"authentication_level": "sig10", "hash_algorithm": algorithm, "sender": ALICE.name}
    try:
        sut.send(
            to,
            body="signed",
            label="here",
            admin_queue=to,
            acks=["positive_arrival"],
            application_tag=TAG_OF_SIGNED_MESSAGE,
            **options,
        )
    except ControlRefused as refused:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not sign with {algorithm}: {refused}")
        return
    frame = _await_message_with_tag(peer, TAG_OF_SIGNED_MESSAGE)
    properties = frame["MessagePropertiesHeader"]
    names = ("MessageBody", "Label", "ApplicationTag", "CorrelationID", "BodyType", "HashAlgorithm")
    copied = {name: getattr(properties, name) for name in names}
    header = {"AdminQueue": frame["UserHeader"].AdminQueue}
    value = bytes(frame["SecurityHeader"].Signature)
    valid, foreign = (add_signature(secured.message(header=header, **copied), value) for _ in range(2))
    dispositions = secured.send_and_read_dispositions({"": valid, "one bit changed": flip_signature_bit(foreign)})
    table = (
        ("MQQB-3.1.5.8.3-05", "one bit changed", "answer", BAD_SIGNATURE_NACK_NAME),
        ("MQQB-3.1.5.8.3-09", "", "level", "sig10"),
        ("MQDMPR-3.1.7.1.31-D08", "", "level", "sig10"),
        ("MQDMPR-3.1.7.1.31-06", "", "level", "sig10"),
    )
    judge_dispositions(judge, secured, dispositions, table)


def _await_message_with_tag(peer, tag):
    came = peer.inbox.wait(lambda frame: frame["MessagePropertiesHeader"].ApplicationTag == tag)
    if not came:
        raise ConformanceFailure("no message of the SUT arrived")
    return came[0]


def _sign_list_as_msmq_2(secured):
    packet = secured.message(several=True)
    value = sign_message(packet.copy(), SIG20)["SecurityHeader"].Signature
    packet["MultiQueueFormatHeader"].Signature.Signature = value
    return packet


EXPECTED_DISPOSITIONS_BY_SENDER_IDENTITY = (
    ("MQQB-3.1.5.8.3-22", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-24", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-27", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-27", "a known user again", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-28", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    *(
        (rule, name, "answer", ARRIVAL_ACK_NAME)
        for rule in ("MQQB-3.1.5.8.3-24", "MQQB-3.1.5.8.3-27", "MQQB-3.1.5.8.3-28")
        for name in ("the other user", "a user after a refusal", "a new user, encrypted")
    ),
    ("MQQB-3.1.5.8.3-22", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-27", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-37", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-38", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-44", "a certificate of another user", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-23", "a cached certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-37", "a cached certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-22", "an unknown user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-24", "an unknown user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-37", "an unknown user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-38", "an unknown user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-44", "an unknown user", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-38", "refused without NA", "answer", "no acknowledgment"),
    *(
        (rule, f"a certificate of another user, {kind}", "answer", BAD_SIGNATURE_NACK_NAME)
        for rule in ("MQQB-3.1.5.8.3-22", "MQQB-3.1.5.8.3-37", "MQQB-3.1.5.8.3-38")
        for kind in ("MSMQ 1.0", "MSMQ 3.0", "of a queue manager", "no body")
    ),
    *(
        ("MQQB-3.1.5.8.3-44", f"a certificate of another user, {kind}", "kept", NOT_STORED_OUTCOME)
        for kind in ("MSMQ 1.0", "MSMQ 3.0", "of a queue manager", "no body")
    ),
    ("MQSO-7.3-03", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.3-03", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQSO-7.4.1.4.2-01", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQSO-7.4.1.4.2-05", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.4.1.4.2-D01", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.4.1.4.2-D01", "the other user", "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.4.1.4.2-05", "the other user", "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.4.1.4.2-D02", "the user's own certificate", "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.4.1.4.2-D02", "a cached certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQSO-7.4.1.4.2-D03", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQSO-7.4.1.4.2-D03", "a certificate of another user, MSMQ 3.0", "answer", BAD_SIGNATURE_NACK_NAME),
)


@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_BY_SENDER_IDENTITY))
@pytest.mark.parametrize("where", ["here", pytest.param("in the directory", marks=needs("directory"))])
def test_message_arrives_only_with_a_certificate_of_its_user(peer, sut, judge, where):
    """The peer sends messages with valid signatures. A message arrives only if its certificate is registered for the
    user of SecurityID.

    The certificate is registered in the queue manager or in its directory.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    foreign = {"SenderCert": MALLORY.certificate}
    of_registered_users = {
        "the user's own certificate": sign_message(secured.message()),
        "a certificate of another user": sign_message(secured.message(security=foreign), SIG20, MALLORY.key),
        "the other user": sign_message(secured.message(BOB), SIG20, BOB.key),
        "a refused user": sign_message(secured.message(CAROL, security=foreign), SIG20, MALLORY.key),
        "a user after a refusal": sign_message(secured.message(CAROL), SIG20, CAROL.key),
        "a new user, encrypted": encrypt_message(
            sut,
            sign_message(secured.message(DAVE, PrivacyLevel=ENHANCED_PRIVACY_LEVEL), SIG20, DAVE.key),
            ENHANCED_PRIVACY_LEVEL,
            protection.RC4,
            SYMMETRIC_KEYS[128],
        ),
    }
    after_caching = {
        "a known user again": sign_message(secured.message(BOB), SIG20, BOB.key),
        "a cached certificate of another user": sign_message(
            secured.message(security={"SenderCert": BOB.certificate}), SIG20, BOB.key
        ),
        "an unknown user": sign_message(secured.message(MALLORY), SIG20, MALLORY.key),
        "refused without NA": sign_message(secured.message(security=foreign, NA=0, NR=1), SIG20, MALLORY.key),
        "a certificate of another user, MSMQ 1.0": sign_message(secured.message(security=foreign), SIG10, MALLORY.key),
        "a certificate of another user, MSMQ 3.0": sign_message(
            secured.message(security=foreign, several=True), SIG30, MALLORY.key
        ),
        "a certificate of another user, of a queue manager": sign_message(
            secured.message(
                security=foreign | {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "SecurityID": peer.identifier.bytes_le}
            ),
            SIG20,
            MALLORY.key,
        ),
        "a certificate of another user, no body": sign_message(
            secured.message(security=foreign, body=b""), SIG20, MALLORY.key
        ),
    }
    judge_dispositions(
        judge,
        secured,
        secured.send_and_read_dispositions(of_registered_users) | secured.send_and_read_dispositions(after_caching),
        EXPECTED_DISPOSITIONS_BY_SENDER_IDENTITY,
    )


EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES = (
    ("MQQB-3.1.5.8.3-18", "a transactional message", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-41", "a transactional message", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-06", "a transactional message", "level", "sig20"),
    ("MQQB-3.1.5.8.3-09", "a transactional message of MSMQ 1.0", "level", "sig10"),
    ("MQQB-3.1.5.8.3-13", "a transactional message of MSMQ 3.0", "level", "sig30"),
    ("MQQB-3.1.5.8.3-18", "a transactional message", "kept", STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-41", "a transactional message", "kept", STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-24", "a transactional message of a new user", "kept", STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-27", "a transactional message of a new user", "kept", STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-28", "a transactional message of a new user", "kept", STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-18", "an invalid signature", "final", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-14", "an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-15", "an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQDMPR-3.1.1.12-D16", "an invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-21", "an invalid signature", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-18", "a second invalid signature", "final", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-15", "a second invalid signature", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-21", "a second invalid signature", "kept", NOT_STORED_OUTCOME),
    *((rule, "an invalid signature of MSMQ 3.0", "answer", BAD_SIGNATURE_NACK_NAME) for rule in RULES_OF_REFUSALS),
    ("MQQB-3.1.5.8.3-18", "an invalid signature of MSMQ 3.0", "final", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-21", "an invalid signature of MSMQ 3.0", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-41", "an unknown user", "final", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-38", "an unknown user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-44", "an unknown user", "kept", NOT_STORED_OUTCOME),
    ("MQQB-3.1.5.8.3-41", "a certificate of another user", "final", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-38", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQSO-7.4.1.4.2-D03", "a certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-44", "a certificate of another user", "kept", NOT_STORED_OUTCOME),
    ("MQSO-7.4.1.4.2-D02", "a registered certificate of another user", "answer", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-41", "a registered certificate of another user", "final", BAD_SIGNATURE_NACK_NAME),
    ("MQQB-3.1.5.8.3-44", "a registered certificate of another user", "kept", NOT_STORED_OUTCOME),
)


@sut_survives()
@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES))
def test_refused_signed_transactional_message_has_final_ack(peer, sut, judge):
    """The peer sends transactional messages with a wrong signature or certificate. The SUT sends FinalAcks of class
    BAD_SIGNATURE, and sends no FinalAck for a valid message.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    dispositions = secured.send_and_read_dispositions(
        {
            "a transactional message": sign_message(secured.message(queue="transactional")),
            "a transactional message of a new user": sign_message(
                secured.message(CAROL, queue="transactional"), SIG20, CAROL.key
            ),
            "a transactional message of MSMQ 1.0": sign_message(secured.message(queue="transactional"), SIG10),
            "a transactional message of MSMQ 3.0": sign_message(
                secured.message(queue="transactional", several=True), SIG30
            ),
            "an invalid signature": flip_signature_bit(sign_message(secured.message(queue="transactional"))),
            "a second invalid signature": flip_signature_bit(sign_message(secured.message(queue="transactional"))),
            "an invalid signature of MSMQ 3.0": flip_signature_bit(
                sign_message(secured.message(queue="transactional", several=True), SIG30)
            ),
            "an unknown user": sign_message(secured.message(MALLORY, queue="transactional"), SIG20, MALLORY.key),
            "a certificate of another user": sign_message(
                secured.message(queue="transactional", security={"SenderCert": MALLORY.certificate}), SIG20, MALLORY.key
            ),
            "a registered certificate of another user": sign_message(
                secured.message(queue="transactional", security={"SenderCert": BOB.certificate}), SIG20, BOB.key
            ),
        },
        "transactional",
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES)
