"""Verbs of the control channel of which the answer is what is judged: taken or refused, and with which outcome."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import Sut

ANSWER_MS = 10_000
OK, REFUSED = "taken", "refused"


def ask(sut: Sut, peer: Peer, verb: str, **arguments: Any) -> str:
    """Ask for something; return whether it is done or refused. ConformanceFailure when no answer comes."""
    return OK if _answer(sut, peer, verb, arguments).get("ok") else REFUSED


def outcome(sut: Sut, peer: Peer, verb: str, **arguments: Any) -> str:
    """Ask what becomes of a transaction; return that, or that it is refused."""
    answer = _answer(sut, peer, verb, arguments)
    return str(answer["outcome"]) if answer.get("ok") else REFUSED


def _answer(sut: Sut, peer: Peer, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
    number = sut.control.begin(verb, **arguments)
    answers: list[dict[str, Any]] = []

    def came() -> bool:
        answer = sut.control.answer(number)
        if answer is not None:
            answers.append(answer)
        return bool(answers)

    if not peer.environment.run_until(came, ANSWER_MS):
        raise ConformanceFailure(f"the SUT's control channel did not answer {verb}")
    return answers[0]
