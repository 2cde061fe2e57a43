"""MS-MQQB 3.1.5.8.3 Security: signatures and the identity of who signed."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.judging.verdicts import Verdict
from harness.peer.peer import PEER_QUEUE
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, BOB, MALLORY
from harness.wire.protection import HASHES, SIG10, SIG20, SIG30
from suites.mqqb.steps.secured import SHA1, Secured, flipped, judge_dispositions, signed, with_signature

ARRIVED, BAD = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"
KEPT, GONE = "in its queue", "not in its queue"
NEEDS = needs("security", "receive")
SIGNATURES = (
    *(("MQQB-3.1.5.8.3-02", f"MSMQ 2.0 with hash {one:#06x}", "answer", ARRIVED) for one in HASHES),
    *(("MQQB-3.1.5.8.3-04", f"MSMQ 2.0 with hash {one:#06x}", "answer", ARRIVED) for one in HASHES),
    *(("MQQB-3.1.5.8.3-05", f"MSMQ 2.0 with hash {one:#06x}", "answer", ARRIVED) for one in HASHES),
    *(("MQQB-3.1.5.8.3-04", f"MSMQ 2.0 with hash {one:#06x}", "level", "sig20") for one in HASHES),
    *(("MQQB-3.1.5.8.3-06", f"MSMQ 2.0 with hash {one:#06x}", "level", "sig20") for one in HASHES),
    *(("MQQB-3.1.5.8.3-08", f"MSMQ 1.0 with hash {one:#06x}", "level", "sig10") for one in HASHES),
    *(("MQQB-3.1.5.8.3-09", f"MSMQ 1.0 with hash {one:#06x}", "level", "sig10") for one in HASHES),
    *(("MQQB-3.1.5.8.3-11", f"MSMQ 3.0 with hash {one:#06x}", "level", "sig30") for one in HASHES),
    *(("MQQB-3.1.5.8.3-12", f"MSMQ 3.0 with hash {one:#06x}", "level", "sig30") for one in HASHES),
    *(("MQQB-3.1.5.8.3-13", f"MSMQ 3.0 with hash {one:#06x}", "level", "sig30") for one in HASHES),
    *(("MQQB-3.1.5.8.3-05", f"one bit is another, with hash {one:#06x}", "answer", BAD) for one in HASHES),
    *(("MQQB-3.1.5.8.3-14", f"one bit is another, with hash {one:#06x}", "answer", BAD) for one in HASHES),
    ("MQQB-3.1.5.8.3-02", "one bit of the signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-05", "one bit of the signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-14", "one bit of the signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-15", "one bit of the signature is another", "answer", BAD),
    ("MQDMPR-3.1.1.12-D16", "one bit of the signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-21", "one bit of the signature is another", "kept", GONE),
    ("MQQB-3.1.5.8.3-12", "one bit of the list's signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-14", "one bit of the list's signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-15", "one bit of the list's signature is another", "answer", BAD),
    ("MQDMPR-3.1.1.12-D16", "one bit of the list's signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-21", "one bit of the list's signature is another", "kept", GONE),
    ("MQQB-3.1.5.8.3-05", "signed with another's key", "answer", BAD),
    ("MQQB-3.1.5.8.3-14", "signed with another's key", "answer", BAD),
    ("MQQB-3.1.5.8.3-12", "the list signed with another's key", "answer", BAD),
    ("MQQB-3.1.5.8.3-14", "the list signed with another's key", "answer", BAD),
    ("MQQB-3.1.5.8.3-04", "signed under another hash than is named", "answer", BAD),
    ("MQQB-3.1.5.8.3-14", "signed under another hash than is named", "answer", BAD),
    ("MQQB-3.1.5.8.3-11", "an MSMQ 2.0 signature in the list", "answer", BAD),
    ("MQQB-3.1.5.8.3-14", "an MSMQ 2.0 signature in the list", "answer", BAD),
    ("MQQB-3.1.5.8.3-04", "an MSMQ 3.0 signature outside of the list", "answer", BAD),
    ("MQQB-3.1.5.8.3-08", "an MSMQ 3.0 signature outside of the list", "answer", BAD),
    ("MQQB-3.1.5.8.3-14", "an MSMQ 3.0 signature outside of the list", "answer", BAD),
    ("MQQB-3.1.5.8.3-02", "no body", "level", "sig20"),
    ("MQQB-3.1.5.8.3-14", "no body, a wrong signature", "answer", BAD),
    *(("MQSO-7.4.1.4.1-D01", f"MSMQ 2.0 with hash {one:#06x}", "answer", ARRIVED) for one in HASHES),
    *(("MQSO-7.4.1.4.1-D01", f"one bit is another, with hash {one:#06x}", "answer", BAD) for one in HASHES),
    *(("MQSO-7.4.1.4.2-03", f"one bit is another, with hash {one:#06x}", "answer", BAD) for one in HASHES),
    ("MQSO-7.4.1.4.2-02", "one bit of the signature is another", "answer", BAD),
    ("MQQB-3.1.5.8.3-15", "refused, but NA is not set", "answer", "silence"),
    ("MQDMPR-3.1.1.12-D16", "refused, but NA is not set", "answer", "silence"),
    ("MQQB-3.1.5.8.3-21", "refused, but NA is not set", "kept", GONE),
)


@NEEDS
@covers(*(rule for rule, *_ in SIGNATURES))
def test_signatures_are_verified(peer, sut, judge):
    """Signatures of every kind and hash by a user that is known; each way in which one can be wrong is refused."""
    secured = Secured(peer, sut)
    secured.agree_on_signatures()

    def changed(packet, **fields):
        for name, value in fields.items():
            setattr(packet["MessagePropertiesHeader"], name, value)
        return packet

    outside = secured.message(several=True)
    outside["SecurityHeader"].Signature = signed(outside.copy(), SIG30)["MultiQueueFormatHeader"].Signature.Signature
    dispositions = secured.dispositions(
        {
            **{f"MSMQ 2.0 with hash {one:#06x}": signed(secured.message(HashAlgorithm=one)) for one in HASHES},
            **{f"MSMQ 1.0 with hash {one:#06x}": signed(secured.message(HashAlgorithm=one), SIG10) for one in HASHES},
            **{
                f"MSMQ 3.0 with hash {one:#06x}": signed(secured.message(several=True, HashAlgorithm=one), SIG30)
                for one in HASHES
            },
            **{
                f"one bit is another, with hash {one:#06x}": flipped(signed(secured.message(HashAlgorithm=one)))
                for one in HASHES
            },
            "one bit of the signature is another": flipped(signed(secured.message())),
            "one bit of the list's signature is another": flipped(signed(secured.message(several=True), SIG30)),
            "signed with another's key": signed(secured.message(), SIG20, BOB.key),
            "the list signed with another's key": signed(secured.message(several=True), SIG30, BOB.key),
            "signed under another hash than is named": changed(signed(secured.message()), HashAlgorithm=SHA1),
            "an MSMQ 2.0 signature in the list": _in_list(secured),
            "an MSMQ 3.0 signature outside of the list": outside,
            "no body": signed(secured.message(body=b"")),
            "no body, a wrong signature": flipped(signed(secured.message(body=b""))),
            "refused, but NA is not set": flipped(signed(secured.message(NA=0))),
        }
    )
    judge_dispositions(judge, secured, dispositions, SIGNATURES)


AS_BEFORE = 0xE
"""Bits of AS, which is for the receiver to set. A message that comes with them may be refused (MS-MQMQ 2.2.20.6)."""


@malforms("MQMQ-2.2.20.6-09")
@NEEDS
@covers("MQQB-3.1.5.8.3-06", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06", "MQQB-3.1.5.8.3-09", "MQQB-3.1.5.8.3-13")
def test_a_signature_counts_as_what_it_is(peer, sut, judge):
    """AS is set by the signature that is genuine, whatever it was when the message came."""
    secured = Secured(peer, sut)
    secured.agree_on_signatures()
    marked = {"AS": AS_BEFORE}
    dispositions = secured.dispositions(
        {
            "sig20": signed(secured.message(security=marked)),
            "sig10": signed(secured.message(security=marked), SIG10),
            "sig30": signed(secured.message(several=True, security=marked), SIG30),
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
            judge.mark_not_exercised(rule, reason="a message with AS set is refused", evidence=dispositions[kind].sent)
        else:
            judge_dispositions(judge, secured, dispositions, [(rule, kind, "level", kind)])


TAG = 0x51D5_0001


@needs("security", "receive", "send")
@covers("MQQB-3.1.5.8.3-05", "MQQB-3.1.5.8.3-09", "MQDMPR-3.1.7.1.31-D08", "MQDMPR-3.1.7.1.31-06")
@pytest.mark.parametrize("algorithm", ["md2", "md4", "md5", "sha1", "sha256", "sha512"])
def test_a_signature_that_the_system_makes_is_genuine_to_it(peer, sut, judge, algorithm):
    """What the SUT signed comes back from the peer: an MSMQ 1.0 signature says nothing of where a message is for."""
    secured = Secured(peer, sut)
    to = f"DIRECT=TCP:{peer.address}\\{PEER_QUEUE}"
    asked = {"authentication_level": "sig10", "hash_algorithm": algorithm, "sender": ALICE.name}
    try:
        sut.send(
            to, body="signed", label="here", admin_queue=to, acks=["positive_arrival"], application_tag=TAG, **asked
        )
    except ControlRefused as refused:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not sign with {algorithm}: {refused}")
        return
    frame = _with_tag(peer, TAG)
    properties = frame["MessagePropertiesHeader"]
    names = ("MessageBody", "Label", "ApplicationTag", "CorrelationID", "BodyType", "HashAlgorithm")
    same = {name: getattr(properties, name) for name in names}
    header = {"AdminQueue": frame["UserHeader"].AdminQueue}
    value = bytes(frame["SecurityHeader"].Signature)
    genuine, other = (with_signature(secured.message(header=header, **same), value) for _ in range(2))
    back = secured.dispositions({"": genuine, "another bit": flipped(other)})
    table = (
        ("MQQB-3.1.5.8.3-05", "another bit", "answer", BAD),
        ("MQQB-3.1.5.8.3-09", "", "level", "sig10"),
        ("MQDMPR-3.1.7.1.31-D08", "", "level", "sig10"),
        ("MQDMPR-3.1.7.1.31-06", "", "level", "sig10"),
    )
    judge_dispositions(judge, secured, back, table)


def _with_tag(peer, tag):
    came = peer.inbox.wait(lambda frame: frame["MessagePropertiesHeader"].ApplicationTag == tag)
    if not came:
        raise ConformanceFailure("the SUT's message did not come")
    return came[0]


def _in_list(secured):
    packet = secured.message(several=True)
    value = signed(packet.copy(), SIG20)["SecurityHeader"].Signature
    packet["MultiQueueFormatHeader"].Signature.Signature = value
    return packet


IDENTITIES = (
    ("MQQB-3.1.5.8.3-22", "the user's own certificate", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-24", "the user's own certificate", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-27", "the user's own certificate", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-28", "the user's own certificate", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-22", "a certificate of another user", "answer", BAD),
    ("MQQB-3.1.5.8.3-27", "a certificate of another user", "answer", BAD),
    ("MQQB-3.1.5.8.3-37", "a certificate of another user", "answer", BAD),
    ("MQQB-3.1.5.8.3-38", "a certificate of another user", "answer", BAD),
    ("MQQB-3.1.5.8.3-44", "a certificate of another user", "kept", GONE),
    ("MQQB-3.1.5.8.3-23", "another's certificate that is cached", "answer", BAD),
    ("MQQB-3.1.5.8.3-37", "another's certificate that is cached", "answer", BAD),
    ("MQQB-3.1.5.8.3-22", "a user that is not known", "answer", BAD),
    ("MQQB-3.1.5.8.3-24", "a user that is not known", "answer", BAD),
    ("MQQB-3.1.5.8.3-37", "a user that is not known", "answer", BAD),
    ("MQQB-3.1.5.8.3-38", "a user that is not known", "answer", BAD),
    ("MQQB-3.1.5.8.3-44", "a user that is not known", "kept", GONE),
    ("MQQB-3.1.5.8.3-38", "refused, but NA is not set", "answer", "silence"),
    ("MQSO-7.3-03", "the user's own certificate", "answer", ARRIVED),
    ("MQSO-7.3-03", "a certificate of another user", "answer", BAD),
    ("MQSO-7.4.1.4.2-01", "a certificate of another user", "answer", BAD),
    ("MQSO-7.4.1.4.2-05", "the user's own certificate", "answer", ARRIVED),
    ("MQSO-7.4.1.4.2-D01", "the user's own certificate", "answer", ARRIVED),
    ("MQSO-7.4.1.4.2-D02", "the user's own certificate", "answer", ARRIVED),
    ("MQSO-7.4.1.4.2-D02", "another's certificate that is cached", "answer", BAD),
    ("MQSO-7.4.1.4.2-D03", "a certificate of another user", "answer", BAD),
)


@NEEDS
@covers(*(rule for rule, *_ in IDENTITIES))
@pytest.mark.parametrize("where", ["here", pytest.param("in the directory", marks=needs("directory"))])
def test_the_certificate_must_be_its_senders(peer, sut, judge, where):
    """Genuine signatures: the certificate has to be registered for the user that SecurityID names, by the queue manager
    or by its directory.
    """
    secured = Secured(peer, sut)
    secured.agree_on_signatures()
    other = {"SenderCert": MALLORY.certificate}
    first = {
        "the user's own certificate": signed(secured.message()),
        "a certificate of another user": signed(secured.message(security=other), SIG20, MALLORY.key),
        "the other user": signed(secured.message(BOB), SIG20, BOB.key),
    }
    second = {
        "another's certificate that is cached": signed(
            secured.message(security={"SenderCert": BOB.certificate}), SIG20, BOB.key
        ),
        "a user that is not known": signed(secured.message(MALLORY), SIG20, MALLORY.key),
        "refused, but NA is not set": signed(secured.message(security=other, NA=0), SIG20, MALLORY.key),
    }
    judge_dispositions(judge, secured, secured.dispositions(first) | secured.dispositions(second), IDENTITIES)


FINALS = (
    ("MQQB-3.1.5.8.3-18", "a transactional message", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-41", "a transactional message", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-18", "a transactional message", "kept", KEPT),
    ("MQQB-3.1.5.8.3-41", "a transactional message", "kept", KEPT),
    ("MQQB-3.1.5.8.3-18", "a wrong signature", "final", BAD),
    ("MQQB-3.1.5.8.3-14", "a wrong signature", "answer", BAD),
    ("MQQB-3.1.5.8.3-15", "a wrong signature", "answer", BAD),
    ("MQDMPR-3.1.1.12-D16", "a wrong signature", "answer", BAD),
    ("MQQB-3.1.5.8.3-21", "a wrong signature", "kept", GONE),
    ("MQQB-3.1.5.8.3-41", "another's certificate", "final", BAD),
    ("MQQB-3.1.5.8.3-38", "another's certificate", "answer", BAD),
    ("MQQB-3.1.5.8.3-44", "another's certificate", "kept", GONE),
)


@sut_survives()
@NEEDS
@covers(*(rule for rule, *_ in FINALS))
def test_a_final_ack_tells_of_a_refused_transactional_message(peer, sut, judge):
    """Transactional messages are refused by FinalAcks, too."""
    secured = Secured(peer, sut)
    secured.agree_on_signatures()
    dispositions = secured.dispositions(
        {
            "a transactional message": signed(secured.message(queue="transactional")),
            "a wrong signature": flipped(signed(secured.message(queue="transactional"))),
            "another's certificate": signed(
                secured.message(queue="transactional", security={"SenderCert": MALLORY.certificate}), SIG20, MALLORY.key
            ),
        },
        "transactional",
    )
    judge_dispositions(judge, secured, dispositions, FINALS)
