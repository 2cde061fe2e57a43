"""The pulse of the system under test: whether it answers while the tester waits.

A system that was stopped, swapped out or moved answers late, which does not make it wrong. So a wait does not count
time without answers, and ends without a result only when the system has answered a question that was asked after the
end of the wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

BEAT_MS = 100
"""From one question to the next, and how long a wait may last before the first."""
SETTLE_MS = 100
"""The time that a system needs after a stall to finish its pending work."""

REACTION_MS = 5_000
"""The end of a wait, in which a system has to run. Before that timers run, as they do while it stands still."""


class Channel(Protocol):
    """A way to ask the system something harmless."""

    def ask(self, number: int) -> bool:
        """Ask; the answer will name the number. False when the question cannot be sent, because the system does not
        listen.
        """

    def close(self) -> None:
        """Ask no more."""


@dataclass(slots=True)
class Stall:
    """A time in which the system answered nothing."""

    began_ms: int
    ended_ms: int


class Pulse:
    """The known pulse of the system. ``tolerance_ms``: a slower answer means that a stall delayed it.

    ``limit_ms``: the longest stall that is believed to be one; a system that answers nothing for longer hangs.
    """

    def __init__(self, now_ms: Callable[[], int], *, tolerance_ms: int, limit_ms: int) -> None:
        self._now_ms = now_ms
        self._tolerance_ms = tolerance_ms
        self._limit_ms = limit_ms
        self._channel: Channel | None = None
        self._open_channel: Callable[[], Channel] | None = None
        self._asked: deque[tuple[int, int]] = deque()
        """Numbers of the questions that wait for an answer, with their times."""
        self._number = 0
        self._asked_ms = now_ms() - BEAT_MS
        """When it was asked last."""
        self._answered = 0
        self._answered_once = False
        self.stalls: list[Stall] = []
        self.hangs = False
        self.was_gone = False
        """Whether the system was not reachable for a time, after it had answered."""
        self._rests = False

    def through(self, open_channel: Callable[[], Channel]) -> Pulse:
        """Ask through a channel, which is opened with the first question."""
        self._open_channel = open_channel
        return self

    def begin(self) -> Wait:
        """Begin a wait."""
        return Wait(self, self._now_ms())

    def ask(self) -> int:
        """Ask the system; return the number of the question. A question that cannot be sent counts as answered."""
        now_ms = self._now_ms()
        if self._channel is None and self._open_channel is not None:
            self._channel = self._open_channel()
        self._number += 1
        self._asked_ms = now_ms
        self._asked.append((self._number, now_ms))
        if self._rests or self._channel is None or not self._channel.ask(self._number):
            self.was_gone |= self._answered_once and not self._rests
            self._asked.clear()
            self._answered = self._number
        return self._number

    def note_answer(self, number: int) -> None:
        """Take an answer: it stands for every question before it."""
        now_ms = self._now_ms()
        if self._asked and self._asked[0][0] <= number <= self._number:
            began_ms = self._asked[0][1]
            if now_ms - began_ms > self._tolerance_ms:
                self.stalls = self._with_stall(began_ms, now_ms)
            self._answered, self._answered_once, self.hangs = number, True, False
            while self._asked and self._asked[0][0] <= number:
                self._asked.popleft()

    def rest(self) -> None:
        """Stop asking: the system is stopped on purpose, and its silence is not a stall."""
        self._rests = True
        self.ask()

    def has_answered(self, number: int) -> bool:
        """Return whether a question was answered, or will never be."""
        return self.hangs or self._answered >= number

    def beat(self) -> None:
        """Ask, unless it was done a moment ago."""
        if self._now_ms() - self._asked_ms >= BEAT_MS:
            self.ask()

    def stalled_ms(self, from_ms: int, until_ms: int) -> int:
        """Return how much of a time the system answered nothing in, with the time that it then needs to settle."""
        stalls = self._all_stalls()
        parts = [min(one.ended_ms, until_ms) - max(one.began_ms, from_ms) for one in stalls]
        return sum(part + SETTLE_MS for part in parts if part > 0)

    def touching_ms(self, from_ms: int, until_ms: int) -> int:
        """Return the total length of the stalls that overlap a time, including their parts before and after it."""
        whole = ((one.began_ms, one.ended_ms + SETTLE_MS) for one in self._all_stalls())
        return sum(last_ms - first_ms for first_ms, last_ms in whole if first_ms <= until_ms and from_ms <= last_ms)

    @property
    def longest_ms(self) -> int:
        """Return the longest stall so far."""
        return max((stall.ended_ms - stall.began_ms for stall in self._all_stalls()), default=0)

    def _all_stalls(self) -> list[Stall]:
        """Return the stalls, with the current one."""
        now_ms = self._now_ms()
        if self.hangs or not self._asked or now_ms - self._asked[0][1] <= self._tolerance_ms:
            return self.stalls
        if now_ms - self._asked[0][1] > self._limit_ms:
            self.hangs = True
            return self.stalls
        return self._with_stall(self._asked[0][1], now_ms)

    def _with_stall(self, began_ms: int, ended_ms: int) -> list[Stall]:
        """Return the stalls and another; it is one with the last if they meet: many questions wait in one stall."""
        if self.stalls and began_ms <= self.stalls[-1].ended_ms:
            return [*self.stalls[:-1], Stall(self.stalls[-1].began_ms, ended_ms)]
        return [*self.stalls, Stall(began_ms, ended_ms)]

    def close(self) -> None:
        """Ask no more."""
        self.stalls = self._all_stalls()
        self._asked.clear()
        if self._channel is not None:
            self._channel.close()


class Wait:
    """One wait of a check, extended by the stalls that the pulse shows."""

    def __init__(self, pulse: Pulse, began_ms: int) -> None:
        self._pulse = pulse
        self._began_ms = began_ms
        self._last_question: int | None = None

    def left_ms(self, now_ms: int, timeout_ms: int) -> int:
        """Return how long to wait before asking again; 0 when the wait is over."""
        pulse = self._pulse
        due_ms = self._began_ms + timeout_ms
        due_ms += pulse.stalled_ms(max(self._began_ms, due_ms - REACTION_MS), now_ms)
        if now_ms < due_ms:
            self._last_question = None
            if now_ms - self._began_ms >= BEAT_MS:
                pulse.beat()
            return min(due_ms - now_ms, BEAT_MS)
        if self._last_question is None:
            self._last_question = pulse.ask()
        elif not pulse.has_answered(self._last_question):
            pulse.beat()
        return 0 if pulse.has_answered(self._last_question) else BEAT_MS
