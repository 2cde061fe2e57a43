"""A plugin for ``PYTEST_PLUGINS``: some answers of a virtual system break the control protocol.

``MANGLED``: the kinds of mistakes; all kinds if the variable is missing. The mistakes of a check are random, but the
same in every run.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from harness.sut import control
from harness.sut.control_schema import find_error_in_answer

PART = 0.25
"""Of the answers."""
BELIEVED_ONLY_WHOLE = ("identity", "environment")
"""The verbs whose answers are never changed, because a run ends after a wrong answer to them."""


def nested() -> list[Any]:
    found: list[Any] = []
    for _ in range(60):
        found = [found]
    return found


class Kind(NamedTuple):
    fits: Callable[[Any], bool]
    wrong: Callable[[Any], Any]


def is_integer(value: Any) -> bool:
    return type(value) is int


def is_text(value: Any) -> bool:
    return isinstance(value, str)


KINDS = {
    "text-for-integer": Kind(is_integer, str),
    "integer-for-text": Kind(is_text, lambda old: 7),
    "null": Kind(lambda old: True, lambda old: None),
    "list-for-object": Kind(lambda old: isinstance(old, dict), lambda old: []),
    "object-for-list": Kind(lambda old: isinstance(old, list), lambda old: {}),
    "missing": Kind(lambda old: True, lambda old: MISSING),
    "text-for-list": Kind(lambda old: isinstance(old, list), lambda old: "list"),
    "long-text": Kind(is_text, lambda old: "x" * 200_000),
    "nested-list": Kind(lambda old: True, lambda old: nested()),
    "true-for-integer": Kind(is_integer, lambda old: True),
    "fraction": Kind(is_integer, lambda old: 1.5),
    "far-too-small": Kind(is_integer, lambda old: -(2**70)),
}
MISSING = object()
CHOSEN = os.environ.get("MANGLED", ",".join(KINDS)).split(",")

rng = random.Random()
believed = control._check_reply


def places(value: Any, owner: Any = None, name: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield each value of an answer as its container and its key in this container."""
    if owner is not None:
        yield owner, name
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for each, part in named:
        if owner is not None or each not in ("id", "ok"):
            yield from places(part, value, each)


def mangled(answer: dict[str, Any]) -> dict[str, Any]:
    """Change one value of an answer, if a value fits the kind of mistake; return the answer."""
    kind = KINDS[rng.choice(CHOSEN)]
    changed: dict[str, Any] = json.loads(json.dumps(answer))
    fitting = [(owner, name) for owner, name in places(changed) if kind.fits(owner[name])]
    if fitting:
        owner, name = rng.choice(fitting)
        owner[name] = kind.wrong(owner[name])
        if owner[name] is MISSING:
            del owner[name]
    return changed


def believed_less(verb: str, reply: dict[str, Any]) -> dict[str, Any]:
    if verb not in BELIEVED_ONLY_WHOLE and reply["ok"] is True and rng.random() < PART:
        wrong = mangled(reply)
        if find_error_in_answer(verb, wrong) is not None:  # a legal value that is not true is no matter of the contract
            return believed(verb, wrong)
    return believed(verb, reply)


control._check_reply = believed_less


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    rng.seed(item.nodeid)
