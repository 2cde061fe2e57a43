"""The pulse of a system: a wait does not count the time in which the system answers no request."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from patience import PATIENCE_S

from harness.environment import RealEnvironment
from harness.environment.pulse import (
    LENGTH_OF_EXTENDABLE_LAST_PART_OF_WAIT_MS,
    QUESTION_INTERVAL_MS,
    TIME_TO_SETTLE_AFTER_STALL_MS,
    LivenessMeasurement,
)
from reference_qm.surface.inputs import Endpoint

TOLERANCE_MS, LIMIT_MS = 50, 5_000


class Clock:
    """A clock that the test advances, and a system that answers requests only while ``runs`` is true."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.runs = True
        self.there = True
        self.pulse = LivenessMeasurement(lambda: self.now_ms, tolerance_ms=TOLERANCE_MS, limit_ms=LIMIT_MS).use_channel(
            lambda: self
        )
        self.asked: list[int] = []
        self.questions = 0
        self.closed = False

    def send_question(self, number: int) -> bool:
        self.asked.append(number)
        self.questions += 1
        if self.runs and self.there:
            self.answer_all()
        return self.there

    def answer_all(self) -> None:
        """Answer all open requests in their order, as a stopped system does when it continues."""
        while self.asked:
            self.pulse.note_answer(self.asked.pop(0))

    def close(self) -> None:
        self.closed = True

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms

    def wait(self, timeout_ms: int, runs: Callable[[int], bool]) -> int:
        """Wait for an event that never occurs, and return the duration. The system runs at the times for which ``runs``
        returns True.
        """
        began_ms, wait = self.now_ms, self.pulse.begin()
        while True:
            was, self.runs = self.runs, runs(self.now_ms)
            if self.runs and not was:
                self.answer_all()
            if not wait.compute_remaining_ms(self.now_ms, timeout_ms):
                return self.now_ms - began_ms
            self.pass_time(1)


def test_wait_for_a_responsive_system_takes_its_timeout():
    assert Clock().wait(1_000, lambda now_ms: True) == 1_000


def test_pulse_sends_one_question_at_a_time():
    clock = Clock()
    clock.wait(1_000, lambda now_ms: True)
    assert clock.questions <= 1_000 // QUESTION_INTERVAL_MS + 1


def test_stall_does_not_count_as_waiting_time():
    took_ms = Clock().wait(1_000, lambda now_ms: not 500 <= now_ms < 2_500)
    assert 3_000 - QUESTION_INTERVAL_MS <= took_ms <= 3_000 + QUESTION_INTERVAL_MS + 2 * TIME_TO_SETTLE_AFTER_STALL_MS


def test_mostly_stalled_system_is_awaited_by_its_running_time():
    clock = Clock()
    took_ms = clock.wait(1_000, lambda now_ms: now_ms % 2_000 >= 1_500)
    assert 3_500 <= took_ms <= 6_000
    assert clock.pulse.longest_stall_ms <= 1_500


def test_timers_of_the_tester_run_while_the_system_stalls():
    took_ms = Clock().wait(60_000, lambda now_ms: now_ms % 2_000 >= 1_500)
    assert (
        60_000 + 2 * LENGTH_OF_EXTENDABLE_LAST_PART_OF_WAIT_MS
        <= took_ms
        <= 60_000 + 5 * LENGTH_OF_EXTENDABLE_LAST_PART_OF_WAIT_MS
    )


def test_wait_is_prolonged_until_the_stalled_system_answers():
    took_ms = Clock().wait(1_000, lambda now_ms: not 950 <= now_ms < 3_000)
    assert 3_000 <= took_ms <= 3_000 + TIME_TO_SETTLE_AFTER_STALL_MS + QUESTION_INTERVAL_MS


def test_system_silent_beyond_limit_counts_as_hanging_and_is_not_awaited():
    clock = Clock()
    took_ms = clock.wait(1_000, lambda now_ms: now_ms < 200)
    assert clock.pulse.hangs
    assert LIMIT_MS <= took_ms <= LIMIT_MS + 1_000
    assert clock.wait(1_000, lambda now_ms: False) == 1_000


def test_pulse_resumes_for_a_system_that_answers_after_hanging():
    clock = Clock()
    clock.wait(1_000, lambda now_ms: False)
    clock.answer_all()
    assert not clock.pulse.hangs


def test_system_with_unreachable_pulse_does_not_count_as_stalled():
    clock = Clock()
    clock.there = False
    assert clock.wait(1_000, lambda now_ms: False) == 1_000


def test_pulse_records_stalls():
    clock = Clock()
    clock.wait(1_000, lambda now_ms: not 500 <= now_ms < 2_500)
    assert clock.pulse.measure_stalls_ms(0, 400) == 0
    assert (
        1_900
        <= clock.pulse.measure_stalls_ms(0, clock.now_ms)
        <= 2_000 + QUESTION_INTERVAL_MS + 2 * TIME_TO_SETTLE_AFTER_STALL_MS
    )
    assert 400 <= clock.pulse.measure_stalls_ms(1_000, 1_400) <= 400 + TIME_TO_SETTLE_AFTER_STALL_MS


@pytest.fixture
def environment():
    made = RealEnvironment()
    yield made
    made.close()


class Mute:
    """A channel that never answers."""

    def send_question(self, number: int) -> bool:
        return True

    def close(self) -> None: ...


def test_exact_wait_uses_clock_of_tester(environment: RealEnvironment):
    limit_ms = PATIENCE_S * 1_000
    environment.pulse = LivenessMeasurement(
        lambda: environment.now().monotonic_ms, tolerance_ms=1, limit_ms=limit_ms
    ).use_channel(Mute)
    began_ms = environment.now().monotonic_ms
    assert not environment.run_until(lambda: False, 20, exactly=True)
    assert environment.now().monotonic_ms - began_ms < limit_ms


def test_datagram_received_while_tester_was_suspended_is_processed(environment: RealEnvironment):
    class Ear:
        heard = b""

        def on_datagram(self, remote: Endpoint, data: bytes) -> None:
            self.heard = data

    ear = Ear()
    there = environment.open_udp_port(Endpoint("127.0.0.1", 0), ear)
    here = environment.open_udp_port(Endpoint("127.0.0.1", 0), Ear())
    here.send(there.endpoint, b"x")
    assert environment.run_until(lambda: bool(ear.heard), 0)


def test_system_stopped_on_purpose_does_not_count_as_stalled():
    clock = Clock()
    clock.wait(1_000, lambda now_ms: True)
    clock.pulse.stop_asking()
    assert clock.wait(1_000, lambda now_ms: False) == 1_000
    assert (clock.pulse.stalls, clock.pulse.longest_stall_ms, clock.pulse.was_gone) == ([], 0, False)
