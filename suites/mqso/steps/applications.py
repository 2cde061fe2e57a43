"""Applications beside the system: what they send to its queues, and how their requests end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.peer.peer import Peer
from harness.sut.control import ControlRefused
from harness.sut.sut import Sut
from suites.mqqb.steps.sender import eventually

DONE, REFUSED, NOTHING = "done", "refused", "nothing"


def to_queue(sut: Sut, queue: str) -> str:
    """Return the direct format name of a queue of the SUT by its path name."""
    return f"DIRECT=TCP:{sut.address}\\{queue}"


def send_here(sut: Sut, queue: str, labels: Iterable[str], **fields: Any) -> None:
    """Let an application send messages with these labels to a queue of the SUT."""
    for label in labels:
        sut.send(to_queue(sut, queue), label=label, body=label, **fields)


def tried(action: Callable[[], object]) -> str:
    """Do something; say whether it was done or refused."""
    try:
        action()
    except ControlRefused:
        return REFUSED
    return DONE


def asked(sut: Sut, verb: str, **arguments: Any) -> str:
    """Ask for something; say whether it was done or refused."""
    return tried(lambda: sut.control.call(verb, **arguments))


def received(sut: Sut, verb: str = "receive", **where: Any) -> str:
    """Read a message that should be there at once; return its label, or ``NOTHING``."""
    message = sut.control.call(verb, timeout_ms=0, **where)["message"]
    return NOTHING if message is None else str(message["label"])


class Waiting:
    """A read that waits."""

    def __init__(self, peer: Peer, sut: Sut, verb: str = "receive", *, timeout_ms: int, **where: Any) -> None:
        self.peer = peer
        self.sut = sut
        self.number = sut.control.begin(verb, timeout_ms=timeout_ms, **where)
        self._answer: dict[str, Any] | None = None

    def _answered(self) -> bool:
        self._answer = self._answer or self.sut.control.answer(self.number)
        return self._answer is not None

    def brought(self) -> str:
        """Wait for its answer; say which message it brought."""
        eventually(self.peer, self._answered)
        if self._answer is None:
            return "no answer"
        if not self._answer.get("ok"):
            return REFUSED
        message = self._answer.get("message")
        return NOTHING if message is None else str(message["label"])
