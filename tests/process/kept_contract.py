"""A plugin for ``PYTEST_PLUGINS``: every request of a virtual run must keep the contract of the control protocol."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from harness.sut.control import VirtualControl
from harness.sut.control_schema import find_error_in_request

begin = VirtualControl.begin


@cache
def of_request(text: str) -> str | None:
    """Return the complaint about a request. The result is cached, because most requests occur repeatedly."""
    return find_error_in_request(json.loads(text))


def begin_by_contract(self: VirtualControl, verb: str, **arguments: Any) -> int:
    complaint = of_request(json.dumps({"id": 1, "verb": verb, **arguments}, sort_keys=True))
    assert complaint is None, f"the harness asks {verb}: {complaint}"
    return begin(self, verb, **arguments)


VirtualControl.begin = begin_by_contract  # type: ignore[method-assign]
