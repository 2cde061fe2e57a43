"""When the machine's clock jumps during a run, recorded times continue without a jump, and no verdict depends on the
jump.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.environment import RealEnvironment, wall_clock
from harness.judging.verdicts import Verdict, VerdictEntry, VerdictLog
from harness.run.attempts import AttemptDisturbances, choose_result_of_attempts

HOUR_NS = 3_600 * 1_000_000_000


class Machine:
    """The two clocks of a machine; only the time of day can be set."""

    def __init__(self) -> None:
        self.passed_ns = 5_000_000_000
        self.set_ns = 1_700_000_000 * 1_000_000_000

    def monotonic_ns(self) -> int:
        return self.passed_ns

    def time_ns(self) -> int:
        return self.set_ns + self.passed_ns


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(wall_clock, "time", made)
    monkeypatch.setattr(wall_clock, "_CLOCK_OFFSET_AT_PROCESS_START_NS", made.set_ns)
    return made


@pytest.fixture(params=[True, False], ids=["here", "elsewhere"])
def environment(request: pytest.FixtureRequest, machine: Machine) -> Iterator[RealEnvironment]:
    made = RealEnvironment(shares_clock=request.param)
    yield made
    made.close()


@pytest.mark.parametrize("jump_ns", [HOUR_NS, -HOUR_NS])
@pytest.mark.parametrize("environment", [False], indirect=True)
def test_clock_jump_keeps_the_time_for_a_remote_system(
    environment: RealEnvironment, machine: Machine, jump_ns: int
) -> None:
    before_s, before_us = environment.now().utc_s, environment.epoch_us()
    machine.set_ns += jump_ns
    machine.passed_ns += 2_000_000_000
    assert (environment.now().utc_s, environment.epoch_us()) == (before_s + 2, before_us + 2_000_000)
    assert environment.wall_clock.largest_jump_ms == 0


@pytest.mark.parametrize("jump_ns", [HOUR_NS, -HOUR_NS])
@pytest.mark.parametrize("environment", [True], indirect=True)
def test_local_system_follows_clock_jump_and_jump_is_reported(
    environment: RealEnvironment, machine: Machine, jump_ns: int
) -> None:
    before_s, before_us = environment.now().utc_s, environment.epoch_us()
    machine.set_ns += jump_ns
    assert environment.now().utc_s == before_s + jump_ns // 1_000_000_000
    assert environment.epoch_us() == before_us, "frames stay in order"
    machine.set_ns -= jump_ns
    assert environment.now().utc_s == before_s
    assert environment.wall_clock.largest_jump_ms == 3_600_000, "also when it is set right again"


@pytest.mark.parametrize("environment", [True], indirect=True)
def test_a_clock_that_is_slowly_put_right_does_not_jump(environment: RealEnvironment, machine: Machine) -> None:
    machine.set_ns -= 400_000_000
    environment.now()
    assert environment.wall_clock.largest_jump_ms == 0


def test_waits_use_monotonic_clock_during_clock_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait of 20 ms takes 20 ms, although the time of day advances by an hour at each query."""
    jumping = SimpleNamespace(hours=0, monotonic_ns=wall_clock.time.monotonic_ns)

    def time_ns() -> int:
        jumping.hours += 1
        return int(jumping.hours * HOUR_NS)

    jumping.time_ns = time_ns
    monkeypatch.setattr(wall_clock, "time", jumping)
    environment = RealEnvironment()
    began_ms = environment.now().monotonic_ms
    assert not environment.run_until(lambda: False, 20)
    assert 20 <= environment.now().monotonic_ms - began_ms < HOUR_NS / 1_000_000
    assert environment.wall_clock.largest_jump_ms >= 3_600_000
    environment.close()


def test_verdict_times_increase_despite_a_clock_set_back(tmp_path: Path, machine: Machine) -> None:
    log = VerdictLog(tmp_path / "verdicts.jsonl", datetime.fromtimestamp(machine.time_ns() / 1e9, UTC))
    for jump_ns in (0, -HOUR_NS):
        machine.set_ns += jump_ns
        machine.passed_ns += 1_000_000_000
        log.append(VerdictEntry("MQQB-2.2.2-02", "MQQB", "2.2.2", "MUST", Verdict.PASS, expected="x", observed="x"))
    log.close()
    lines = (tmp_path / "verdicts.jsonl").read_text().splitlines()
    assert ['"ms":1000,' in lines[0], '"ms":2000,' in lines[1]] == [True, True]


def test_failure_only_during_clock_jump_does_not_count() -> None:
    miss = VerdictEntry("MQMQ-2.2.19.1-20", "MQMQ", "2.2.19.1", "MUST", Verdict.FAIL, expected="x", observed="y")
    other = VerdictEntry("MQMQ-2.2.19.1-21", "MQMQ", "2.2.19.1", "MUST", Verdict.FAIL, expected="x", observed="y")
    ((stays,), _) = choose_result_of_attempts([([miss], []), ([other], [])], AttemptDisturbances(0, 3_600_000))
    assert stays.verdict is Verdict.INCONCLUSIVE
    assert stays.reason == (
        "the clock of this machine jumped by 3,600 s, in 2 attempts, and not every attempt failed this rule"
    )
