"""MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event; with it 3.1.2.8 and 3.1.5.8.2, which start the timer."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.expectations import facts, none
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.disposition import history_entry

CLEANUP_MS = 80_000
"""The duration of the timer in its check (set_timers): not under two seconds, because TimeStamps are whole ones."""
FASTEST = CLEANUP_MS // 2_000


@covers("MQQB-3.1.2.8-01", "MQQB-3.1.5.8.2-11", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.6.7-03")
@needs("inspect", "set_timers", "restart")
def test_old_entries_are_deleted_each_time_that_the_timer_expires(peer, sut, judge):
    """A message starts the timer, one comes between that and the first expiry, one before the second; we look at these.

    An entry goes when it is older than the duration: the earlier one at the second expiry, the other at the third. One
    more message, while the timer runs, does not put it off.
    """
    sut.slow_down(FASTEST)
    sut.set_timers(message_id_history_cleanup_ms=CLEANUP_MS)
    sut.restart()
    session = peer.open_raw()
    starting = session.send(peer.message())

    def wait_until(durations: float) -> None:
        peer.pass_time_until(starting, int(sut.duration_ms(CLEANUP_MS) * durations))

    wait_until(0.45)
    sent = [session.send(peer.message())]
    wait_until(1.45)
    sent.append(session.send(peer.message()))
    wait_until(1.75)
    seen = {1.75: _present(sut, sent)}
    session.send(peer.message())
    wait_until(2.5)
    seen[2.5] = _present(sut, sent)
    wait_until(3.5)
    seen[3.5] = _present(sut, sent)
    if seen != {1.75: [1, 2], 2.5: [2], 3.5: []}:
        peer.took(starting).require_steady(_margin_ms(sut))
    judge(
        "MQQB-3.1.2.8-01",
        "MQQB-3.1.6.7-01",
        "MQQB-3.1.6.7-02",
        "MQQB-3.1.5.8.2-11",
        expected=facts(before=[1, 2], after=[2]),
        observed={"before": seen[1.75], "after": seen[2.5]},
        evidence=sent,
    )
    judge("MQQB-3.1.6.7-03", expected=none("entry"), observed=seen[3.5], case="at the third expiry")


@covers("MQQB-3.1.2.8-01", "MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02", "MQQB-3.1.6.7-03")
@needs("set_timers", "restart", "receive")
def test_a_message_that_was_forgotten_is_taken_once_more(peer, sut, judge):
    """Of three messages that come twice, those whose first time is long enough ago are in their queue twice.

    The first starts the timer; the second comes before its first expiry and goes at the second, as does the third when
    it comes before the second and goes at the third. The first comes again while it is younger than the duration. One
    more message, while the timer runs, does not put it off.
    """
    sut.slow_down(FASTEST)
    sut.set_timers(message_id_history_cleanup_ms=CLEANUP_MS)
    sut.restart()
    starting = peer.open_raw().send(peer.recoverable_message(label="young"))

    def at(durations: float, packet: Any) -> Frame:
        peer.pass_time_until(starting, int(sut.duration_ms(CLEANUP_MS) * durations))
        return peer.open_raw().send(packet)

    again = [at(0.4, starting.data)]
    second = at(0.45, peer.recoverable_message(label="second"))
    third = at(1.45, peer.recoverable_message(label="third"))
    at(1.75, peer.recoverable_message(label="another"))
    again.append(at(2.5, second.data))
    again.append(at(3.5, third.data))

    def copies() -> list[int]:
        labels = [one["label"] for one in sut.messages()]
        return [labels.count(name) for name in ("young", "second", "third")]

    peer.eventually(lambda: copies() == [1, 2, 2])
    young, *old = copies()
    if [young, *old] != [1, 2, 2]:
        peer.took(starting).require_steady(_margin_ms(sut))
    evidence = [starting, second, third, *again]
    observed = {"young": young, "old": old[0]}
    judge(
        "MQQB-3.1.2.8-01",
        "MQQB-3.1.6.7-01",
        "MQQB-3.1.6.7-02",
        expected=facts(young=1, old=2),
        observed=observed,
        evidence=evidence,
    )
    judge("MQQB-3.1.6.7-03", expected=[2, 2], observed=old, case="copies of the old ones", evidence=evidence)


def _margin_ms(sut: Sut) -> int:
    """Return how much later what is sent or looked for may be: nothing comes nearer to an expiry than twice this."""
    return sut.duration_ms(CLEANUP_MS) // 10


def _present(sut: Sut, sent: list[Frame]) -> list[int]:
    """Return which messages have an entry in the history; 1 is the first."""
    return [number for number, message in enumerate(sent, 1) if history_entry(sut, message) is not None]
