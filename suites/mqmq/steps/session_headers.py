"""Predicates on the counts in SessionHeaders of SessionAcks and of messages.

Spec: MS-MQMQ 2.2.20.4, MS-MQQB 3.1.6.4, 3.1.7.1.3.

The messages of the peer are counted from its packets. If the peer sent bytes that are not a packet, its number of
messages is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND, Connection, Frame
from harness.judging.passive import ConnectionSummary, Context, Finding, Predicate, RecentValues, parse_frame_strictly
from harness.peer.conversation import Conversation
from harness.peer.timeouts import ACK_TIMEOUT_MS

SESSION_ACK_KIND, USER_MESSAGE_KIND = "SessionAck", "UserMessage"
_SEQUENCE_NUMBER_COUNT = 0x10000
_RECOVERABLE_ACK_FLAG_COUNT = 32

SessionHeaderJudgment = Callable[[Any, "SessionMessageCounts"], Finding]


class SessionMessageCounts(ConnectionSummary):
    """The number of messages that each side of a connection has sent, and the last counts that the SUT acknowledged."""

    def __init__(self) -> None:
        self.sent = self.sent_recoverable = 0
        self.came = self.came_recoverable = 0
        self.is_clear = True
        """Whether all bytes that the peer sent are well-formed packets."""
        self.headers = 0
        self.acknowledged = 0
        """The last AckSequenceNumber of the SUT."""
        self.began_with: int | None = None
        """The first RecoverableMsgAckSeqNumber of the SUT that is not 0."""
        self.flagged = RecentValues[int, bool]()

    def note(self, frame: Frame, connection: Connection) -> None:
        """Count a message, and remember the acknowledgments of its SessionHeader."""
        if not frame.from_sut and frame.kind == MALFORMED_PACKET_KIND:
            self.is_clear = False
        packet = parse_frame_strictly(frame) if frame.kind in (SESSION_ACK_KIND, USER_MESSAGE_KIND) else None
        if packet is None:
            return
        if frame.kind == USER_MESSAGE_KIND:
            recoverable = packet.UserHeader.DM == 1
            if frame.from_sut:
                self.sent += 1
                self.sent_recoverable += recoverable
            else:
                self.came += 1
                self.came_recoverable += recoverable
        if frame.from_sut and packet.SessionHeader is not None:
            self._record_counts_of_header(packet.SessionHeader)

    def _record_counts_of_header(self, header: Any) -> None:
        self.headers += 1
        self.acknowledged = header.AckSequenceNumber
        for number in list_acknowledged_numbers(header):
            self.flagged.store_new_value(number, True)
            self.began_with = self.began_with or number
            if len(self.flagged) > _SEQUENCE_NUMBER_COUNT // 4:  # long before the sequence numbers repeat
                del self.flagged[next(iter(self.flagged))]


def list_acknowledged_numbers(header: Any) -> list[int]:
    """Return the sequence numbers of the recoverable messages that a SessionHeader acknowledges."""
    first, flags = header.RecoverableMsgAckSeqNumber, header.RecoverableMsgAckFlags
    return [
        (first + bit) % _SEQUENCE_NUMBER_COUNT
        for bit in range(_RECOVERABLE_ACK_FLAG_COUNT)
        if first and flags >> bit & 1
    ]


def await_saved_numbers(session: Conversation, count: int) -> tuple[list[int], list[Frame]]:
    """Wait until the SUT has acknowledged a number of recoverable messages of a session as saved. Return the sequence
    numbers of the acknowledged messages, and the SessionAcks.
    """

    def list_session_acks() -> list[Frame]:
        return [frame for frame in session.received if frame.kind == "SessionAck"]

    def list_acknowledged_sequence_numbers() -> list[int]:
        return sorted(
            {one for frame in list_session_acks() for one in list_acknowledged_numbers(frame["SessionHeader"])}
        )

    sut = session.peer.sut
    within_ms = sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS)
    while (
        len(list_acknowledged_sequence_numbers()) < count
        and session.poll("SessionAck", within_ms=within_ms) is not None
    ):
        pass
    return list_acknowledged_sequence_numbers(), list_session_acks()


@cache
def make_session_header_predicate(judge: SessionHeaderJudgment, *, only_first: bool = False) -> Predicate:
    """Return a predicate that compares SessionHeaders from the SUT with the numbers of messages that preceded them on
    the connection. The predicate judges every SessionHeader, or only the first one on each connection.
    """

    def judge_packet(packet: Any, context: Context) -> Finding:
        if packet.SessionHeader is None:
            return None
        counts = context.before(SessionMessageCounts)
        return None if only_first and counts.headers else judge(packet, counts)

    return judge_packet


def _compare_count_with_expected_count(name: str, value: int, wanted: int, what: str) -> Finding:
    return value == wanted % _SEQUENCE_NUMBER_COUNT, f"{name} is {value}, and the number of {what} is {wanted}"


def check_user_msg_sequence_number(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that UserMsgSequenceNumber is the number of messages sent, including the message that contains the
    SessionHeader.
    """
    own = hasattr(packet, "UserHeader")
    return _compare_count_with_expected_count(
        "UserMsgSequenceNumber", packet.SessionHeader.UserMsgSequenceNumber, counts.sent + own, "messages sent"
    )


