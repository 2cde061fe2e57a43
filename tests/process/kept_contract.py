"""A plugin for ``PYTEST_PLUGINS``: what a virtual run asks and is answered keeps the control protocol's contract."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from harness.sut.control import VirtualControl
from harness.sut.control_schema import complaint_about_answer, complaint_about_request

begin, answer = VirtualControl.begin, VirtualControl.answer
verbs: dict[tuple[int, int], str] = {}


@cache
def of_request(text: str) -> str | None:
    """Return the complaint about a request; most are made again and again."""
    return complaint_about_request(json.loads(text))


@cache
def of_answer(verb: str, text: str) -> str | None:
    return complaint_about_answer(verb, json.loads(text))


def begin_by_contract(self: VirtualControl, verb: str, **arguments: Any) -> int:
    complaint = of_request(json.dumps({"id": 1, "verb": verb, **arguments}, sort_keys=True))
    assert complaint is None, f"the harness asks {verb}: {complaint}"
    number = begin(self, verb, **arguments)
    verbs[id(self), number] = verb
    return number


def answer_by_contract(self: VirtualControl, request: int) -> dict[str, Any] | None:
    reply = answer(self, request)
    if reply is not None:
        verb = verbs.pop((id(self), request))
        assert type(reply["id"]) is int
        complaint = of_answer(verb, json.dumps(reply | {"id": 1}, sort_keys=True))
        assert complaint is None, f"the reference answers {verb}: {complaint}"
    return reply


VirtualControl.begin, VirtualControl.answer = begin_by_contract, answer_by_contract  # type: ignore[method-assign]
