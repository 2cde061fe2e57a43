"""A plugin for ``PYTEST_PLUGINS``: what a virtual run asks and is answered keeps the control protocol's contract."""

from __future__ import annotations

from typing import Any

from harness.sut.control import VirtualControl
from harness.sut.control_schema import complaint_about_answer, complaint_about_request

begin, answer = VirtualControl.begin, VirtualControl.answer
verbs: dict[tuple[int, int], str] = {}


def begin_by_contract(self: VirtualControl, verb: str, **arguments: Any) -> int:
    complaint = complaint_about_request({"id": 1, "verb": verb, **arguments})
    assert complaint is None, f"the harness asks {verb}: {complaint}"
    number = begin(self, verb, **arguments)
    verbs[id(self), number] = verb
    return number


def answer_by_contract(self: VirtualControl, request: int) -> dict[str, Any] | None:
    reply = answer(self, request)
    if reply is not None:
        verb = verbs.pop((id(self), request))
        complaint = complaint_about_answer(verb, reply)
        assert complaint is None, f"the reference answers {verb}: {complaint}"
    return reply


VirtualControl.begin, VirtualControl.answer = begin_by_contract, answer_by_contract  # type: ignore[method-assign]
