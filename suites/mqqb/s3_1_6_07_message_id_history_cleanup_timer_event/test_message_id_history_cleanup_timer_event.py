"""MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event; 3.1.2.8 and 3.1.5.8.2 start the timer."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.expectations import facts, holds, none
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.disposition import find_history_entry
from suites.mqqb.steps.opening import OTHER_GUID

HISTORY_CLEANUP_TIMER_MS = 80_000
"""The duration in ms to which these checks set the timer (set_timers)."""
GREATEST_TIMER_SPEED_UP = HISTORY_CLEANUP_TIMER_MS // 2_000
"""The highest factor by which the timers may be accelerated. The timer must run for at least two seconds, because
TimeStamps are whole seconds.
"""


@covers("MQQB-3.1.2.8-01", "MQQB-3.1.5.8.2-11", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.6.7-03")
@needs("inspect", "set_timers", "restart")
def test_history_entries_are_deleted_at_first_expiry_after_their_lifetime(peer, sut, judge):
    """Times are in durations of the cleanup timer, which expires at 1, 2 and 3. The peer sends two messages at 0.45 and
    one message at 1.45: these messages have history entries at 1.75; at 2.5 only the last message has an entry, and at
    3.5 no message has an entry. A message at 0 starts the timer; a message at 1.75 does not delay the timer. The SUT
    still has an entry at 2.5 if a duplicate at 1.45 has renewed its TimeStamp, although its message first arrived at
    0.45, but not at 3.5. The second message is from a different queue manager. A single message at 3.6 has no entry at
    6.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    sut.set_timers(message_id_history_cleanup_ms=HISTORY_CLEANUP_TIMER_MS)
    sut.restart()
    session = peer.open_raw()
    starting = session.send(peer.message())

    def wait_until_timer_durations_have_passed(durations: float) -> None:
        peer.pass_time_until(starting, int(sut.duration_ms(HISTORY_CLEANUP_TIMER_MS) * durations))

    wait_until_timer_durations_have_passed(0.45)
    sent = [session.send(peer.message(user)) for user in ({}, {"SourceQueueManager": OTHER_GUID, "RC": 1})]
    repeated = session.send(peer.message())
    peer.settle()
    first = find_history_entry(sut, repeated)
    wait_until_timer_durations_have_passed(1.45)
    sent.append(session.send(peer.message()))
    copy = peer.open_raw().send(repeated.data)
    wait_until_timer_durations_have_passed(1.75)
    renewed = find_history_entry(sut, repeated)
    seen = {1.75: _list_message_numbers_in_history(sut, sent)}
    session.send(peer.message())
    wait_until_timer_durations_have_passed(2.5)
    seen[2.5] = _list_message_numbers_in_history(sut, sent)
    kept = find_history_entry(sut, repeated) is not None
    wait_until_timer_durations_have_passed(3.5)
    seen[3.5] = _list_message_numbers_in_history(sut, sent)
    kept_renewed = find_history_entry(sut, repeated) is not None
    if kept_renewed or seen != {1.75: [1, 2, 3], 2.5: [3], 3.5: []}:
        peer.measure_duration(starting).require_duration_without_long_stall(_get_step_margin_ms(sut))
    judge(
        "MQQB-3.1.2.8-01",
        "MQQB-3.1.6.7-01",
        "MQQB-3.1.6.7-02",
        "MQQB-3.1.5.8.2-11",
        expected=facts(entries_before_the_expiry=[1, 2, 3], entries_after_the_expiry=[3]),
        observed={"entries_before_the_expiry": seen[1.75], "entries_after_the_expiry": seen[2.5]},
        evidence=sent,
    )
    if first and renewed and renewed["TimeStamp"] > first["TimeStamp"]:
        judge(
            "MQQB-3.1.6.7-02",
            expected=holds("an entry with a renewed TimeStamp is kept"),
            observed=kept,
            evidence=[repeated, copy],
        )
    judge(
        "MQQB-3.1.6.7-01",
        expected=holds("an entry with a renewed TimeStamp is deleted at the third expiry"),
        observed=not kept_renewed,
        evidence=[repeated, copy],
    )
    judge("MQQB-3.1.6.7-03", expected=none("entry"), observed=seen[3.5], case="history after the third expiry")
    wait_until_timer_durations_have_passed(3.6)
    alone = peer.open_raw().send(peer.message())
    wait_until_timer_durations_have_passed(6)
    left = _list_message_numbers_in_history(sut, [alone])
    judge(
        "MQQB-3.1.5.8.2-11",
        "MQQB-3.1.6.7-03",
        expected=none("entry"),
        observed=left,
        case="history of a single message",
        evidence=[alone],
    )


