"""A system may give up a session on which the peer acknowledged nothing; messages that are then missing make no rule
fail.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from suites.mqqb.steps.sender import ACK_TIMEOUT_MS, require_session_not_timed_out

SCALE = 20
TIMER_MS = ACK_TIMEOUT_MS // SCALE


def raises(says: str) -> AbstractContextManager[object]:
    return pytest.raises(ConformanceFailure, match=says)


@pytest.mark.parametrize(
    ("said_ms", "closed_ms", "closed_by", "outcome"),
    [
        ([0, 10], None, None, nullcontext()),
        ([0, 10], 20, "sut", nullcontext()),
        ([0, 10], 10 + TIMER_MS, "sut", raises("the SUT ended the session, on which .* for 1,000 ms")),
        ([0, 10, 10 + TIMER_MS], 20 + TIMER_MS, "sut", raises("the SUT ended")),  # an acknowledgment that came too late
        ([0, 10], 20, "peer", raises("the peer ended the session")),
    ],
    ids=[
        "open",
        "closed at once",
        "closed in silence",
        "closed when it was acknowledged at last",
        "closed by the peer",
    ],
)
def test_given_up_session_by_silence_decides_no_rule(
    said_ms: list[int], closed_ms: int | None, closed_by: str | None, outcome: AbstractContextManager[object]
) -> None:
    sut = SimpleNamespace(duration_ms=lambda specified_ms: specified_ms // SCALE)
    session: Any = SimpleNamespace(
        sent=[SimpleNamespace(time_ms=ms) for ms in said_ms],
        record=SimpleNamespace(closed_at_ms=closed_ms, closed_by=closed_by),
        closed_by_sut=closed_by == "sut",
        peer=SimpleNamespace(sut=sut),
    )
    with outcome:
        require_session_not_timed_out(session)
