"""MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages: what an acknowledgment does to the send window."""

from __future__ import annotations

import itertools

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.inbox import only_here
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.sender import Sender, check_not_given_up, tags
from suites.mqqb.steps.sequences import Outgoing

ACKNOWLEDGED = 10
HELD_BACK = 40
"""Messages beyond the window; more than are acknowledged first."""
WIDEST = 512
"""A window above this is not filled: its messages would take too long."""
UNHURRIED = 4
"""Timers run at most so many times faster: a window is filled, unacknowledged, before the session is given up."""


@covers(
    "MQQB-3.1.5.5-03",
    "MQQB-3.1.5.5.1-01",
    "MQQB-3.1.5.5.1-02",
    "MQQB-3.1.5.5.1-03",
    "MQQB-3.1.5.5.1-04",
)
def test_acknowledged_messages_make_room_for_those_held_back(peer, sut, judge):
    """A full window opens by as many messages as are newly acknowledged, and all leave in their order.

    How wide the window is, is measured, not judged here (3.1.7.1).
    """
    sut.slow_down(UNHURRIED)
    sender = Sender(peer, sut)
    sender.send(1)
    session = sender.session()
    window = session.received[1]["ConnectionParametersHeader"].WindowSize
    if window > WIDEST:
        raise ConformanceFailure(f"its window of {window} is too large to fill with messages")
    total = window + HELD_BACK
    sender.send(*range(2, total + 1))
    filled = len(sender.collect_all(session, window))
    check_not_given_up(session)
    if filled > total - 2 * ACKNOWLEDGED:
        raise ConformanceFailure(f"its window never filled: {filled} messages are unacknowledged")

    first = session.send(session_ack(AckSequenceNumber=ACKNOWLEDGED))
    freed = len(set(tags(sender.collect_all(session, filled + ACKNOWLEDGED)))) - filled  # E65: some may come again
    check_not_given_up(session)
    judge(
        "MQQB-3.1.5.5-03",
        "MQQB-3.1.5.5.1-01",
        expected=ACKNOWLEDGED,
        observed=freed,
        case=f"more messages after AckSequenceNumber {ACKNOWLEDGED}",
        evidence=[first, session.last],
    )

    again = session.send(session_ack(AckSequenceNumber=ACKNOWLEDGED))
    freed = len(set(tags(sender.collect_all(session, 0)))) - filled - freed
    check_not_given_up(session)
    judge(
        "MQQB-3.1.5.5.1-02",
        expected=0,
        observed=freed,
        case="more messages after the same acknowledgment again",
        evidence=[again, session.last],
    )

    rest = session.send(session_ack(AckSequenceNumber=len(only_here(session))))
    came = list(dict.fromkeys(tags(sender.collect_all(session, total))))
    check_not_given_up(session)
    judge(
        "MQQB-3.1.5.5.1-03",
        expected=holds(f"all {total} messages once everything sent is acknowledged"),
        observed=len(came) == total or f"{len(came)} of {total} messages",
        evidence=[rest, session.last],
    )
    disorder = next((pair for pair in itertools.pairwise(came) if pair[0] > pair[1]), None)
    judge(
        "MQQB-3.1.5.5.1-04",
        expected=holds("in the order in which they were queued"),
        observed=disorder is None or f"message {disorder[0]} before message {disorder[1]}",
        evidence=[rest, session.last],
    )


@needs("send")
@covers("MQQB-3.1.5.5.1-01")
def test_messages_that_were_refused_make_room_as_well(peer, sut, judge):
    """A window of transactional messages is refused by FinalAcks, then acknowledged on the session: as many follow."""
    sut.slow_down(UNHURRIED)
    outgoing = Outgoing(peer, sut, "mqc-refused-window")
    sent = outgoing.send()
    window = outgoing.session.received[1]["ConnectionParametersHeader"].WindowSize
    if window > WIDEST:
        raise ConformanceFailure(f"its window of {window} is too large to fill with messages")
    sent += outgoing.send(window - 1)
    for number in range(1, window + 1):
        outgoing.finish(number)
    peer.settle()
    freed = outgoing.on_session()
    more = {peer.message_id() for _ in range(window)}  # the refused ones may come once more before they are refused
    outgoing.sender.send(*more)
    session = outgoing.session
    peer.wait(
        lambda: more <= {*tags(only_here(session))} or session.record.closed_by is not None,
        None,
        "a window of messages",
    )
    check_not_given_up(session)
    came = len(more & {*tags(only_here(session))})
    judge(
        "MQQB-3.1.5.5.1-01",
        expected=window,
        observed=came,
        case="more messages",
        evidence=[*sent, freed, session.last],
    )
    outgoing.sender.acknowledge_all(session)
