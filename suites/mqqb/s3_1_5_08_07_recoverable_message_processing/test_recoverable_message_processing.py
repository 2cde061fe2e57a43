"""MS-MQQB 3.1.5.8.7 Recoverable Message Processing. Section 3.1.5.8.2 specifies the Session Ack Send Timer."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import between, fields, holds, one_of
from harness.peer.timeouts import ACK_TIMEOUT_MS, RECOVERABLE_ACK_MS
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass, receive_first_message
from suites.mqqb.steps.opening import read_in_flag_and_packet_type
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.outgoing_session import OutgoingSession, await_session_of_sut

ACK_FLAG_COUNT = 32
"""The number of bits in RecoverableMsgAckFlags."""
COUNT_OF_EXPRESS_MESSAGES_SENT_FIRST = 3
"""The number of express messages that are sent between the recoverable messages."""
LATEST_ACK_DELAY_MS = ACK_TIMEOUT_MS // 2
BODY_TEXT_REPETITIONS = (0, 1, 10_000)
"""How often a text is repeated in the bodies of the stored messages: 0 for no body, and a number that makes a body of
more than 64 KB.
"""


RULES_OF_FIRST_SESSION_ACK = (
    "MQQB-3.1.5.8.7-02",
    "MQQB-3.1.5.8.7-03",
    "MQQB-3.1.5.8.7-04",
    "MQQB-3.1.5.8.7-05",
    "MQQB-3.1.5.8.7-06",
    "MQQB-3.1.5.8.7-07",
    "MQQB-3.1.5.8.7-08",
    "MQQB-3.1.5.8.7-09",
    "MQQB-3.1.5.8.7-10",
    "MQQB-3.1.5.8-09",
)
"""Rules about the SessionAck that the 33rd message causes."""


@covers(*RULES_OF_FIRST_SESSION_ACK, "MQQB-3.1.5.8.7-11", "MQQB-3.1.5.8.7-15")
@pytest.mark.parametrize(
    "before",
    [
        "nothing",
        "acknowledgments of the SUT",
        "a session request of the SUT",
        "an unacknowledged message of the SUT",
    ],
)
def test_recoverable_message_after_32_is_acknowledged_at_once(peer, sut, judge, before):
    """The peer sends 33 recoverable and 3 express messages. When the last message arrives, the SUT at once sends a
    SessionAck for the first 32 recoverable messages. A later SessionAck acknowledges the last message. An older session
    is open. The check repeats this on a session that the SUT opened, after the peer has acknowledged the SUT's message
    or before that, and on a session on which the SUT has acknowledged a transactional message and sent an OrderAck and,
    if an application received the message, a FinalAck.
    """
    if before == "a session request of the SUT":
        sut.limit_time_scale(1)
        session = await_session_of_sut(peer, sut)
    elif before == "an unacknowledged message of the SUT":
        sut.limit_time_scale(1)
        outgoing = OutgoingSession(peer, sut)
        outgoing.open()
        session = outgoing.connection
    else:
        sut.limit_time_scale(10)
        peer.open_raw()
        session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS, RecoverableAckTimeout=LATEST_ACK_DELAY_MS)
    late_ack_ms = session.connection_parameters_of_sut.RecoverableAckTimeout
    window = session.connection_parameters_of_sut.WindowSize
    if window <= ACK_FLAG_COUNT + COUNT_OF_EXPRESS_MESSAGES_SENT_FIRST:
        raise ConformanceFailure(f"the SUT's window of {window} messages is too small to use all flags")
    earlier = _await_order_final_and_session_acks(peer, sut, session) if before == "acknowledgments of the SUT" else 0
    own = [frame["UserHeader"].DM for frame in session.received if frame.kind == "UserMessage"]
    known = len(session.received)
    packets = [peer.recoverable_message() for _ in range(ACK_FLAG_COUNT)]
    packets[1:1] = [peer.message() for _ in range(COUNT_OF_EXPRESS_MESSAGES_SENT_FIRST)]
    sent = [session.send(packet) for packet in packets]
    early = not session.stays_quiet(sut.duration_ms(late_ack_ms) // 4)
    sent.append(session.send(peer.recoverable_message()))
    session.stays_quiet(sut.duration_ms(late_ack_ms) // 4)
    if peer.measure_duration(sent[0]).ms >= sut.duration_ms(late_ack_ms) * 4 // 5:
        raise ConformanceFailure("the tester sent its messages too slowly: the Session Ack Send Timer may have expired")
    acks = [frame for frame in session.received[known:] if not early]
    instead = "a SessionAck before the last message" if early else f"{len(acks)} SessionAcks"
    judge(
        "MQQB-3.1.5.8.7-02",
        "MQQB-3.1.5.8-09",
        expected=holds("the SUT sends one SessionAck at once"),
        observed=len(acks) == 1 or instead,
        evidence=[*sent[-2:], session.last],
    )
    if not acks:
        raise ConformanceFailure(
            "the SUT sent no acknowledgment when the message after the first 32 recoverable messages arrived"
        )
    ack = acks[0]
    bits = read_in_flag_and_packet_type(ack)
    flags = int.from_bytes(ack.data[2:4], "little")
    evidence = [sent[0], sent[-1], ack]
    judge(
        "MQQB-3.1.5.8.7-03",
        expected=fields({"IN": 1, "SH": 1}),
        observed={"IN": flags >> 3 & 1, "SH": flags >> 4 & 1},
        evidence=evidence,
    )
    judge("MQQB-3.1.5.8.7-04", expected=1, observed=bits["PT"], case="PT of the SessionAck", evidence=evidence)
    if ack.kind != "SessionAck":
        raise ConformanceFailure("the acknowledgment is not a SessionAck")
    header = ack["SessionHeader"]
    for rule, name, value in (
        (
            "MQQB-3.1.5.8.7-05",
            "AckSequenceNumber",
            earlier + ACK_FLAG_COUNT + COUNT_OF_EXPRESS_MESSAGES_SENT_FIRST + 1,
        ),
        ("MQQB-3.1.5.8.7-06", "RecoverableMsgAckSeqNumber", earlier + 1),
        ("MQQB-3.1.5.8.7-07", "UserMsgSequenceNumber", len(own)),
        ("MQQB-3.1.5.8.7-08", "RecoverableMsgSeqNumber", sum(own)),
        ("MQQB-3.1.5.8.7-09", "RecoverableMsgAckFlags", 0xFFFF_FFFF),
        ("MQQB-3.1.5.8.7-10", "WindowSize", window),
    ):
        judge(rule, expected=fields({name: value}), observed=header, evidence=evidence)
    judge.conclude(*RULES_OF_FIRST_SESSION_ACK)
    last = session.expect(
        "SessionAck",
        lambda frame: frame.number > ack.number,
        within_ms=sut.duration_ms(late_ack_ms) + sut.slack_ms(late_ack_ms),
    )
    header = last["SessionHeader"]
    evidence = [sent[-1], ack, last]
    numbered = fields(RecoverableMsgAckSeqNumber=earlier + ACK_FLAG_COUNT + 1)
    judge("MQQB-3.1.5.8.7-11", expected=numbered, observed=header, evidence=evidence)
    judge("MQQB-3.1.5.8.7-15", expected=fields(RecoverableMsgAckFlags=1), observed=header, evidence=evidence)
    session.acknowledge_all()


def _await_order_final_and_session_acks(peer, sut, session) -> int:
    """Let the SUT send an OrderAck, a FinalAck, and SessionAcks after 32 recoverable messages. Return how many messages
    the SUT has received; all of them are recoverable and acknowledged.
    """
    packets = [
        Sequence(peer).message({"JN": 1}, label="journaled"),
        *(peer.recoverable_message() for _ in range(ACK_FLAG_COUNT)),
    ]
    for packet in packets:
        session.send(packet)
    if sut.has("receive") and peer.await_label("journaled", sut.queue("transactional")):
        receive_first_message(sut, sut.queue("transactional"))
    within_ms = sut.duration_ms(LATEST_ACK_DELAY_MS) + sut.slack_ms(LATEST_ACK_DELAY_MS)
    session.expect(
        "SessionAck",
        lambda frame: frame["SessionHeader"].AckSequenceNumber == len(packets),
        within_ms=within_ms,
    )
    peer.pass_time(within_ms)
    session.acknowledge_all()
    return len(packets)


UNFORWARDED_HOP_COUNT = 0x1F
"""A hop count at which a message is not forwarded."""


@malforms("MQMQ-2.2.19.2-08")
@sut_survives()
@covers("MQQB-3.1.5.8.7-15")
@pytest.mark.parametrize(
    "reason", ["no such queue", "a transactional queue", "too many hops", "a duplicate", "a gap in its sequence"]
)
@varied("priority", "application tag", "extension", "correlation", "body", "destination")
def test_recoverable_message_behind_refused_one_is_acknowledged(peer, sut, judge, reason):
    """The peer sends three recoverable messages, and the SUT refuses the second or discards it as a duplicate. The SUT
    acknowledges the third message as number 3, or as number 2 (erratum E19).
    """
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS, RecoverableAckTimeout=LATEST_ACK_DELAY_MS)
    first, third = peer.recoverable_message(), peer.recoverable_message()
    packets = [first, first.copy() if reason == "a duplicate" else _build_refused_message(peer, sut, reason), third]
    sent = [session.send(packet) for packet in packets]
    within_ms = sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS)
    peer.environment.run_until(lambda: len(_list_acknowledged_recoverable_numbers(session)) >= len(sent), within_ms)
    allowed = one_of([1, 2, 3]) if reason == "a duplicate" else one_of([1, 2, 3], [1, 2])
    judge(
        "MQQB-3.1.5.8.7-15",
        expected=allowed,
        observed=_list_acknowledged_recoverable_numbers(session),
        case="numbers of the messages that are acknowledged as stored",
        evidence=[*sent, session.last],
    )


def _build_refused_message(peer, sut, reason):
    if reason == "no such queue":
        return peer.recoverable_message(destination=peer.format_name_of_missing_queue)
    if reason == "a transactional queue":
        return peer.recoverable_message(queue="transactional")
    if reason == "a gap in its sequence":
        return Sequence(peer).message(transaction={"TxSequenceNumber": 5, "PreviousTxSequenceNumber": 4})
    user = peer.build_fields_for_private_destination(peer.identifier, peer.next_message_id()) | {
        "RC": UNFORWARDED_HOP_COUNT
    }
    return peer.recoverable_message(user, destination=None)


def _list_acknowledged_recoverable_numbers(session) -> list[int]:
    """Return the numbers of the recoverable messages that the SUT acknowledged as stored on a session (erratum E22)."""
    headers = [frame["SessionHeader"] for frame in session.received if frame.kind == "SessionAck"]
    stored = {
        int(header.RecoverableMsgAckSeqNumber) + bit
        for header in headers
        for bit in range(ACK_FLAG_COUNT)
        if header.RecoverableMsgAckFlags >> bit & 1
    }
    return sorted(stored)


@covers("MQQB-3.1.5.8.7-12", "MQQB-3.1.5.8-09")
@needs("receive", "restart")
@varied("trace", acknowledgments=("none", "of arrival"))
def test_acknowledged_messages_survive_restart(peer, sut, judge):
    """The SUT acknowledges recoverable and transactional messages from the peer, and then restarts. Its queues contain
    the same messages as before.
    """
    receiver = Receiver(peer, sut)
    session = receiver.session
    sent = [
        session.send(
            peer.recoverable_message(
                base={"PR": number}, label=f"on disk {number}", body=b"on disk" * count, **_describe_message(number)
            )
        )
        for number, count in enumerate(BODY_TEXT_REPETITIONS, 1)
    ]
    sent.append(session.send(peer.recoverable_message({"JN": 1, "JP": 1}, label=LONGEST_LABEL, **_describe_message(4))))
    sent += [
        session.send(peer.recoverable_message(LIMITED_LIFETIME_FIELDS, label="on disk for a limited time")),
        session.send(peer.recoverable_message(base={"TimeToReachQueue": LIFETIME_S}, label="on disk, arrived in time")),
        session.send(peer.recoverable_message(MessageClass=AckClass.REACH_QUEUE, label="acknowledgment on disk")),
    ]
    sent += [
        receiver.send(user, label=f"on disk, in sequence {number}", **_describe_message(number))
        for number, user in enumerate(({}, LIMITED_LIFETIME_FIELDS), 1)
    ]
    ack = session.expect(
        "SessionAck",
        lambda frame: frame["SessionHeader"].AckSequenceNumber == len(sent),
        within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS),
    )
    acks = [ack, receiver.await_last_acknowledgment(2)]
    before = _describe_queue_contents(sut)
    if len(before) != len(sent):
        raise ConformanceFailure(f"{len(before)} of {len(sent)} messages arrived in their queues")
    sut.restart()
    after = _describe_queue_contents(sut)
    judge.all(expected=before, observed=after, case="messages in the queues", evidence=[*sent, *acks])


LIFETIME_S = 86_400
"""A lifetime of a message in seconds that is longer than the check."""
LIMITED_LIFETIME_FIELDS = {"TimeToBeReceived": LIFETIME_S}
"""The fields of UserHeader of a message whose lifetime in its queue is limited."""
LONGEST_LABEL = "a label of the greatest length ".ljust(249, "x")
PROPERTIES_NOT_COMPARED_AFTER_RESTART = ("lookup_id", "body_base64")
"""Properties that the check does not compare: the position in a queue, and the body, which the check compares as text.
"""


def _describe_message(number: int) -> dict[str, Any]:
    """Return message properties whose values differ from message to message."""
    return {
        "ExtensionData": b"an extension" * number,
        "CorrelationID": bytes(range(number, number + 20)),
        "ApplicationTag": 0xFFFF_FF00 + number,
    }


def _describe_queue_contents(sut) -> list[str]:
    """Describe the messages in the queues that the check uses, with all their properties."""
    return [
        ", ".join(
            f"{name} {value}"
            for name, value in sorted(one.items())
            if name not in PROPERTIES_NOT_COMPARED_AFTER_RESTART
        )
        for kind in ("plain", "transactional")
        for one in sut.messages(kind)
    ]


@malforms("MQQB-3.1.6.4-07")
@covers("MQQB-3.1.5.8.7-13", "MQQB-3.1.5.8.2-02")
@sut_survives()
@pytest.mark.parametrize(
    ("more", "expected"), [(-4, "closed"), (-2, "closed"), (-1, "closed"), (0, "open"), (1, "closed")]
)
@varied("priority", "time to reach queue", "queue journaling", "queue quota", "queue privacy")
def test_session_closes_unless_count_of_recoverable_messages_is_right(peer, sut, judge, more, expected):
    """The peer sends an express and a recoverable message, both twice (erratum E17), an acknowledgment, a recoverable
    and a transactional message, and a recoverable message for another queue manager. Then it sends a SessionAck that
    counts a correct or a wrong number of recoverable messages. The SUT keeps the session open only if the number is
    correct.
    """
    session = peer.open_raw()
    packets = [peer.message(), peer.recoverable_message()] * 2
    packets += [
        peer.message(queue="admin", MessageClass=AckClass.REACH_QUEUE),
        peer.recoverable_message(),
        Sequence(peer).message(),
    ]
    if sut.has("private_names"):
        elsewhere = peer.build_fields_for_private_destination(peer.identifier, peer.next_message_id())
        packets.append(peer.recoverable_message(elsewhere, destination=None))
    sent = [session.send(packet) for packet in packets]
    counted = sum(frame["UserHeader"].DM for frame in sent) + more
    session.expect("SessionAck", within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS))
    sent.append(
        session.send(session.build_session_ack(UserMsgSequenceNumber=len(packets), RecoverableMsgSeqNumber=counted))
    )
    if expected == "closed":
        session.wait_closed()
    else:
        peer.settle()
    observed = "closed" if session.closed_by_sut else "open"
    judge(
        "MQQB-3.1.5.8.7-13",
        *["MQQB-3.1.5.8.2-02"] * (expected == "open"),
        expected=expected,
        observed=observed,
        evidence=[*sent, session.last],
        case="session",
    )
    if expected != "open":
        judge.mark_not_exercised(
            "MQQB-3.1.5.8.2-02", reason="the SessionAck contains a wrong number of recoverable messages"
        )
    if expected == observed == "open":
        session.require_session_ack_for_message()


@covers("MQQB-3.1.5.8.2-48", "MQQB-3.1.5.8.7-01", "MQQB-3.1.5.8.7-11", "MQQB-3.1.5.8.7-13", "MQQB-3.1.5.8.7-15")
@varied("time to reach queue", "application tag", priority=("3", "0"))
def test_session_ack_flags_recoverable_messages_only(peer, sut, judge):
    """The peer sends four groups of express, recoverable and transactional messages on the second of two sessions. In
    each SessionAck of the SUT, RecoverableMsgAckFlags has bits for the recoverable and transactional messages of the
    group.
    """
    sut.limit_time_scale(10)
    peer.open_raw()
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS, RecoverableAckTimeout=LATEST_ACK_DELAY_MS)
    evidence: list[Frame] = []
    before = 0
    sequence = Sequence(peer)
    builders = {"e": lambda: peer.message({"JN": 1}), "r": peer.recoverable_message, "t": sequence.message}
    for group in ("ereer", "r", "rrre", "tret"):
        packets = [builders[one]() for one in group]
        evidence += [session.send(packet) for packet in packets]
        ack = session.poll(
            "SessionAck", within_ms=sut.duration_ms(LATEST_ACK_DELAY_MS) + sut.slack_ms(LATEST_ACK_DELAY_MS)
        )
        count = len(group) - group.count("e")
        if ack is not None:
            evidence.append(ack)
        numbered = fields({"SessionHeader.RecoverableMsgAckSeqNumber": before + 1})
        judge(
            "MQQB-3.1.5.8.7-01",
            "MQQB-3.1.5.8.7-11",
            "MQQB-3.1.5.8.7-13",
            expected=numbered,
            observed=ack,
            evidence=evidence,
        )
        flagged = fields({"SessionHeader.RecoverableMsgAckFlags": (1 << count) - 1})
        judge("MQQB-3.1.5.8.2-48", "MQQB-3.1.5.8.7-15", expected=flagged, observed=ack, evidence=evidence)
        before += count


@covers("MQQB-3.1.5.8.7-15")
@varied("priority", "time to be received", "time to reach queue", "extension", "correlation", "destination")
def test_recoverable_message_behind_duplicate_is_acknowledged(peer, sut, judge):
    """The peer repeats an acknowledged recoverable message, then sends a new message. The SUT acknowledges the new
    message as number 3, or as number 2 (erratum E17).
    """
    session = peer.open_raw()
    twice = peer.recoverable_message()
    sent = [session.send(twice)]

    def get_highest_number() -> int:
        headers = [frame["SessionHeader"] for frame in session.received if frame.kind == "SessionAck"]
        return max(
            (one.RecoverableMsgAckSeqNumber + int(one.RecoverableMsgAckFlags).bit_length() - 1 for one in headers),
            default=0,
        )

    within_ms = 3 * sut.duration_ms(RECOVERABLE_ACK_MS) + sut.slack_ms(RECOVERABLE_ACK_MS)
    if not peer.environment.run_until(lambda: get_highest_number() == 1, within_ms):
        raise ConformanceFailure("the SUT does not acknowledge a recoverable message as recoverable")
    sent += [session.send(packet) for packet in (twice, peer.recoverable_message())]
    peer.environment.run_until(lambda: get_highest_number() == len(sent), within_ms)
    judge(
        "MQQB-3.1.5.8.7-15",
        expected=one_of(2, 3),
        observed=get_highest_number(),
        case="number of the last message that is acknowledged as stored",
        evidence=[*sent, session.last],
        errata="E17",
    )


ACK_DELAY_MS = ACK_TIMEOUT_MS // 2


GREATEST_TIMER_SPEED_UP = 10
"""The highest factor by which the timers may be accelerated, so that the check can act while a timer runs."""


@covers("MQQB-3.1.5.8.2-48", "MQQB-3.1.5.8.7-01", "MQQB-3.1.5.8.7-14")
@varied("acknowledgments", "extension", "correlation", "label", "body", "destination", "priority")
def test_first_recoverable_message_shortens_delay_of_session_ack(peer, sut, judge):
    """The peer sends an express message and two recoverable messages on the second of two sessions. The SUT sends a
    SessionAck when RecoverableAckTimeout has passed since the first recoverable message.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    soon_ms = 4_000
    peer.open_raw()
    session = peer.open_raw(AckTimeout=ACK_TIMEOUT_MS, RecoverableAckTimeout=soon_ms)
    sent = [session.send(peer.message()), session.send(peer.recoverable_message())]
    session.stays_quiet(sut.duration_ms(soon_ms) // 2)
    sent.append(session.send(peer.recoverable_message()))
    ack = session.expect("SessionAck", within_ms=sut.duration_ms(ACK_DELAY_MS) + sut.slack_ms(ACK_DELAY_MS))
    took = peer.measure_duration(sent[1], ack)
    expected = between(*took.expect_timer_duration(soon_ms))
    judge.all(expected=expected, observed=took.ms, case="ms until the SessionAck", evidence=[*sent, ack])