@covers("MQQB-3.1.2.8-01", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.6.7-03")
@needs("timers", "restart", "receive")
def test_duplicate_is_accepted_once_its_history_entry_was_deleted(peer, sut, judge):
    """The SUT accepts a repeated message again after its history entry was deleted. All times are in durations of the
    cleanup timer, which expires at 1, 2 and 3. The peer sends message "young" at 0 and 0.4: the SUT stores one copy.
    The peer sends "second" at 0.45 and 2.5, and "third" at 1.45 and 3.5: the SUT stores two copies of each. Message
    "young" starts the timer; a message at 1.75 does not delay the timer.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    cleanup_ms = sut.get_timer_duration_ms("message_id_history_cleanup_ms", HISTORY_CLEANUP_TIMER_MS)
    sut.restart()
    young = peer.open_raw().send(peer.recoverable_message(label="young"))

    def send_packets_after_timer_durations(durations: float, packet: Any) -> Frame:
        peer.pass_time_until(young, int(sut.duration_ms(cleanup_ms) * durations))
        return peer.open_raw().send(packet)

    again = [send_packets_after_timer_durations(0.4, young.data)]
    second = send_packets_after_timer_durations(0.45, peer.recoverable_message(label="second"))
    third = send_packets_after_timer_durations(1.45, peer.recoverable_message(label="third"))
    send_packets_after_timer_durations(1.75, peer.recoverable_message(label="another"))
    again.append(send_packets_after_timer_durations(2.5, second.data))
    again.append(send_packets_after_timer_durations(3.5, third.data))

    def count_message_copies() -> list[int]:
        labels = [one["label"] for one in sut.messages()]
        return [labels.count(name) for name in ("young", "second", "third")]

    peer.eventually(lambda: count_message_copies() == [1, 2, 2])
    counts = count_message_copies()
    if counts != [1, 2, 2]:
        peer.measure_duration(young).require_duration_without_long_stall(_get_step_margin_ms(sut))
    evidence = [young, second, third, *again]
    observed = dict(
        zip(("number_of_copies_of_the_first_message", "number_of_copies_of_the_second_message"), counts, strict=False)
    )
    judge(
        "MQQB-3.1.2.8-01",
        "MQQB-3.1.6.7-01",
        "MQQB-3.1.6.7-02",
        expected=facts(number_of_copies_of_the_first_message=1, number_of_copies_of_the_second_message=2),
        observed=observed,
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.6.7-03",
        expected=[2, 2],
        observed=counts[1:],
        case='number of copies of "second" and of "third" in the queue',
        evidence=evidence,
    )


def _get_step_margin_ms(sut: Sut) -> int:
    """Return the allowed delay of a step, in ms; every step is planned at least twice this delay before or after an
    expiry.
    """
    return sut.duration_ms(HISTORY_CLEANUP_TIMER_MS) // 10


def _list_message_numbers_in_history(sut: Sut, sent: list[Frame]) -> list[int]:
    """Return the numbers of the messages that have an entry in the history; the first message has number 1."""
    return [number for number, message in enumerate(sent, 1) if find_history_entry(sut, message) is not None]
