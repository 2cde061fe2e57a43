"""Durations of the SUT, and the stalls that the pulse found: a slow system does not fail."""

from __future__ import annotations

from typing import Any

import pytest
from harness_made import frame, sut_file

from harness.capture.recorder import Recorder
from harness.environment.pulse import TIME_TO_SETTLE_AFTER_STALL_MS, LivenessMeasurement, StallOfSystem
from harness.errors import ConformanceFailure
from harness.peer.durations import Duration
from harness.peer.peer import Peer
from harness.sut.virtual_driver import VirtualDriver

DUE_MS = 1_000
"""The duration of a timer of SCALED_MS in ms, with the slack of virtual time (20 ms)."""
RANGE = (800, 1_020)


@pytest.fixture
def peer() -> Peer:
    sut = VirtualDriver(sut_file()).open("durations")
    return Peer(sut.environment, sut, Recorder(sut.environment, None), seed="durations")


def felt(peer: Peer, *stalls: tuple[int, int]) -> None:
    """Give the peer's environment a pulse that has found the given stalls, in ms of the recorder."""
    environment: Any = peer.environment
    began_ms = environment.now().monotonic_ms - peer.recorder.elapsed_ms()
    pulse = LivenessMeasurement(lambda: environment.now().monotonic_ms, tolerance_ms=100, limit_ms=30_000)
    pulse.stalls = [StallOfSystem(began_ms + first, began_ms + last) for first, last in stalls]
    environment.pulse = pulse


def measure(peer: Peer, since_ms: int, until_ms: int) -> Duration:
    return peer.measure_duration(since_ms, until_ms)


def by_timer(duration: Duration) -> tuple[int, int]:
    return duration.expect_timer_duration(DUE_MS * duration.sut.scale)


def test_elapsed_time_is_between_packet_times_and_now(peer: Peer) -> None:
    packet = frame(2)
    assert peer.measure_duration(3, 10).ms == 7
    assert peer.measure_duration(packet, packet.time_ms + 4).ms == 4
    peer.environment.run_until(lambda: False, 250)
    assert peer.measure_duration(50).ms == 200


@pytest.mark.parametrize("took_ms", [800, 1_000, 1_020])
def test_measured_duration_within_its_range_passes(peer: Peer, took_ms: int) -> None:
    assert measure(peer, 0, took_ms).describe_expiry(DUE_MS * peer.sut.scale) == "in time"


@pytest.mark.parametrize("took_ms", [10, 799, 1_021, 9_000])
def test_measured_duration_out_of_range_fails_without_stall(peer: Peer, took_ms: int) -> None:
    assert measure(peer, 0, took_ms).describe_expiry(DUE_MS * peer.sut.scale) == f"after {took_ms} ms"
    felt(peer)
    assert by_timer(measure(peer, 0, took_ms)) == RANGE


@pytest.mark.parametrize("took_ms", [450, 1_400])
def test_stall_during_a_duration_widens_the_allowed_range_by_its_length(peer: Peer, took_ms: int) -> None:
    felt(peer, (100, 400))
    widened = (RANGE[0] - 300 - TIME_TO_SETTLE_AFTER_STALL_MS, RANGE[1] + 300 + TIME_TO_SETTLE_AFTER_STALL_MS)
    assert by_timer(measure(peer, 0, took_ms)) == widened
    assert measure(peer, 0, took_ms).describe_expiry(DUE_MS * peer.sut.scale) == "in time"


def test_stall_does_not_change_the_range_of_a_duration_that_is_in_time(peer: Peer) -> None:
    felt(peer, (0, 5_000))
    assert by_timer(measure(peer, 0, 1_000)) == RANGE


def test_stall_that_began_before_the_first_packet_counts_completely(peer: Peer) -> None:
    felt(peer, (0, 400))
    assert measure(peer, 399, 1_000).stalled_ms == 400 + TIME_TO_SETTLE_AFTER_STALL_MS
    assert measure(peer, 400 + TIME_TO_SETTLE_AFTER_STALL_MS + 1, 1_000).stalled_ms == 0


STALLS = {
    "as long as the duration": (((0, 3_600),), 3_700),
    "too short for the difference": (((100, 200),), 5_000),
    "at another time of the check": (((6_000, 7_000),), 5_000),
}


@pytest.mark.parametrize("name", STALLS)
def test_failed_duration_that_a_stall_may_explain_is_inconclusive(peer: Peer, name: str) -> None:
    stalls, took_ms = STALLS[name]
    felt(peer, *stalls)
    with pytest.raises(ConformanceFailure, match="the SUT stalled for up to"):
        by_timer(measure(peer, 0, took_ms))


def test_duration_measured_by_sut_is_compared_like_own_measurement(peer: Peer) -> None:
    felt(peer, (100, 200))
    assert measure(peer, 0, 1_000).get_allowed_range(900, 1_100, observed=750) == (700, 1_300)
    with pytest.raises(ConformanceFailure):
        measure(peer, 0, 1_000).get_allowed_range(900, 1_100, observed=100)


def test_choice_among_several_durations_is_known_only_without_longer_stalls(peer: Peer) -> None:
    assert measure(peer, 0, 2_100).is_near_expected_duration(2_000, 250)
    assert not measure(peer, 0, 2_300).is_near_expected_duration(2_000, 250)
    felt(peer, (100, 1_000))
    with pytest.raises(ConformanceFailure):
        measure(peer, 0, 2_000).is_near_expected_duration(2_000, 250)
    felt(peer, (5_000, 6_000))
    assert measure(peer, 0, 2_000).is_near_expected_duration(2_000, 250)
    with pytest.raises(ConformanceFailure):
        measure(peer, 0, 3_000).is_near_expected_duration(2_000, 250)


def test_check_that_needs_exact_times_ends_when_the_sut_stalled(peer: Peer) -> None:
    felt(peer, (100, 400))
    measure(peer, 0, 1_000).require_duration_without_long_stall(400)
    measure(peer, 700, 1_000).require_duration_without_long_stall(0)
    with pytest.raises(ConformanceFailure, match="the tolerance is 399 ms"):
        measure(peer, 0, 1_000).require_duration_without_long_stall(399)
