"""Expectations of packets: the fields that they compare, and their texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from harness.capture.recorder import FROM_SUT_DIRECTION, MALFORMED_PACKET_KIND, Frame, set_frame_kind
from harness.expectations import (
    acknowledgment_of_class,
    acknowledgments_of_classes,
    closed_without_answer,
    expectation,
    facts,
    packet,
    packets,
)
from harness.wire import connection_parameters, session_ack, user_message
from reference_qm.codec import MessageClass, MessageIdentifier

SENDER = UUID(int=7)
ARRIVED, PURGED = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, MessageClass.MQMSG_CLASS_NACK_Q_PURGED
ACKNOWLEDGED = packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1})


def frame(made: Any) -> Frame:
    """Return a frame with a packet, as the recorder makes it."""
    recorded = Frame(1, 0, FROM_SUT_DIRECTION, "tcp", bytes(made), MALFORMED_PACKET_KIND)
    set_frame_kind(recorded)
    return recorded


def answer(of: MessageClass) -> Frame:
    """Return a frame with an acknowledgment of message 3."""
    properties = {"MessageClass": of, "CorrelationID": MessageIdentifier(SENDER, 3).build()}
    return frame(user_message(destination="TCP:10.0.0.1\\q", properties=properties))


@dataclass
class Conversation:
    closed_by_sut: bool
    received: list[Frame] = field(default_factory=list)

    def outcome(self) -> str:
        return "kept the connection open"


def judged(expected: Any, observed: Any) -> tuple[str, str]:
    """Return ``kept`` or ``broken``, and the observed text of the verdict."""
    made = expectation(expected)
    difference = made.compare(observed)
    return ("kept", made.show(observed)) if difference is None else ("broken", str(difference))


def test_a_packet_is_compared_by_its_kind_and_fields() -> None:
    assert str(ACKNOWLEDGED) == "SessionAck with SessionHeader.AckSequenceNumber = 1"
    assert judged(ACKNOWLEDGED, frame(session_ack(AckSequenceNumber=1))) == (
        "kept",
        "SessionAck with SessionHeader.AckSequenceNumber = 1",
    )
    assert judged(ACKNOWLEDGED, frame(session_ack(AckSequenceNumber=2))) == (
        "broken",
        "SessionAck with SessionHeader.AckSequenceNumber = 2",
    )
    assert judged(ACKNOWLEDGED, frame(connection_parameters())) == ("broken", "ConnectionParameters")


def test_missing_packet_is_described_by_actual_event() -> None:
    assert judged(ACKNOWLEDGED, None) == ("broken", "nothing")
    assert judged(packet(), Conversation(closed_by_sut=False)) == ("broken", "kept the connection open")
    assert judged(packet(), frame(session_ack())) == ("kept", "SessionAck")


def test_packets_are_compared_in_order_and_named_by_their_kind() -> None:
    came = [frame(connection_parameters()), frame(session_ack(AckSequenceNumber=1))]
    assert judged(packets("ConnectionParameters", ACKNOWLEDGED), came) == (
        "kept",
        "ConnectionParameters, SessionAck with SessionHeader.AckSequenceNumber = 1",
    )
    assert judged(packets("ConnectionParameters"), came[1:]) == (
        "broken",
        "SessionAck (ConnectionParameters is missing, SessionAck is not expected)",
    )
    assert judged(facts(answers=packets("ConnectionParameters", "SessionAck")), {"answers": came}) == (
        "kept",
        "answers: ConnectionParameters, SessionAck",
    )


def test_expected_acknowledgments_are_compared_by_their_class() -> None:
    assert judged(acknowledgment_of_class(PURGED), answer(PURGED)) == ("kept", "NACK_Q_PURGED for message 3")
    assert judged(acknowledgment_of_class(PURGED), answer(ARRIVED)) == ("broken", "ACK_REACH_QUEUE for message 3")
    assert judged(acknowledgment_of_class(PURGED), None) == ("broken", "nothing")
    assert judged(acknowledgments_of_classes(ARRIVED, PURGED), [answer(PURGED), answer(ARRIVED)])[0] == "kept"
    assert judged(acknowledgments_of_classes(PURGED), [answer(PURGED), answer(PURGED)]) == (
        "broken",
        "NACK_Q_PURGED for message 3, NACK_Q_PURGED for message 3 (NACK_Q_PURGED for message 3 is repeated)",
    )


def test_unanswered_close_allows_no_packet_beyond_the_known_ones() -> None:
    ack = frame(session_ack())
    assert judged(closed_without_answer(1), Conversation(True, [ack])) == (
        "kept",
        "connection closed by the SUT without an answer",
    )
    assert judged(closed_without_answer(1), Conversation(True, [ack, ack])) == (
        "broken",
        "connection closed by the SUT after answering SessionAck",
    )
    assert judged(closed_without_answer(0), Conversation(False)) == (
        "broken",
        "kept the connection open without an answer",
    )
