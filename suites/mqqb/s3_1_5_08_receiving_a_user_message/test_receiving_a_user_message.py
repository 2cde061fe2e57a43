"""MS-MQQB 3.1.5.8 Receiving a UserMessage Packet, 3.1.5.8.4 SessionHeader Processing.

The folders of the subsections judge the other steps of 3.1.5.8.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.expectations import acknowledged, connection_closed_by_sut
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from harness.sut.provisioning import ALICE, MALLORY
from harness.wire.protection import AES_256, RC4
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    IN_NO_QUEUE_OUTCOME,
    MISSING_QUEUE,
    AckClass,
    AcknowledgingReceiver,
    find_queues_with_message,
)
from suites.mqqb.steps.opening import OTHER_GUID, await_early_close
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SENDER_TYPE_OF_NO_SENDER,
    SENDER_TYPE_OF_QUEUE_MANAGER,
    SHA512,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    flip_signature_bit,
    sign_message,
)

WRONG_MESSAGE_COUNT = 0x4000
"""A message count that is wrong according to every reading of the document (E20)."""
OLD_MESSAGE_AGE_S = 3_600
CLOCK_TOLERANCE_S = 120
"""The greatest difference between the clocks of the SUT and of the tester."""
LIFETIME_CASES = {
    "no time to reach its queue": (0, None, False),
    "a second to reach its queue": (1, None, False),
    "almost an hour to reach its queue": (OLD_MESSAGE_AGE_S - CLOCK_TOLERANCE_S, None, False),
    "more than an hour to reach its queue": (OLD_MESSAGE_AGE_S + CLOCK_TOLERANCE_S, None, True),
    "68 years to reach its queue": (0x8000_0000, None, True),
    "the longest time to reach its queue": (0xFFFF_FFFE, None, True),
    "more than an hour to be received": (None, OLD_MESSAGE_AGE_S + CLOCK_TOLERANCE_S, True),
    "an hour and more to be received, a minute to reach its queue": (60, OLD_MESSAGE_AGE_S + CLOCK_TOLERANCE_S, False),
    "for ever": (None, None, True),
}
"""TimeToReachQueue, TimeToBeReceived, and whether a message with these lifetimes must still arrive an hour after it was
sent.
"""
NAMES_OF_LIFETIME_CASES_WITH_HIGH_PRIORITY = ("almost an hour to reach its queue", "for ever")
"""The cases of LIFETIME_CASES whose messages have priority 7 and JN."""
UNLISTED_PRIVACY_LEVEL = 0x99
KINDS_OF_MESSAGES_CARRYING_SESSION_HEADER = (
    "recoverable",
    "refused",
    "to a missing queue",
    "repeated",
    "transactional",
    "for another queue manager",
)
WRONG_SESSION_HEADER_FIELDS = {"UserMsgSequenceNumber": WRONG_MESSAGE_COUNT, "WindowSize": 64}


@sut_survives()
@covers("MQQB-3.1.5.8-01")
@pytest.mark.parametrize("state", ["WAITING_EC_MSG", "WAITING_CP_MSG", "WAITING_CPR_MSG"])
@varied("acknowledgments", "response queue", "trace", "label", "destination")
def test_message_before_session_is_open_closes_session(peer, sut, judge, state):
    """The peer sends a recoverable message on a session in each state before OPEN: the SUT closes that session."""
    if state == "WAITING_CPR_MSG":
        outgoing = OutgoingSession(peer, sut)
        outgoing.await_request()
        outgoing.respond()
        early = outgoing.connection
    else:
        early = peer.connect() if state == "WAITING_EC_MSG" else peer.request_session()
    peer.open_raw().require_session_ack_for_message()
    sent = early.send(peer.recoverable_message())
    judge(
        "MQQB-3.1.5.8-01",
        expected=connection_closed_by_sut(),
        observed=await_early_close(peer, early),
        evidence=[sent, early.last],
    )


@malforms("MQMQ-2.2.19.3-20")
@covers("MQQB-3.1.5.8-05")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_message_with_invalid_security_does_not_arrive(peer, sut, judge, recoverable):
    """The peer sends messages with an invalid PrivacyLevel, ciphertext or signature, and two valid messages. Two of the
    messages are transactional or have a private name. The SUT acknowledges only the valid messages. If a
    nontransactional message to a transactional queue has an invalid signature, the SUT refuses the message because it
    is nontransactional.
    """
    receiver = AcknowledgingReceiver(peer, sut)

    def build_invalid_message(**claims: Any) -> Any:
        security = {"ST": SENDER_TYPE_OF_NO_SENDER, "DE": 1, **claims}
        return receiver.build_message(
            {"DM": recoverable}, security=security, properties={"PA": 1, "HashAlgorithm": SHA512}, body=CLEAR_BODY
        )

    packets = [
        encrypt_message(sut, build_invalid_message(), UNLISTED_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[128], for_level=1),
        encrypt_message(sut, build_invalid_message(), 5, AES_256, SYMMETRIC_KEYS[256], body=b"\x11" * 47),
        flip_signature_bit(sign_message(build_invalid_message(SenderCert=ALICE.certificate))),
        build_invalid_message(ST=SENDER_TYPE_OF_QUEUE_MANAGER, SecurityID=peer.identifier.bytes_le),
        receiver.build_message({"DM": recoverable}, properties={"PA": 1}),
    ]
    valid_count = 2
    signed: dict[str, Any] = {
        "security": {"ST": SENDER_TYPE_OF_NO_SENDER, "DE": 1, "SenderCert": ALICE.certificate},
        "properties": {"PA": 1, "HashAlgorithm": SHA512},
        "body": CLEAR_BODY,
    }
    packets[:0] = [
        flip_signature_bit(sign_message(one))
        for one in (
            Sequence(peer).message(receiver.add_admin_queue_fields(), **signed),
            *(
                receiver.build_message(
                    {"DM": recoverable} | peer.build_fields_for_private_name_of_sut_queue(sut.queue()),
                    destination=None,
                    **signed,
                )
                for _ in range(sut.has("queue_control"))
            ),
        )
    ]
    sent = [receiver.send_packet(packet) for packet in packets]
    came = receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent), valid_count)
    evidence = [*sent, *came]
    judge("MQQB-3.1.5.8-05", expected=acknowledged(*sent[-valid_count:]), observed=came, evidence=evidence)
    where = find_queues_with_message(sut, sent[:-valid_count], "plain")
    judge("MQQB-3.1.5.8-05", expected=IN_NO_QUEUE_OUTCOME, observed=where, case="refused messages", evidence=evidence)
    invalid = receiver.build_message(
        {"DM": recoverable},
        queue="transactional",
        security={"ST": SENDER_TYPE_OF_NO_SENDER, "DE": 1, "SenderCert": ALICE.certificate},
        properties={"NA": 1, "HashAlgorithm": SHA512},
        body=CLEAR_BODY,
    )
    refused = receiver.send_packet(flip_signature_bit(sign_message(invalid)))
    nacks = receiver.await_messages_of_sut(
        lambda: receiver.list_acks_of_class(AckClass.NOT_TRANSACTIONAL_MSG, refused), 1
    )
    judge(
        "MQQB-3.1.5.8-05",
        expected=acknowledged(refused),
        observed=nacks,
        case="message with an invalid signature to a transactional queue: NOT_TRANSACTIONAL_MSG",
        evidence=[refused, *nacks],
    )


@needs("security")
@covers("MQQB-3.1.5.8-05")
def test_kind_of_queue_is_checked_before_access(peer, sut, judge):
    """A user without access sends a transactional message to a queue that is not transactional. The SUT refuses the
    message because of the queue, so the class of the FinalAck is NACK_NOT_TRANSACTIONAL_Q.
    """
    secured = SecuredMessageSender(peer, sut)
    plain = sut.format_name("plain").removeprefix("DIRECT=")
    packet = secured.message(MALLORY, queue="transactional", destination=plain)
    found = secured.send_and_read_dispositions({"": packet}, "transactional")[""]
    judge(
        "MQQB-3.1.5.8-05",
        expected="NACK_NOT_TRANSACTIONAL_Q",
        observed=found.final,
        case="class of the FinalAck",
        evidence=found.frames,
    )


@covers("MQQB-3.1.5.8-07")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
@varied("destination")
def test_expired_message_does_not_arrive(peer, sut, judge, kind):
    """The peer sends messages with various lifetimes and a SentTime of an hour ago. The SUT acknowledges and stores
    only the messages whose lifetime has not expired.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queue = "transactional" if kind == "transactional" else "plain"
    user = {"SentTime": peer.environment.now().utc_s - OLD_MESSAGE_AGE_S, "DM": int(kind != "express")}
    sent: dict[str, Frame] = {}
    for number, (life, (reach_s, receive_s, _)) in enumerate(LIFETIME_CASES.items(), 1):
        limits = user | ({} if receive_s is None else {"TimeToBeReceived": receive_s})
        base = {} if reach_s is None else {"TimeToReachQueue": reach_s}
        if kind != "transactional" and life in NAMES_OF_LIFETIME_CASES_WITH_HIGH_PRIORITY:
            base |= {"PR": 7}
            limits |= {"JN": 1}
        more: dict[str, Any] = {"base": base, "label": life, "properties": {"PA": 1}}
        if kind == "transactional":
            packet = Sequence(peer, ordinal=number).message(receiver.add_admin_queue_fields(limits), **more)
        else:
            packet = receiver.build_message(limits, **more)
        sent[life] = receiver.send_packet(packet)
    wanted = [life for life, (_, _, arrives) in LIFETIME_CASES.items() if arrives]
    came = receiver.await_messages_of_sut(
        lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent.values()), len(wanted)
    )
    evidence = [*sent.values(), *came]
    arriving = acknowledged(*(sent[life] for life in wanted))
    judge("MQQB-3.1.5.8-07", expected=arriving, observed=came, evidence=evidence)
    stored = sut.labels(sut.queue(queue)) if sut.has("receive") else []
    judge(
        "MQQB-3.1.5.8-07",
        expected=[],
        observed=[life for life in sent if life in stored and life not in wanted],
        case="expired messages in the queue",
        evidence=evidence,
    )
    receiver.acknowledge_all()


