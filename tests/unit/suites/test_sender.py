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


class _ArrivedMessage:
    """A message that arrived on a session which is still open."""

    connection = SimpleNamespace(closed_by=None, sut_role="acceptor")


def test_collected_message_does_not_identify_the_session_used_next(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("suites.mqqb.steps.sender.is_order_or_final_ack", lambda frame: False)
    arrived: list[Any] = [_ArrivedMessage()]
    inbox = SimpleNamespace(find=lambda meant: list(filter(meant, arrived)), conversation=lambda frame: "the session")
    peer = SimpleNamespace(inbox=inbox, wait=lambda *arguments: None, listen=lambda **options: None, address="a")
    sender = Sender(peer, SimpleNamespace())  # type: ignore[arg-type]
    sender.collect_messages(SimpleNamespace(messages=list(arrived), record=SimpleNamespace(closed_by=None)), 1)  # type: ignore[arg-type]
    assert sender._find_new_open_session() is None
    arrived.append(_ArrivedMessage())
    assert sender._find_new_open_session() == "the session"