def check_recoverable_msg_seq_number(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that RecoverableMsgSeqNumber is the number of recoverable messages sent, including the message that
    contains the SessionHeader.
    """
    own = hasattr(packet, "UserHeader") and packet.UserHeader.DM == 1
    sent = counts.sent_recoverable + own
    return _compare_count_with_expected_count(
        "RecoverableMsgSeqNumber", packet.SessionHeader.RecoverableMsgSeqNumber, sent, "recoverable messages sent"
    )


def check_number_is_0_before_first_recoverable_message(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that RecoverableMsgSeqNumber is 0 while no recoverable message was sent."""
    own = hasattr(packet, "UserHeader") and packet.UserHeader.DM == 1
    return None if counts.sent_recoverable or own else check_recoverable_msg_seq_number(packet, counts)


def check_ack_sequence_number(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that AckSequenceNumber is at most the number of messages received, and not lower than in the previous
    SessionHeader.

    The last messages may have arrived after the SUT created the header.
    """
    if not counts.is_clear:
        return None
    value = packet.SessionHeader.AckSequenceNumber
    ahead, behind = (
        (value - counts.acknowledged) % _SEQUENCE_NUMBER_COUNT,
        (counts.came - value) % _SEQUENCE_NUMBER_COUNT,
    )
    kept = ahead < _SEQUENCE_NUMBER_COUNT // 2 and behind < _SEQUENCE_NUMBER_COUNT // 2 and behind <= counts.came
    before = counts.acknowledged
    return kept, f"AckSequenceNumber is {value}, and {before} in the previous header; messages received: {counts.came}"


def check_acknowledged_messages_arrived(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that the recoverable messages that a SessionHeader acknowledges have been received."""
    if not counts.is_clear:
        return None
    numbers = list_acknowledged_numbers(packet.SessionHeader)
    if not numbers:
        return None
    kept = all(
        (counts.came_recoverable - number) % _SEQUENCE_NUMBER_COUNT < counts.came_recoverable for number in numbers
    )
    return (
        kept,
        f"acknowledged recoverable messages: {numbers[0]} to {numbers[-1]}; received: {counts.came_recoverable}",
    )


def check_no_message_is_acknowledged_twice(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that a SessionHeader acknowledges no recoverable message that an earlier SessionHeader acknowledged."""
    numbers = list_acknowledged_numbers(packet.SessionHeader)
    if not numbers:
        return None
    again = [number for number in numbers if number in counts.flagged]
    return (
        not again,
        f"acknowledged recoverable messages: {numbers[0]} to {numbers[-1]}; acknowledged before: {again or 'none'}",
    )


def check_acknowledged_messages_are_new(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that the recoverable messages that a SessionHeader acknowledges have been received, and were not
    acknowledged before.
    """
    came, once = (
        check_acknowledged_messages_arrived(packet, counts),
        check_no_message_is_acknowledged_twice(packet, counts),
    )
    return came if isinstance(came, tuple) and not came[0] else once


def check_first_acknowledged_message_is_1(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that message 1 is the first recoverable message that is acknowledged on a connection."""
    numbers = list_acknowledged_numbers(packet.SessionHeader)
    if counts.began_with is not None or not numbers:
        return None
    return numbers[0] == 1, f"the first acknowledged recoverable message is number {numbers[0]}"


def make_zero_before_first_recoverable_message_predicate(name: str) -> SessionHeaderJudgment:
    """Check that a field is 0 while no recoverable message was received."""

    def judge_header(packet: Any, counts: SessionMessageCounts) -> Finding:
        if not counts.is_clear or counts.came_recoverable:
            return None
        value = getattr(packet.SessionHeader, name)
        return value == 0, f"{name} is {value}, and no recoverable message was received"

    return judge_header
