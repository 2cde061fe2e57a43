"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet. The timer of transactional messages is judged with 3.1.6.5."""

from __future__ import annotations

from itertools import pairwise

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, one_of
from harness.judging.verdicts import Verdict
from harness.peer.timeouts import ACK_MS
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.ordering import final_ack, order_ack
from suites.mqqb.steps.pinging import element
from suites.mqqb.steps.sender import PEER_WINDOW, Sender
from suites.mqqb.steps.sequences import Outgoing, header, identifier_of, numbers, sequence_of

WAITS = 8
"""AckWaitTimeouts after which a session that is not closed counts as never closed (note <46>)."""
LATE = 0.85
"""Part of the delay of an acknowledgment after which a message carries it: three quarters or more (3.1.7.11)."""
ATTEMPTS = 5
"""A busy machine may act too early or too late; no more often than that."""


@needs("send")
@covers(
    "MQQB-3.1.7.1.3-01",
    "MQQB-3.1.7.1.3-02",
    "MQQB-3.1.7.1.3-03",
    "MQQB-3.1.7.1.3-04",
    "MQQB-3.1.7.1.3-08",
    "MQQB-3.1.7.1-09",
)
def test_transactional_messages_get_their_place_in_the_sequence(peer, sut, judge):
    """Three messages have one TxSequenceID and the numbers 1 to 3, each with the one before; sent again, the same."""
    outgoing = Outgoing(peer, sut, "mqc-place")
    sent = outgoing.send(3)
    places = [(sequence_of(frame), header(frame).TxSequenceNumber) for frame in sent]
    one = len({sequence_of(frame) for frame in sent})
    judge("MQQB-3.1.7.1.3-02", expected=1, observed=one, case="sequences", evidence=sent)
    judge("MQQB-3.1.7.1.3-04", "MQQB-3.1.7.1-09", expected=[1, 2, 3], observed=numbers(sent), evidence=sent)
    steps = [after - before for before, after in pairwise(numbers(sent))]
    judge("MQQB-3.1.7.1.3-08", expected=[1, 1], observed=steps, evidence=sent)
    before = [header(frame).TxSequenceNumber - header(frame).PreviousTxSequenceNumber for frame in sent]
    judge("MQQB-3.1.7.1.3-03", expected=[1, 1, 1], observed=before, case="before", evidence=sent)
    outgoing.session.close()
    outgoing.await_session()
    peer.environment.run_until(
        lambda: all(len(outgoing.copies(number)) > 1 for number in (1, 2, 3)), sut.response_timeout_ms
    )
    again = [copy for number in (1, 2, 3) for copy in outgoing.copies(number)[1:2]]
    same = [(sequence_of(frame), header(frame).TxSequenceNumber) for frame in again] == places
    judge(
        "MQQB-3.1.7.1.3-01",
        expected=holds("their places", otherwise="others"),
        observed=bool(same),
        evidence=[*sent, *again],
    )
    outgoing.acknowledge_all()


@needs("send", "inspect")
@covers(
    "MQQB-3.1.7.1.3-05",
    "MQQB-3.1.7.1.3-06",
    "MQQB-3.1.7.1.3-07",
    "MQQB-3.1.7.1.3-12",
    "MQQB-3.1.7.1.3-26",
    "MQQB-3.1.7.1.3-28",
)
def test_what_is_noted_of_a_message_that_is_sent(peer, sut, judge):
    """The positions of three messages, two transactional, have their numbers; the session is active and waits."""
    outgoing = Outgoing(peer, sut, "mqc-noted")
    sent = outgoing.send(2)
    other = outgoing.send(delivery="recoverable")
    session, sequence = outgoing.shown(), outgoing.sequence()
    positions = element(session, "OutgoingMessageTable")
    for rule, name, expected in (
        ("MQQB-3.1.7.1.3-05", "TxSequenceNumber", [1, 2, 0]),
        ("MQQB-3.1.7.1.3-12", "SequenceNumber", [1, 2, 3]),
        ("MQQB-3.1.7.1.3-26", "AwaitingAck", [True] * 3),
    ):
        found = [element(position, name) for position in positions]
        judge(rule, expected=expected, observed=found, evidence=[*sent, *other])
    noted = outgoing.unacknowledged()
    judge("MQQB-3.1.7.1.3-06", expected=[1, 2], observed=noted, evidence=sent)
    infos = [tuple(one[name] for name in ("SeqID", "SeqNo", "PrevNo")) for one in element(sequence, "UnackedSequence")]
    places = [(identifier_of(frame), number, number - 1) for number, frame in enumerate(sent, 1)]
    judge("MQQB-3.1.7.1.3-07", expected=places, observed=infos, evidence=sent)
    judge("MQQB-3.1.7.1.3-28", expected=True, observed=element(session, "SessionActive"), evidence=sent)
    outgoing.send_session_ack()
    outgoing.send_order_ack(2)
    peer.settle()


