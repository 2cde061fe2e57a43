"""A plugin for ``PYTEST_PLUGINS``: what a virtual run asks keeps the control protocol's contract."""

from __future__ import annotations

from typing import Any

from harness.sut.control import VirtualControl
from harness.sut.control_schema import complaint_about_request

begin = VirtualControl.begin


def begin_by_contract(self: VirtualControl, verb: str, **arguments: Any) -> int:
    complaint = complaint_about_request({"id": 1, "verb": verb, **arguments})
    assert complaint is None, f"the harness asks {verb}: {complaint}"
    return begin(self, verb, **arguments)


VirtualControl.begin = begin_by_contract  # type: ignore[method-assign]
