"""The timeouts of a run: from the SUT file, and from the measured response times of the SUT."""

from __future__ import annotations

import pytest
from harness_made import sut_file

from harness.errors import UsageError
from harness.sut.sut_file import parse_sut_file
from harness.sut.timeouts import (
    LONGEST_TIMEOUT_MS,
    SpeedMeasurement,
    TimeoutsTable,
    compute_timeouts,
    describe_timeouts,
    measure_speed,
    report_timeouts,
)

TREE = {"sut": {"name": "x"}, "driver": {"kind": "external"}}


def test_fast_system_gets_the_default_timeouts():
    timeouts = compute_timeouts(TimeoutsTable(), controlled=True, speed=SpeedMeasurement((1, 2, 1, 9, 1)))
    assert (timeouts.response_ms, timeouts.quiet_ms, timeouts.scale(20)) == (3_000, 250, 20)


def test_slow_system_gets_longer_timeouts_and_slower_timers():
    timeouts = compute_timeouts(TimeoutsTable(), controlled=True, speed=SpeedMeasurement((1_500,) * 5))
    assert (timeouts.response_ms, timeouts.quiet_ms) == (6_000, 3_000)
    assert timeouts.scale(20) == 10


def test_stalled_system_is_awaited_by_its_pulse():
    speed = SpeedMeasurement((2, 3_600, 2, 2, 2))
    measured = compute_timeouts(TimeoutsTable(), controlled=True, speed=speed, is_pulse_measured=True)
    blind = compute_timeouts(TimeoutsTable(), controlled=True, speed=speed)
    assert (measured.response_ms, measured.quiet_ms) == (3_000, 250)
    assert (blind.response_ms, blind.quiet_ms) == (14_400, 7_200)
    assert measured.scale(20) == blind.scale(20) == 4


def test_measured_timeout_is_bounded():
    assert (
        compute_timeouts(TimeoutsTable(), controlled=True, speed=SpeedMeasurement((900_000,))).response_ms
        == LONGEST_TIMEOUT_MS
    )


def test_timeout_of_sut_file_overrides_measurement_and_factor_scales_defaults():
    table = parse_sut_file(TREE | {"timeouts": {"response_ms": 700, "factor": 2}}).timeouts
    timeouts = compute_timeouts(table, controlled=False, speed=SpeedMeasurement((1_500,)))
    assert (timeouts.response_ms, timeouts.quiet_ms, timeouts.connect_ms) == (700, 3_000, 12_000)


@pytest.mark.parametrize("table", [{"factor": 0}, {"response_ms": -1}, {"quiet_ms": 10_000_000}, {"respond_ms": 1}])
def test_invalid_timeout_value_gives_one_line_error(table: dict[str, object]):
    with pytest.raises(UsageError, match=r"timeouts\."):
        parse_sut_file(TREE | {"timeouts": table})


def test_timeouts_are_measured_by_default():
    assert sut_file().timeouts == TimeoutsTable()


def test_unanswered_control_verb_does_not_affect_measured_timeouts():
    assert measure_speed(lambda: None) is None


def test_timeout_report_names_the_slowest_system():
    timeouts = compute_timeouts(TimeoutsTable(), controlled=True)
    told = report_timeouts([None, SpeedMeasurement((1, 2, 3)), SpeedMeasurement((4, 5, 600))], timeouts)
    assert told["measured"] == {"median_ms": 5, "worst_ms": 600, "samples_ms": [4, 5, 600]}
    assert describe_timeouts(told).startswith("answers in 5 ms, at worst 600 ms; waits 3000 ms")
    assert describe_timeouts(report_timeouts([None], timeouts)).startswith("not measured")
