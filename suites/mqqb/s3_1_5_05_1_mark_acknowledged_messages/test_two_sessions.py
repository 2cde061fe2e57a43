"""MS-MQQB 3.1.5.5.1 to 3.1.5.5.3: an acknowledgment concerns only the messages of its own session."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender, require_session_not_timed_out
from suites.mqqb.steps.two_destinations import Destination, TwoDestinations

GREATEST_TIMER_SPEED_UP = 4
"""The greatest speed-up of timers at which two windows are filled before the SUT closes an unacknowledged session."""
LARGEST_WINDOW_SIZE = 128
"""The largest window that the check fills twice: more messages would take too long."""
HELD_BACK_MESSAGE_COUNT = 4
"""The number of messages beyond each window."""
ACKNOWLEDGED_MESSAGE_COUNT = 3


@needs("send")
@covers("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.2-01", "MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02")
def test_acknowledgment_deletes_only_messages_of_its_own_session(peer, second_host, sut, judge):
    """The SUT sends an express and a recoverable message to the peer, and the same to a second queue manager. Only the
    peer acknowledges its messages; then both close their sessions. On the next session, the SUT sends both messages to
    the second queue manager again.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately((1, 1))
    two.send_messages_alternately((1, 1), delivery="recoverable")
    acknowledged = two.first.session.acknowledge_all()
    peer.settle()
    require_session_not_timed_out(two.second.session)
    for destination in two.both_destinations:
        destination.session.end()
    again = two.second.sender.poll_session()
    came = Sender.list_tags(two.second.sender.collect_messages_until_silence(again, 2)) if again is not None else []
    for rules, tag, kind in (
        (("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.2-01"), two.second.tags[0], "express"),
        (("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"), two.second.tags[1], "recoverable"),
    ):
        judge(
            *rules,
            expected=holds("sent again to the second queue manager, which acknowledged nothing"),
            observed=tag in came or "not sent again",
            case=f"{kind} message after the acknowledgment of the peer",
            evidence=[acknowledged, *two.second.peer.inbox.copies],
        )
    if again is not None:
        again.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.5.5.1-02", "MQQB-3.1.5.5.1-03", "MQQB-3.1.7.1-03")
def test_acknowledgment_opens_only_window_of_its_own_session(peer, second_host, sut, judge):
    """The windows of the SUT's sessions with the peer and with a second queue manager are full. The second queue
    manager acknowledges three messages. The SUT sends three more messages to it, and no message to the peer.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    two = TwoDestinations(peer, second_host, sut)
    two.first.send()
    two.first.await_messages()
    window = int(two.first.session.received[1]["ConnectionParametersHeader"].WindowSize)
    if window > LARGEST_WINDOW_SIZE:
        reason = f"the SUT's window of {window} is too large to fill twice with messages"
        judge.mark_not_exercised("MQQB-3.1.5.5.1-02", "MQQB-3.1.5.5.1-03", "MQQB-3.1.7.1-03", reason=reason)
        return
    for destination in two.both_destinations:
        for _ in range(window + HELD_BACK_MESSAGE_COUNT - len(destination.tags)):
            destination.send()
    before = [_count_different_messages(one) for one in two.both_destinations]
    for destination in two.both_destinations:
        require_session_not_timed_out(destination.session)
    judge(
        "MQQB-3.1.7.1-03",
        expected=holds(f"{window} unacknowledged messages on each session, or {window - 1} (E64)"),
        observed=set(before) <= {window - 1, window} or f"{before[0]} and {before[1]} messages",
        case="the two sessions after the SUT has had more messages than its window holds for both",
        evidence=[two.first.session.last, two.second.session.last],
    )
    ack = two.second.session.send(two.second.session.build_session_ack(AckSequenceNumber=ACKNOWLEDGED_MESSAGE_COUNT))
    freed = [_count_different_messages(one) - known for one, known in zip(two.both_destinations, before, strict=True)]
    for destination in two.both_destinations:
        require_session_not_timed_out(destination.session)
    judge(
        "MQQB-3.1.5.5.1-02",
        "MQQB-3.1.5.5.1-03",
        expected=[0, ACKNOWLEDGED_MESSAGE_COUNT],
        observed=freed,
        case="number of further messages to the peer and to the second queue manager",
        evidence=[ack, two.first.session.last, two.second.session.last],
    )
    for destination in two.both_destinations:
        destination.session.acknowledge_all()
        destination.sender.collect_messages_until_silence(destination.session, len(destination.tags))
        destination.session.acknowledge_all()


def _count_different_messages(destination: Destination) -> int:
    """Wait until no further message arrives; return the number of messages, without messages that were resent (erratum
    E65).
    """
    return len(set(Sender.list_tags(destination.sender.collect_messages_until_silence(destination.session, 1))))
