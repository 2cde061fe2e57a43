"""MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event; with it 3.1.2.8 and 3.1.5.8.2, which start the timer."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.messages import a_message
from suites.mqqb.steps.disposition import history_entry
from suites.mqqb.steps.opening import opened, pass_time

CLEANUP_MS = 80_000
"""The duration of the timer in its check (set_timers): not under two seconds, because TimeStamps are whole ones."""
FASTEST = CLEANUP_MS // 2_000


@covers("MQQB-3.1.2.8-01", "MQQB-3.1.5.8.2-11", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.6.7-03")
@needs("inspect", "set_timers", "restart")
def test_old_entries_are_deleted_each_time_that_the_timer_expires(peer, sut, judge):
    """A message starts the timer, one comes between that and the first expiry, one before the second; we look at these.

    An entry goes when it is older than the duration: the earlier one at the second expiry, the other at the third.
    """
    sut.slow_down(FASTEST)
    sut.set_timers(message_id_history_cleanup_ms=CLEANUP_MS)
    sut.restart()
    session = opened(peer)
    starting = session.send(a_message(peer))

    def wait_until(durations: float) -> None:
        then_ms = starting.time_ms + int(sut.duration_ms(CLEANUP_MS) * durations)
        pass_time(peer, max(0, then_ms - peer.recorder.elapsed_ms()))

    wait_until(0.45)
    sent = [session.send(a_message(peer))]
    wait_until(1.45)
    sent.append(session.send(a_message(peer)))
    wait_until(1.75)
    seen = {1.75: _present(sut, sent)}
    wait_until(2.5)
    seen[2.5] = _present(sut, sent)
    wait_until(3.5)
    seen[3.5] = _present(sut, sent)
    for rule in ("MQQB-3.1.2.8-01", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.5.8.2-11"):
        judge(rule, expected="both, then second", observed=f"{seen[1.75]}, then {seen[2.5]}", evidence=sent)
    judge("MQQB-3.1.6.7-03", expected="none at the third expiry", observed=f"{seen[3.5]} at the third expiry")


def _present(sut: Sut, sent: list[Frame]) -> str:
    """Return which of two messages have an entry in the history."""
    first, second = (history_entry(sut, message) is not None for message in sent)
    return "both" if first and second else "first" if first else "second" if second else "none"
