"""A plugin for ``PYTEST_PLUGINS``: in each check, the virtual system does not support one verb or one argument.

A random number for each verb and argument of the check decides which one. ``UNSUPPORTED``: the seed of these numbers.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from harness.sut.control import Unsupported, VirtualControl

PART = 0.15
NEVER = ("identity", "cancel")
"""The verbs that every agent supports."""
SEED = os.environ.get("UNSUPPORTED", "")

rng = random.Random()
met: dict[tuple[str, str], bool] = {}
"""Whether a verb and argument are unsupported in this check; the argument "" stands for the verb itself."""
begin, call = VirtualControl.begin, VirtualControl.call


def refuse(verb: str, arguments: dict[str, Any]) -> None:
    """Raise Unsupported for verbs and arguments that are chosen at random."""
    for name in ("", *arguments) if verb not in NEVER else ():
        if (verb, name) not in met:
            met[verb, name] = not any(met.values()) and rng.random() < PART
        if met[verb, name]:
            raise Unsupported(f"the SUT's control channel does not offer {verb}: {name or 'this verb'} is unknown here")


def begin_partly(self: VirtualControl, verb: str, **arguments: Any) -> int:
    refuse(verb, arguments)
    return begin(self, verb, **arguments)


def call_partly(self: VirtualControl, verb: str, **arguments: Any) -> dict[str, Any]:
    refuse(verb, arguments)
    return call(self, verb, **arguments)


VirtualControl.begin, VirtualControl.call = begin_partly, call_partly  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    rng.seed(f"{SEED} {item.nodeid}")
    met.clear()