@covers("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01")
@varied("acknowledgments", "time to be received", "extension", "correlation", "body", "destination")
def test_message_with_wrong_session_header_counts_closes_session(peer, sut, judge):
    """The peer sends a message with a correct SessionHeader, and then a message whose SessionHeader counts messages
    that the SUT has not sent. The SUT closes the session after the second message.
    """
    session = peer.open_raw()
    session.send(peer.message(session={"UserMsgSequenceNumber": 1, "WindowSize": 64}))
    peer.settle()
    if session.closed_by_sut:  # E20 permits a comparison of the counts before the message is counted
        session = peer.open_raw()
    session.require_session_ack_for_message()
    sent = session.send(peer.message(session=WRONG_SESSION_HEADER_FIELDS))
    judge.all(
        expected=connection_closed_by_sut(), observed=await_early_close(peer, session), evidence=[sent, session.last]
    )


@covers("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01")
@pytest.mark.parametrize("kind", KINDS_OF_MESSAGES_CARRYING_SESSION_HEADER)
def test_session_header_of_any_message_is_processed(peer, sut, judge, kind):
    """The peer sends a message with wrong counts in its SessionHeader. The SUT does not simply store this message in
    its queue; for example, it is a duplicate. The SUT nevertheless closes the session.
    """
    session = peer.open_raw()
    user = {"DM": 1}
    if kind == "repeated":
        packet = peer.message(
            user | {"MessageID": session.send(peer.message(user))["UserHeader"].MessageID},
            session=WRONG_SESSION_HEADER_FIELDS,
        )
    elif kind == "transactional":
        packet = Sequence(peer).message(session=WRONG_SESSION_HEADER_FIELDS)
    elif kind == "to a missing queue":
        packet = peer.message(
            user, destination=rf"TCP:{sut.address}\{MISSING_QUEUE}", session=WRONG_SESSION_HEADER_FIELDS
        )
    elif kind == "for another queue manager":
        packet = peer.message(
            user | peer.build_fields_for_private_destination(OTHER_GUID, 1),
            destination=None,
            session=WRONG_SESSION_HEADER_FIELDS,
        )
    else:
        packet = peer.message(
            user, queue="plain" if kind == "recoverable" else "transactional", session=WRONG_SESSION_HEADER_FIELDS
        )
    session.require_session_ack_for_message()
    sent = session.send(packet)
    judge.all(
        expected=connection_closed_by_sut(), observed=await_early_close(peer, session), evidence=[sent, session.last]
    )
