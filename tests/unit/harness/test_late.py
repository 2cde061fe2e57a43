"""An event that arrives after its timeout leads to an inconclusive verdict."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.peer.conversation import RawConversation
from harness.peer.peer import Peer
from harness.sut.timeouts import TimeoutsTable, compute_timeouts

RESPONSE_MS = 40
TIMEOUTS = compute_timeouts(TimeoutsTable(response_ms=RESPONSE_MS), controlled=True)


class Clock:
    """An environment in which an event occurs at a given time."""

    is_time_virtual = False

    def __init__(self, comes_at_ms: int) -> None:
        self.now_ms = 0
        self.comes_at_ms = comes_at_ms

    def now(self) -> Any:
        return SimpleNamespace(monotonic_ms=self.now_ms)

    def has_come(self) -> bool:
        return self.now_ms >= self.comes_at_ms

    def run_until(self, condition: Callable[[], bool], timeout_ms: int, *, exactly: bool = False) -> bool:
        ends_ms = self.now_ms + timeout_ms
        while not condition() and self.now_ms < ends_ms:
            self.now_ms += 1
        return condition()


def waited(comes_at_ms: int, within_ms: int | None = None) -> bool:
    clock = Clock(comes_at_ms)
    peer: Any = SimpleNamespace(
        environment=clock, sut=SimpleNamespace(timeouts=TIMEOUTS, response_timeout_ms=RESPONSE_MS)
    )
    return Peer.wait(peer, clock.has_come, within_ms, "an answer")


def test_answer_within_the_timeout_is_received():
    assert waited(RESPONSE_MS)


def test_late_answer_is_a_failure_with_its_delay():
    with pytest.raises(ConformanceFailure, match="an answer arrived after 43 ms; the timeout is 40 ms"):
        waited(RESPONSE_MS + 3)


def test_wait_for_a_missing_answer_returns_nothing():
    assert not waited(10 * RESPONSE_MS)


def test_wait_with_a_limit_of_the_check_reports_no_late_answer():
    assert not waited(RESPONSE_MS, within_ms=1)


def closing(comes_at_ms: int, within_ms: int | None = None, *, exactly: bool = False) -> bool:
    clock = Clock(comes_at_ms)

    class Record:
        @property
        def closed_by(self) -> str | None:
            return "sut" if clock.has_come() else None

    sut = SimpleNamespace(timeouts=TIMEOUTS, response_timeout_ms=RESPONSE_MS)
    peer: Any = SimpleNamespace(environment=clock, sut=sut)
    peer.wait = lambda *asked: Peer.wait(peer, *asked)
    conversation: Any = SimpleNamespace(peer=peer, record=Record(), closed_by_sut=clock.has_come())
    RawConversation.wait_closed(conversation, within_ms, exactly=exactly)
    return clock.has_come()


def test_connection_closed_after_the_timeout_counts_as_late_close():
    assert closing(RESPONSE_MS)
    assert not closing(10 * RESPONSE_MS)
    with pytest.raises(ConformanceFailure, match="the end of the connection arrived after 43 ms; the timeout is 40 ms"):
        closing(RESPONSE_MS + 3)


def test_watch_time_for_a_connection_close_can_be_set():
    assert not closing(RESPONSE_MS, RESPONSE_MS - 1)
    assert not closing(RESPONSE_MS, RESPONSE_MS - 1, exactly=True)