@covers(
    "MQQB-3.1.7.1.3-11",
    "MQQB-3.1.7.1.3-13",
    "MQQB-3.1.7.1.3-15",
    "MQQB-3.1.7.1.3-16",
    "MQQB-3.1.7.1.3-17",
    "MQQB-3.1.7.1.3-18",
    "MQQB-3.1.7.1.3-19",
    "MQQB-3.1.7.1.3-20",
    "MQQB-3.1.7.1.3-21",
    "MQQB-3.1.7.1.3-22",
    "MQQB-3.1.7.1.3-23",
    "MQQB-3.1.7.1.3-24",
    "MQQB-3.1.7.1.3-25",
    "MQQB-3.1.7.11-03",
)
@pytest.mark.parametrize("delivery", ["express", "recoverable", pytest.param("transactional", marks=needs("send"))])
def test_a_session_header_in_a_message_acknowledges(peer, sut, judge, delivery):
    """The peer sends an express and two recoverable messages; just before the SUT acknowledges them it sends one.

    Before that it sent two messages, one of them recoverable. Nothing follows its SessionHeader until the peer's next.
    The window of the peer is another.
    """
    peer.configure(window_size=PEER_WINDOW)
    sut.slow_down(1)
    sender = Sender(peer, sut)
    sender.send(1)
    sender.send(2, delivery="recoverable")
    session, _ = sender.await_first(2)
    agreed = session.received[1]["ConnectionParametersHeader"]
    delay_ms = sut.duration_ms(agreed.RecoverableAckTimeout)
    stalls = 0
    for attempt in range(1, ATTEMPTS + 1):
        session.acknowledge_all()
        received = [
            session.send(packet) for packet in (peer.message(), peer.recoverable_message(), peer.recoverable_message())
        ]
        peer.pass_time(int(delay_ms * LATE))
        count = attempt + 2
        sender.send(count, delivery=delivery)
        frame = sender.collect(session, count)[-1]
        if frame["BaseHeader"].SH:
            break
        peer.pass_time(delay_ms)  # until what was sent is acknowledged
        stalls += peer.stood_still(received[0].time_ms, peer.recorder.elapsed_ms())
    if stalls == ATTEMPTS:
        judge.give_up(Verdict.NOT_EXERCISED, "it never sent when an acknowledgment was nearly due: it stood still")
        return
    evidence = [*received, frame]
    if len(session.messages) < count:
        raise ConformanceFailure("the SUT's message did not come")
    judge(
        "MQQB-3.1.7.11-03",
        expected=holds("a SessionHeader", otherwise="no SessionHeader"),
        observed=bool(frame["BaseHeader"].SH),
        evidence=evidence,
    )
    if not frame["BaseHeader"].SH:
        raise ConformanceFailure("the SUT's message carried no SessionHeader although an acknowledgment was nearly due")
    carried = frame["SessionHeader"]
    own = 1 + (attempt if delivery != "express" else 0)
    due_fields = (
        ("MQQB-3.1.7.1.3-16", "AckSequenceNumber", 3 * attempt),
        ("MQQB-3.1.7.1.3-17", "RecoverableMsgAckSeqNumber", 2 * attempt - 1),
        ("MQQB-3.1.7.1.3-18", "UserMsgSequenceNumber", count),
        ("MQQB-3.1.7.1.3-19", "RecoverableMsgSeqNumber", own),
        ("MQQB-3.1.7.1.3-20", "RecoverableMsgAckFlags", 0b11),
        ("MQQB-3.1.7.1.3-22", "WindowSize", agreed.WindowSize),
    )
    for rule, name, expected in due_fields:
        judge(rule, expected=fields({name: expected}), observed=carried, evidence=evidence)
    judge(
        "MQQB-3.1.7.1.3-11",
        expected=count,
        observed=carried.UserMsgSequenceNumber,
        case="sent",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.1.3-13",
        expected=own,
        observed=carried.RecoverableMsgSeqNumber,
        case="sent",
        evidence=evidence,
    )
    due = {name: expected for _, name, expected in due_fields}
    whole = {name: getattr(carried, name) for name in due}
    judge("MQQB-3.1.7.1.3-15", expected=due, observed=whole, evidence=evidence)

    # What is resent meanwhile, where answers take long, acknowledges nothing.
    silent = session.quiet(2 * delay_ms + sut.slack_ms(agreed.RecoverableAckTimeout), of="SessionAck")
    judge(
        "MQQB-3.1.7.1.3-23",
        "MQQB-3.1.7.1.3-24",
        expected=holds("nothing follows"),
        observed=silent or session.outcome(),
        evidence=[*evidence, session.last],
    )
    received.append(session.send(peer.recoverable_message()))
    later = session.poll(
        "SessionAck",
        lambda one: one["SessionHeader"].AckSequenceNumber == 3 * attempt + 1,
        within_ms=sut.duration_ms(ACK_MS),
    )
    for rule, name, expected in (
        ("MQQB-3.1.7.1.3-25", "RecoverableMsgAckSeqNumber", 2 * attempt + 1),
        ("MQQB-3.1.7.1.3-21", "RecoverableMsgAckFlags", 1),
    ):
        flagged = fields({f"SessionHeader.{name}": expected})
        judge(rule, expected=flagged, observed=later, evidence=[*evidence, received[-1], later])
    for message in session.messages:
        if message["UserHeader"].TH:
            session.send(order_ack(peer, message))
            session.send(final_ack(peer, message))
    session.acknowledge_all()


