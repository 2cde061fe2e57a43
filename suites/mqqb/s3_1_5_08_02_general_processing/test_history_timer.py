"""MS-MQQB 3.1.5.8.2 General Processing: the first entry of the message history starts the cleanup timer."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.disposition import MISSING_QUEUE, find_history_entry
from suites.mqqb.steps.pinging import read_data_model_element

HISTORY_CLEANUP_TIMER_MS = 20_000
"""The duration in ms to which the check sets the timer. It is so short that the history becomes empty."""
GREATEST_TIMER_SPEED_UP = 10
"""The highest factor by which the timers may be accelerated, so that the check can act while the timer runs."""
HISTORY_CLEANUP_COUNT = 4
"""The number of expiries of the timer for which the check waits until the history is empty."""


@covers("MQQB-3.1.5.8.2-11")
@needs("inspect", "set_timers", "restart")
@pytest.mark.parametrize("kind", ["recoverable", "transactional", "to a missing queue"])
def test_first_history_entry_starts_timer(peer, sut, judge, kind):
    """When the history of the SUT is empty, the peer sends a message of one kind. The message has an entry in the
    history, and the MessageIDHistory Cleanup Timer runs.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    sut.set_timers(message_id_history_cleanup_ms=HISTORY_CLEANUP_TIMER_MS)
    sut.restart()
    for _ in range(HISTORY_CLEANUP_COUNT):
        if not read_data_model_element(sut.inspect_queue_manager(), "MessageIDHistoryTable"):
            break
        peer.pass_time(sut.duration_ms(HISTORY_CLEANUP_TIMER_MS) + sut.slack_ms(HISTORY_CLEANUP_TIMER_MS))
    before = sut.inspect_queue_manager()
    if read_data_model_element(before, "MessageIDHistoryTable") or _is_history_cleanup_timer_running(before):
        reason = "the history of the SUT did not become empty: other systems may be sending to the SUT"
        judge.mark_not_exercised("MQQB-3.1.5.8.2-11", reason=reason)
        return
    session = peer.open_raw()
    sent: Frame = session.send(_build_message(peer, sut, kind))
    peer.eventually(lambda: find_history_entry(sut, sent) is not None)
    judge(
        "MQQB-3.1.5.8.2-11",
        expected=holds("the timer runs", otherwise="the timer is stopped"),
        observed=_is_history_cleanup_timer_running(sut.inspect_queue_manager()),
        case="after the first entry of the history",
        evidence=sent,
    )


def _build_message(peer, sut, kind):
    if kind == "transactional":
        return Sequence(peer).message()
    if kind == "recoverable":
        return peer.recoverable_message()
    return peer.message(destination=rf"TCP:{sut.address}\{MISSING_QUEUE}")


def _is_history_cleanup_timer_running(manager) -> bool:
    return read_data_model_element(read_data_model_element(manager, "timers"), "MessageIDHistoryCleanup") is not None
