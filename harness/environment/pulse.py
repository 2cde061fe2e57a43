"""Measure whether the system under test responds (its pulse). While the tester waits, it asks the system questions that
change nothing, and records whether the system answers them.

A system that is stopped, swapped out or migrated answers late, but breaks no rule. So the time during which the
system does not answer does not count as waiting time. A wait without a result ends only when the system has
answered a question that was asked after the timeout of the wait had expired.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

QUESTION_INTERVAL_MS = 100
"""int ms: the interval between two questions, and also the time from the start of a wait to the first question."""
TIME_TO_SETTLE_AFTER_STALL_MS = 100
"""int ms: the time that a system needs after a stall to finish its pending work."""

LENGTH_OF_EXTENDABLE_LAST_PART_OF_WAIT_MS = 5_000
"""int ms: the length of the last part of a wait. Only stalls in this part extend the wait. Before this part, the
system waits only for its timers, which continue to run during a stall.
"""


class QuestionChannel(Protocol):
    """The interface of a channel on which the system is asked questions. The questions change no state of the
    system.
    """

    def send_question(self, number: int) -> bool:
        """Send a question with a number, which the answer repeats. Return False if the question cannot be sent
        because the system does not listen.
        """

    def close(self) -> None:
        """Stop asking, and close the channel."""


@dataclass(slots=True)
class StallOfSystem:
    """A period in which the system answered no question of the pulse measurement."""

    began_ms: int
    ended_ms: int


class LivenessMeasurement:
    """The pulse measurement of the system. An answer that takes longer than ``tolerance_ms`` was delayed by a
    stall.

    ``limit_ms`` is the longest silence that counts as a stall. A system that is silent for longer counts as
    hanging.
    """

    def __init__(self, now_ms: Callable[[], int], *, tolerance_ms: int, limit_ms: int) -> None:
        self._now_ms = now_ms
        self._tolerance_ms = tolerance_ms
        self._hang_limit_ms = limit_ms
        self._channel: QuestionChannel | None = None
        self._open_channel: Callable[[], QuestionChannel] | None = None
        self._unanswered_questions: deque[tuple[int, int]] = deque()
        """The unanswered questions: for each question, its number and the time at which it was asked (int ms)."""
        self._number = 0
        self._last_question_ms = now_ms() - QUESTION_INTERVAL_MS
        """The time at which the last question was asked (int ms)."""
        self._last_answered_question = 0
        self._has_ever_answered = False
        self.stalls: list[StallOfSystem] = []
        self.hangs = False
        self.was_gone = False
        """Whether the system has been unreachable after it had answered at least once."""
        self._is_stopped = False

    def use_channel(self, open_channel: Callable[[], QuestionChannel]) -> LivenessMeasurement:
        """Set the function that opens the channel. The function is called before the first question."""
        self._open_channel = open_channel
        return self

    def begin(self) -> StallExtendedWait:
        """Begin a wait of a check; return the object that extends the wait by the stalls."""
        return StallExtendedWait(self, self._now_ms())

    def send_question(self) -> int:
        """Send a question to the system, and return the number of the question. A question that cannot be sent
        counts as answered.
        """
        now_ms = self._now_ms()
        if self._channel is None and self._open_channel is not None:
            self._channel = self._open_channel()
        self._number += 1
        self._last_question_ms = now_ms
        self._unanswered_questions.append((self._number, now_ms))
        if self._is_stopped or self._channel is None or not self._channel.send_question(self._number):
            self.was_gone |= self._has_ever_answered and not self._is_stopped
            self._unanswered_questions.clear()
            self._last_answered_question = self._number
        return self._number

    def note_answer(self, number: int) -> None:
        """Handle the answer to a question. The answer also counts as the answer to all earlier questions."""
        now_ms = self._now_ms()
        if self._unanswered_questions and self._unanswered_questions[0][0] <= number <= self._number:
            began_ms = self._unanswered_questions[0][1]
            if now_ms - began_ms > self._tolerance_ms:
                self.stalls = self._add_stall(began_ms, now_ms)
            self._last_answered_question, self._has_ever_answered, self.hangs = number, True, False
            while self._unanswered_questions and self._unanswered_questions[0][0] <= number:
                self._unanswered_questions.popleft()

    def stop_asking(self) -> None:
        """Send no more questions. This method is called when the system is stopped on purpose, so that its silence
        does not count as a stall.
        """
        self._is_stopped = True
        self.send_question()

    def has_answered(self, number: int) -> bool:
        """Return whether waiting for the answer to a question has ended, because the system has answered or because it
        hangs.
        """
        return self.hangs or self._last_answered_question >= number

    def send_due_question(self) -> None:
        """Send a question if the last question is at least ``QUESTION_INTERVAL_MS`` old."""
        if self._now_ms() - self._last_question_ms >= QUESTION_INTERVAL_MS:
            self.send_question()

    def measure_stalls_ms(self, from_ms: int, until_ms: int) -> int:
        """Return the total time (int ms) during which the system stalled within an interval.
        ``TIME_TO_SETTLE_AFTER_STALL_MS`` is added for each stall.
        """
        stalls = self._list_stalls()
        parts = [min(one.ended_ms, until_ms) - max(one.began_ms, from_ms) for one in stalls]
        return sum(part + TIME_TO_SETTLE_AFTER_STALL_MS for part in parts if part > 0)

    def sum_overlapping_stalls_ms(self, from_ms: int, until_ms: int) -> int:
        """Return the total length of all stalls that overlap an interval (int ms). The parts of these stalls
        outside the interval also count.
        """
        whole = ((one.began_ms, one.ended_ms + TIME_TO_SETTLE_AFTER_STALL_MS) for one in self._list_stalls())
        return sum(last_ms - first_ms for first_ms, last_ms in whole if first_ms <= until_ms and from_ms <= last_ms)

    @property
    def longest_stall_ms(self) -> int:
        """Return the length of the longest stall so far (int ms)."""
        return max((stall.ended_ms - stall.began_ms for stall in self._list_stalls()), default=0)

    def _list_stalls(self) -> list[StallOfSystem]:
        """Return all stalls, including the current one."""
        now_ms = self._now_ms()
        if (
            self.hangs
            or not self._unanswered_questions
            or now_ms - self._unanswered_questions[0][1] <= self._tolerance_ms
        ):
            return self.stalls
        if now_ms - self._unanswered_questions[0][1] > self._hang_limit_ms:
            self.hangs = True
            return self.stalls
        return self._add_stall(self._unanswered_questions[0][1], now_ms)

    def _add_stall(self, began_ms: int, ended_ms: int) -> list[StallOfSystem]:
        """Return the list of stalls with a new stall added. If the new stall overlaps the last stall, the two
        become one stall, because a single stall delays many answers.
        """
        if self.stalls and began_ms <= self.stalls[-1].ended_ms:
            return [*self.stalls[:-1], StallOfSystem(self.stalls[-1].began_ms, ended_ms)]
        return [*self.stalls, StallOfSystem(began_ms, ended_ms)]

    def close(self) -> None:
        """Send no more questions, and close the channel."""
        self.stalls = self._list_stalls()
        self._unanswered_questions.clear()
        if self._channel is not None:
            self._channel.close()


class StallExtendedWait:
    """One wait of a check. The wait is extended by the stalls that the pulse measurement finds."""

    def __init__(self, pulse: LivenessMeasurement, began_ms: int) -> None:
        self._pulse = pulse
        self._began_ms = began_ms
        self._last_question: int | None = None

    def compute_remaining_ms(self, now_ms: int, timeout_ms: int) -> int:
        """Return the time until the next question of the wait (int ms), or 0 when the wait is over."""
        pulse = self._pulse
        due_ms = self._began_ms + timeout_ms
        due_ms += pulse.measure_stalls_ms(
            max(self._began_ms, due_ms - LENGTH_OF_EXTENDABLE_LAST_PART_OF_WAIT_MS), now_ms
        )
        if now_ms < due_ms:
            self._last_question = None
            if now_ms - self._began_ms >= QUESTION_INTERVAL_MS:
                pulse.send_due_question()
            return min(due_ms - now_ms, QUESTION_INTERVAL_MS)
        if self._last_question is None:
            self._last_question = pulse.send_question()
        elif not pulse.has_answered(self._last_question):
            pulse.send_due_question()
        return 0 if pulse.has_answered(self._last_question) else QUESTION_INTERVAL_MS
