"""The SUT as sender: the errors of a check in which the SUT sends no message."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from suites.mqqb.steps.sender import Sender


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (None, "the SUT opened no connection on which it could send its messages"),
        (
            SimpleNamespace(received=[SimpleNamespace(kind="Ping")]),
            "a connection from the SUT began with Ping instead of EstablishConnection and ConnectionParameters",
        ),
        (
            SimpleNamespace(received=[]),
            "a connection from the SUT began with nothing instead of EstablishConnection and ConnectionParameters",
        ),
    ],
)
def test_sender_without_a_session_of_the_sut_fails_with_the_observation(
    monkeypatch: pytest.MonkeyPatch, session: Any, said: str
):
    monkeypatch.setattr(Sender, "poll_session", lambda self: session)
    with pytest.raises(ConformanceFailure) as missed:
        Sender.__new__(Sender).await_session()
    assert str(missed.value) == said
