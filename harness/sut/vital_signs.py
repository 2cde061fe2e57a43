"""Measure the vital signs of a system: its speed and its pulse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from harness.environment.pulse import LivenessMeasurement, QuestionChannel
from harness.environment.real import RealEnvironment
from harness.environment.wall_clock import WallClock
from harness.sut.pulse_channels import ControlPulseChannel, PingPulseChannel
from harness.sut.sut_file import SutFile
from harness.sut.timeouts import SLOW_ANSWER_FACTOR, SpeedMeasurement, compute_timeouts, measure_speed
from harness.sut.wires import ControlRoute
from reference_qm.surface.inputs import Endpoint

STALL_TOLERANCE_MS = 100
"""int ms: an answer whose duration exceeds the usual duration by more than this value counts as delayed by a stall."""

OpenQuestionChannel = Callable[[RealEnvironment, LivenessMeasurement], QuestionChannel]


class LivenessMonitor:
    """The vital signs of a system: its speed and its pulse. The speed (the duration of its answers) is measured when
    the run starts. The pulse (regular questions, whose answers reveal stalls) is measured during each test.
    """

    def __init__(self, file: SutFile) -> None:
        self.file = file
        self.speed: SpeedMeasurement | None = None
        self.timeouts = compute_timeouts(file.timeouts, controlled=file.control.kind != "none")
        self._open_channel: OpenQuestionChannel | None = None
        self._pulse_of_test: LivenessMeasurement | None = None
        """The pulse that was measured during the previous test."""
        self._clock: WallClock | None = None

    def measure_system(self, exchange: Callable[[], object], ping_port: int, control: ControlRoute | None) -> None:
        """Measure the system's speed, choose the channel that measures its pulse, and compute the timeouts."""
        self.speed = measure_speed(exchange)
        if self.speed is not None:
            self._open_channel = next(
                filter(self._answers_on_channel, self._list_pulse_channels(ping_port, control)), None
            )
        self.timeouts = compute_timeouts(
            self.file.timeouts,
            controlled=control is not None,
            speed=self.speed,
            is_pulse_measured=self._open_channel is not None,
        )

    def pulse(self, environment: RealEnvironment) -> LivenessMeasurement | None:
        """Begin to measure the pulse for a test. Return the measurement, or None if the pulse cannot be measured. If
        the previous test had a stall longer than the slowest answer so far, this stall becomes the slowest answer from
        which timeouts are computed.
        """
        if self._pulse_of_test is not None:
            worst_ms = max(self.timeouts.worst_ms, min(self._pulse_of_test.longest_stall_ms, self.timeouts.stall_ms))
            self.timeouts = replace(self.timeouts, worst_ms=worst_ms)
        self._clock = environment.wall_clock
        self._pulse_of_test = (
            None if self._open_channel is None else self._create_pulse(environment, self._open_channel)
        )
        return self._pulse_of_test

    def slow_timers_for_slow_system(self, wanted: bool) -> None:
        """Let timers run more slowly in the next test if ``wanted`` is true; otherwise, let them run at their usual
        speed.
        """
        self.timeouts = replace(self.timeouts, calm=wanted)

    @property
    def stall_ms(self) -> int:
        """int ms: the duration of the longest stall in the previous test."""
        return 0 if self._pulse_of_test is None else self._pulse_of_test.longest_stall_ms

    @property
    def clock_jump_ms(self) -> int:
        """int ms: the size of the largest clock jump in the previous test. It is measured only if the SUT and the
        tester share a clock.
        """
        return 0 if self._clock is None else self._clock.largest_jump_ms

    def _list_pulse_channels(self, ping_port: int, control: ControlRoute | None) -> Iterator[OpenQuestionChannel]:
        driver = self.file.driver
        if self.file.capabilities.get("ping", False):
            endpoint = Endpoint(driver.address, ping_port)
            yield lambda environment, pulse: PingPulseChannel(
                environment, endpoint, driver.peer_identifier, pulse.note_answer
            )
        if control is not None:
            yield lambda environment, pulse: ControlPulseChannel(environment, control, pulse.note_answer)

    def _answers_on_channel(self, channel: OpenQuestionChannel) -> bool:
        environment = RealEnvironment()
        try:
            pulse = self._create_pulse(environment, channel)
            question = pulse.send_question()
            return environment.run_until(lambda: pulse.has_answered(question), self.timeouts.control_ms)
        finally:
            environment.close()

    def _create_pulse(self, environment: RealEnvironment, channel: OpenQuestionChannel) -> LivenessMeasurement:
        usual_ms = self.speed.fastest_ms if self.speed else 0
        pulse = LivenessMeasurement(
            lambda: environment.now().monotonic_ms,
            tolerance_ms=STALL_TOLERANCE_MS + SLOW_ANSWER_FACTOR * usual_ms,
            limit_ms=self.timeouts.stall_ms,
        )
        return pulse.use_channel(lambda: channel(environment, pulse))
