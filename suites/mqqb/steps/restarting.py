"""Steps of checks that compare messages of the SUT before and after a restart."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.sequences import get_transaction_header
from suites.whole_messages import describe_packet

UNCHANGED_ACK_OUTCOME = "unchanged"
ACK_FIELDS_THAT_MAY_CHANGE_AT_RESTART = ("message_id", "sent_time")
"""Fields of an acknowledgment that may differ after a restart, because a new message may have the same content."""


def describe_change(before: Frame, after: Frame, receiver: Any) -> str:
    """Return the fields of a message that differ from its earlier copy, or UNCHANGED if no field differs."""
    one, other = describe_packet(before, receiver), describe_packet(after, receiver)
    wrong = [
        f"{name} {other[name]} for {value}"
        for name, value in one.items()
        if other[name] != value
        and not (name in ACK_FIELDS_THAT_MAY_CHANGE_AT_RESTART and _is_acknowledgment_or_report(before))
    ]
    if before["UserHeader"].TH and _describe_position_in_sequence(before) != _describe_position_in_sequence(after):
        wrong.append(f"{_describe_position_in_sequence(after)} for {_describe_position_in_sequence(before)}")
    return "; ".join(wrong) or UNCHANGED_ACK_OUTCOME


def _is_acknowledgment_or_report(frame: Frame) -> bool:
    return bool(frame["MessagePropertiesHeader"].MessageClass)


def _describe_position_in_sequence(frame: Frame) -> str:
    tx = get_transaction_header(frame)
    return f"number {tx.TxSequenceNumber} of {tx.TxSequenceID}, transaction {tx.ID}, FM {tx.FM}, LM {tx.LM}"


def restart_and_await_copy_of_acknowledgment(receiver: Receiver | AcknowledgingReceiver, wanted: Frame) -> Frame | None:
    """Restart the SUT; return the next copy of an acknowledgment that the SUT sent before the restart,
    or None if no copy arrives.
    """
    sut, inbox = receiver.sut, receiver.peer.inbox
    known = len(inbox.copies)

    def has_copy_arrived() -> list[Frame]:
        return [frame for frame in inbox.copies[known:] if _get_ack_content(frame) == _get_ack_content(wanted)]

    sut.restart()
    receiver.peer.environment.run_until(
        lambda: bool(has_copy_arrived()), sut.connect_timeout_ms + sut.response_timeout_ms
    )
    return next(iter(has_copy_arrived()), None)


def _get_ack_content(ack: Frame) -> tuple[object, ...]:
    """Return the class, the acknowledged message and the body of an acknowledgment."""
    properties = ack["MessagePropertiesHeader"]
    return properties.MessageClass, bytes(properties.CorrelationID), bytes(properties.MessageBody)