WAITING = 2
"""Messages that wait for an acknowledgment when the next session begins: two, so that one too few is another number."""


@covers("MQQB-3.1.7.1.3-14", "MQQB-3.1.7.1-03")
def test_the_window_is_full_after_as_many_messages_as_it_has_room_for(peer, sut, judge):
    """With the window that both sides have agreed on, three more messages than it has room for are held back; so they
    are on the next session, which begins with two that were not acknowledged.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first(1)
    window = agreed_window(session)
    sender.send(*range(2, window + 4))
    first = sender.collect_all(session, window)
    session.send(session_ack(AckSequenceNumber=window - WAITING))
    every = len(sender.collect(session, window + 3))
    session.send(session_ack(AckSequenceNumber=every - WAITING))
    session.close()
    later = sender.await_session()
    if agreed_window(later) != window:
        raise ConformanceFailure(f"the next session has a window of {agreed_window(later)}, not of {window}")
    sender.send(*range(window + 4, 2 * window + 5))
    again = sender.collect_all(later, window)
    # Who counts what waits and then what is sent once more (E64) has that much less room on a session.
    allowed = [(window, window), (window, window - WAITING), (window - 1, window - WAITING)]
    expected, observed = one_of(*map(str, allowed)), str((len(first), len(again)))
    judge.all(expected=expected, observed=observed, evidence=[*first[-2:], *again[-2:]], errata="E64")
    later.send(session_ack(AckSequenceNumber=len(again)))
    sender.collect(later, window + 1 + WAITING)
    later.acknowledge_all()


def agreed_window(session) -> int:
    """Return the WindowSize of both sides; ConformanceFailure when they differ."""
    sizes = {frame["ConnectionParametersHeader"].WindowSize for frame in (session.sent[1], session.received[1])}
    if len(sizes) > 1:
        raise ConformanceFailure(f"the two sides have windows of {sizes}: which one holds back is not settled (E25)")
    return int(sizes.pop())


@covers("MQQB-3.1.7.1.3-27")
def test_a_session_on_which_nothing_is_acknowledged_is_closed(peer, sut, judge):
    """The Session Ack Wait Timer is started by the second message too: the first was acknowledged, and it stopped."""
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first(1)
    ack = session.acknowledge_all()
    timeout_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout
    peer.settle()
    sender.send(2)
    session.wait_closed(within_ms=sut.duration_ms(WAITS * timeout_ms) + sut.slack_ms(timeout_ms))
    judge(
        "MQQB-3.1.7.1.3-27",
        expected=holds("closed", otherwise="open"),
        observed=bool(session.closed_by_sut),
        evidence=[ack, *session.messages],
    )
    sender.await_session().acknowledge_all()
