"""MS-MQQB 3.1.6.4 Session Ack Send Timer Event."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, varied
from suites.mqqb.steps.opening import read_in_flag_and_packet_type
from suites.mqqb.steps.sender import SESSION_SET_UP_PACKET_KINDS, Sender, is_recoverable

EXPRESS_ACK_DELAY_MS = ACK_TIMEOUT_MS // 2
"""The time in ms between the first message and its acknowledgment (3.1.5.8.2)."""
MESSAGE_NUMBERS_FLAGGED_IN_EACH_SESSION_ACK: tuple[list[int], ...] = ([1, 2], [3], [])
"""The numbers of the recoverable messages of the peer in each turn. In the last turn, the message is express."""
EXPRESS_MESSAGE_COUNT = 5
"""The number of express messages that the first SessionAck acknowledges."""
RECOVERABLE_ACK_DELAY_MS = 4_000
"""The time in ms between the first recoverable message and its acknowledgment (3.1.5.8.7), which is long enough to send
two messages.
"""


@covers(
    "MQQB-3.1.6.4-01",
    "MQQB-3.1.6.4-02",
    "MQQB-3.1.6.4-03",
    "MQQB-3.1.6.4-04",
    "MQQB-3.1.6.4-05",
    "MQQB-3.1.6.4-08",
    "MQQB-3.1.6.4-10",
    "MQQB-3.1.6.4-11",
    "MQQB-3.1.1.6.1-D01",
    "MQQB-3.1.2.5-D01",
    "MQQB-3.1.3.2-10",
)
@varied("queue journaling", "queue quota", priority=("3", "7"))
def test_received_messages_are_acknowledged_when_ack_send_timer_expires(peer, sut, judge):
    """In four turns, the peer sends five express messages, two recoverable messages, one recoverable message and one
    express message. In each turn, the SUT sends one SessionAck after the specified delay, with the numbers and flags of
    the messages of that turn. An older session of the peer is idle.
    """
    sut.limit_time_scale(20)
    peer.try_to_open_session()
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS, RecoverableAckTimeout=RECOVERABLE_ACK_DELAY_MS)
    sent = [session.send(peer.message()) for _ in range(EXPRESS_MESSAGE_COUNT)]
    first = _poll_next_packet(session, sut)
    judge(
        "MQQB-3.1.6.4-01",
        "MQQB-3.1.1.6.1-D01",
        "MQQB-3.1.3.2-10",
        expected="after the delay",
        observed=_describe_ack_time(peer, sent[0], first),
        case="first SessionAck",
        evidence=[sent[0], first],
    )
    if first is None:
        raise ConformanceFailure("the SUT did not acknowledge the first messages")
    judge.conclude("MQQB-3.1.1.6.1-D01", "MQQB-3.1.3.2-10")
    _judge_in_and_sh_flags_and_packet_type(judge, first)
    if first.kind != "SessionAck":
        raise ConformanceFailure("the SUT acknowledged the first messages with a packet other than a SessionAck")
    judge(
        "MQQB-3.1.6.4-04",
        expected=EXPRESS_MESSAGE_COUNT,
        observed=first["SessionHeader"].AckSequenceNumber,
        case="AckSequenceNumber of the first SessionAck",
        evidence=[*sent, first],
    )

    silent = session.stays_quiet(sut.duration_ms(EXPRESS_ACK_DELAY_MS) + sut.slack_ms(EXPRESS_ACK_DELAY_MS))
    judge(
        "MQQB-3.1.6.4-01",
        expected=holds("the SUT sends no packet while every message is acknowledged"),
        observed=bool(silent) or session.outcome(),
        evidence=[first, session.last],
    )

    sent += [session.send(peer.recoverable_message()) for _ in range(2)]
    second = _poll_ack_of_messages(judge, session, sut, EXPRESS_MESSAGE_COUNT + 2)
    evidence = [*sent[EXPRESS_MESSAGE_COUNT:], second]
    numbered = fields({"SessionHeader.RecoverableMsgAckSeqNumber": 1})
    judge("MQQB-3.1.6.4-05", expected=numbered, observed=second, evidence=evidence)
    flagged = fields({"SessionHeader.RecoverableMsgAckFlags": 0b11})
    judge("MQQB-3.1.6.4-08", expected=flagged, observed=second, evidence=evidence)
    judge.conclude("MQQB-3.1.6.4-08")

    sent.append(session.send(peer.recoverable_message()))
    third = _poll_ack_of_messages(judge, session, sut, EXPRESS_MESSAGE_COUNT + 3)
    evidence = [second, sent[-1], third]
    numbered = fields({"SessionHeader.RecoverableMsgAckSeqNumber": 3})
    judge("MQQB-3.1.6.4-05", expected=numbered, observed=third, evidence=evidence)
    flagged = fields({"SessionHeader.RecoverableMsgAckFlags": 0b1})
    judge("MQQB-3.1.6.4-08", "MQQB-3.1.6.4-10", expected=flagged, observed=third, evidence=evidence)
    judge.conclude("MQQB-3.1.6.4-05", "MQQB-3.1.6.4-10")

    sent.append(session.send(peer.message()))
    fourth = _poll_next_packet(session, sut)
    judge(
        "MQQB-3.1.6.4-01",
        "MQQB-3.1.6.4-11",
        "MQQB-3.1.2.5-D01",
        "MQQB-3.1.6.4-04",
        expected=fields({"SessionHeader.AckSequenceNumber": len(sent)}),
        observed=fourth,
        evidence=[third, sent[-1], fourth],
    )
    if fourth is None or fourth.kind != "SessionAck":
        return
    _judge_in_and_sh_flags_and_packet_type(judge, fourth)
    unflagged = fields({"SessionHeader.RecoverableMsgAckFlags": 0})
    judge("MQQB-3.1.6.4-08", "MQQB-3.1.6.4-10", expected=unflagged, observed=fourth, evidence=[third, sent[-1], fourth])


@covers(
    "MQQB-3.1.6.4-02",
    "MQQB-3.1.6.4-03",
    "MQQB-3.1.6.4-05",
    "MQQB-3.1.6.4-06",
    "MQQB-3.1.6.4-07",
    "MQQB-3.1.6.4-08",
    "MQQB-3.1.6.4-09",
    "MQQB-3.1.6.4-10",
)
@varied("application tag", "extension", "correlation", acknowledgments=("none", "of receipt"))
def test_session_ack_counts_messages_that_the_sut_sent(peer, sut, judge):
    """The SUT sends three messages, one of them recoverable, and then two further recoverable messages one after the
    other. After each step, the peer sends recoverable messages or an express message: the SessionAcks of the SUT count
    the messages that the SUT has sent, acknowledge only the peer's last messages, and contain the SUT's WindowSize.
    """
    sender = Sender(peer, sut)
    sender.send(1, 2)
    sender.send(3, delivery="recoverable")
    session, own = sender.await_first_messages(3)
    window = session.received[1]["ConnectionParametersHeader"].WindowSize
    for turn, numbers in enumerate(MESSAGE_NUMBERS_FLAGGED_IN_EACH_SESSION_ACK, 1):
        if turn > 1:
            sender.send(turn + 2, delivery="recoverable")
            own = sender.collect_messages(session, turn + 2)
        session.acknowledge_all()
        before = len(session.received)
        build = peer.message if turn == len(MESSAGE_NUMBERS_FLAGGED_IN_EACH_SESSION_ACK) else peer.recoverable_message
        sent = [session.send(build()) for _ in range(2 if turn == 1 else 1)]
        ack = _poll_ack_of_message_count(session, sut, turn + 1)
        acks = [frame for frame in session.received[before:] if frame.kind != "UserMessage"]
        if ack is None:
            raise ConformanceFailure("the SUT did not acknowledge the messages of the peer")
        for frame in acks:
            _judge_in_and_sh_flags_and_packet_type(judge, frame)
        if any(frame.kind != "SessionAck" for frame in acks):
            raise ConformanceFailure("the SUT acknowledged the messages with a packet other than a SessionAck")
        judge(
            "MQQB-3.1.6.4-05",
            "MQQB-3.1.6.4-08",
            "MQQB-3.1.6.4-10",
            expected=numbers,
            observed=sorted(set().union(*(list_flagged_message_numbers(frame["SessionHeader"]) for frame in acks))),
            case=f"numbers of the acknowledged messages of turn {turn}",
            evidence=[*sent, *acks],
        )
        recoverable = sum(is_recoverable(frame) for frame in session.messages)
        for rule, name, expected in (
            ("MQQB-3.1.6.4-06", "UserMsgSequenceNumber", turn + 2),
            ("MQQB-3.1.6.4-07", "RecoverableMsgSeqNumber", recoverable),
            ("MQQB-3.1.6.4-09", "WindowSize", window),
        ):
            judge(rule, expected=fields({name: expected}), observed=ack["SessionHeader"], evidence=[*own, *sent, ack])


def _judge_in_and_sh_flags_and_packet_type(judge, ack) -> None:
    """Judge IN and SH in BaseHeader.Flags, and PT in InternalHeader.Flags, of a SessionAck."""
    flags = int.from_bytes(ack.data[2:4], "little")
    shown = {"IN": flags >> 3 & 1, "SH": flags >> 4 & 1}
    judge("MQQB-3.1.6.4-02", expected=fields(IN=1, SH=1), observed=shown, evidence=ack)
    judge.conclude("MQQB-3.1.6.4-02")
    bits = read_in_flag_and_packet_type(ack)
    shown = {name: bits[name] for name in ("IN", "PT")}
    judge("MQQB-3.1.6.4-03", expected=fields(IN=1, PT=1), observed=shown, evidence=ack)
    judge.conclude("MQQB-3.1.6.4-03")


def _poll_ack_of_message_count(session, sut, count: int):
    """Wait for a packet that acknowledges the given number of messages, or that is neither a message nor a SessionAck;
    return None if no such packet arrives in time.
    """

    def list_matching_packets() -> list:
        others = [
            frame for frame in session.received if frame.kind not in ("UserMessage", *SESSION_SET_UP_PACKET_KINDS)
        ]
        return [
            frame for frame in others if frame.kind != "SessionAck" or frame["SessionHeader"].AckSequenceNumber == count
        ]

    within_ms = sut.duration_ms(EXPRESS_ACK_DELAY_MS) + sut.slack_ms(EXPRESS_ACK_DELAY_MS)
    session.peer.environment.run_until(lambda: bool(list_matching_packets()), within_ms)
    return next(iter(list_matching_packets()), None)


def _poll_next_packet(session, sut):
    """Wait for the next packet of any kind, for at most the longest delay of an acknowledgment; return None if no
    packet arrives.
    """
    count = len(session.received)
    session.stays_quiet(sut.duration_ms(EXPRESS_ACK_DELAY_MS) + sut.slack_ms(EXPRESS_ACK_DELAY_MS))
    return session.received[count] if len(session.received) > count else None


def _poll_ack_of_messages(judge, session, sut, count: int):
    """Wait for the next packet, and judge its form and AckSequenceNumber; raise ConformanceFailure unless the packet
    acknowledges the given number of messages.
    """
    frame = _poll_next_packet(session, sut)
    acknowledged = _get_session_header_field(frame, "AckSequenceNumber")
    if frame is not None:
        _judge_in_and_sh_flags_and_packet_type(judge, frame)
        numbered = fields({"SessionHeader.AckSequenceNumber": count})
        judge("MQQB-3.1.6.4-04", expected=numbered, observed=frame, evidence=frame)
        judge.conclude("MQQB-3.1.6.4-04")
    if frame is not None and acknowledged != str(count):
        raise ConformanceFailure(f"the SUT acknowledged {acknowledged} messages instead of {count}")
    return frame


def _get_session_header_field(ack, name: str) -> str:
    """Return a field of a SessionHeader, for use in the argument ``observed``."""
    return "no SessionAck" if ack is None or ack.kind != "SessionAck" else str(getattr(ack["SessionHeader"], name))


def _describe_ack_time(peer, message_, ack) -> str:
    """Return a description of how long after the first acknowledged message the acknowledgment arrived."""
    if ack is None:
        return "not sent"
    return peer.measure_duration(message_, ack).describe_expiry(EXPRESS_ACK_DELAY_MS, "after the delay")


@covers("MQQB-3.1.6.4-05", "MQQB-3.1.6.4-08")
@pytest.mark.parametrize("count", [1, 8, 9, 16, 17, 31, 32])
def test_every_received_message_has_its_flag(peer, sut, judge, count):
    """The peer sends up to 32 recoverable messages at once: the next SessionAcks together acknowledge each of these
    messages, by its number or flag, and no others.
    """
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS, RecoverableAckTimeout=RECOVERABLE_ACK_DELAY_MS)
    sent = [session.send(peer.recoverable_message()) for _ in range(count)]
    flagged: set[int] = set()
    acks = []
    within_ms = sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS)
    while len(flagged) < count and (ack := session.poll("SessionAck", within_ms=within_ms)) is not None:
        acks.append(ack)
        flagged |= list_flagged_message_numbers(ack["SessionHeader"])
    expected = list(range(1, count + 1))
    judge(
        "MQQB-3.1.6.4-05",
        "MQQB-3.1.6.4-08",
        expected=expected,
        observed=sorted(flagged),
        case="numbers of the acknowledged messages",
        evidence=[*sent, *acks],
    )


def list_flagged_message_numbers(header) -> set[int]:
    """Return the numbers of the recoverable messages that a SessionHeader acknowledges."""
    first, flags = header.RecoverableMsgAckSeqNumber, header.RecoverableMsgAckFlags
    return {first + bit & 0xFFFF for bit in range(32) if first and flags >> bit & 1}


MESSAGE_COUNT_BEYOND_ONE_BYTE = 258


@covers("MQQB-3.1.6.4-04")
def test_session_ack_counts_more_than_255_messages(peer, sut, judge):
    """The peer sends 258 express messages: the last SessionAck of the SUT acknowledges all of them."""
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS)
    sent = [session.send(peer.message()) for _ in range(MESSAGE_COUNT_BEYOND_ONE_BYTE)]
    ack = session.poll(
        "SessionAck",
        lambda frame: frame["SessionHeader"].AckSequenceNumber == len(sent),
        within_ms=sut.duration_ms(EXPRESS_ACK_DELAY_MS) + sut.slack_ms(EXPRESS_ACK_DELAY_MS),
    )
    expected = fields({"SessionHeader.AckSequenceNumber": len(sent)})
    judge("MQQB-3.1.6.4-04", expected=expected, observed=ack or session.last, evidence=[sent[-1], ack or session.last])
