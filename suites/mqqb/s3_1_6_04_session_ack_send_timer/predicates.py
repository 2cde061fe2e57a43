"""Judge how a SessionAck counts the messages that the sender of the SessionAck has sent. Spec: MS-MQQB 3.1.6.4."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import ConnectionSummary, Context, Finding, parse_frame_strictly, passive
from suites.mqmq.steps.session_headers import (
    check_acknowledged_messages_are_new,
    check_no_message_is_acknowledged_twice,
    make_session_header_predicate,
)
from suites.mqqb.steps.internal_packets import (
    INTERNAL_PACKET_NAMES,
    SESSION_ACK_PACKET_KIND,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)

_SEQUENCE_NUMBER_RANGE = 0x10000
_PAUSED_WINDOW_SIZE = 1


class SentMessageCounts(ConnectionSummary):
    """Stores the numbers of messages that a SUT has sent on a connection, and the WindowSize that the SUT last sent."""

    def __init__(self) -> None:
        self.messages = 0
        self.recoverable = 0
        self.window: int | None = None

    def note(self, frame: Frame, connection: Connection) -> None:
        """Count a message, or store the WindowSize of a packet."""
        record = (
            parse_frame_strictly(frame)
            if frame.from_sut and frame.kind in ("UserMessage", "ConnectionParameters")
            else None
        )
        if record is None:
            return
        if frame.kind == "UserMessage":
            self.messages += 1
            self.recoverable += record.UserHeader.DM == 1
        else:
            self.window = record.ConnectionParametersHeader.WindowSize


@passive("MQQB-3.1.6.4-06", "SessionAck", "UserMsgSequenceNumber is the count of messages sent on the session")
def check_sent_message_count(packet: Any, context: Context) -> Finding:
    """Compare UserMsgSequenceNumber with the number of messages that the SUT has sent on the connection."""
    return _compare_sent_count("UserMsgSequenceNumber", packet, context.before(SentMessageCounts).messages)


@passive("MQQB-3.1.6.4-07", "SessionAck", "RecoverableMsgSeqNumber is the count of recoverable messages sent")
def check_sent_recoverable_message_count(packet: Any, context: Context) -> Finding:
    """Compare RecoverableMsgSeqNumber with the number of recoverable messages that the SUT has sent on the
    connection.
    """
    return _compare_sent_count("RecoverableMsgSeqNumber", packet, context.before(SentMessageCounts).recoverable)


@passive("MQQB-3.1.6.4-09", "SessionAck", "WindowSize equals WindowSize of the sender's ConnectionParameters")
def check_announced_window_size(packet: Any, context: Context) -> Finding:
    """Compare WindowSize with the WindowSize that the SUT sent when the session was set up; while the queue is paused,
    the value 1 is also allowed (MS-MQQB 3.1.7.13).
    """
    window = context.before(SentMessageCounts).window
    value = packet.SessionHeader.WindowSize
    if window is None or value == _PAUSED_WINDOW_SIZE:
        return None
    return value == window, f"WindowSize is {value} in the SessionHeader, and {window} in ConnectionParameters"


def _compare_sent_count(field: str, packet: Any, count: int) -> Finding:
    value = getattr(packet.SessionHeader, field)
    kind = "recoverable messages" if field.startswith("Recoverable") else "messages"
    return value == count % _SEQUENCE_NUMBER_RANGE, f"{field} is {value}, and the number of {kind} sent is {count}"


for rule, expected, judge in (
    (
        "MQQB-3.1.6.4-05",
        "RecoverableMsgAckSeqNumber is the number of a message that was not acknowledged before",
        check_acknowledged_messages_are_new,
    ),
    ("MQQB-3.1.6.4-10", "no recoverable message is acknowledged again", check_no_message_is_acknowledged_twice),
):
    passive(rule, "SessionAck", expected, of_system=True)(make_session_header_predicate(judge))

passive("MQQB-3.1.6.4-02", INTERNAL_PACKET_NAMES, "IN and SH are 1 in a SessionAck", of_system=True)(
    make_flags_predicate_for_kind(SESSION_ACK_PACKET_KIND)
)
passive("MQQB-3.1.6.4-03", INTERNAL_PACKET_NAMES, "PT is 1 in a SessionAck", of_system=True)(
    make_packet_type_predicate_for_kind(SESSION_ACK_PACKET_KIND)
)
