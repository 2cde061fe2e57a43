"""Measures the CPU seconds of each test and of each shared fixture; ``make test`` names the most expensive ones.

CPU time, unlike wall time, does not depend on the load of the machine. The plugin charges the CPU time of a pytest
session to the current activity: the start with imports and collection, the set-up and end of a fixture whose scope is
wider than a test, or a test. Running child processes, such as Spark's Java, also count.

MQ_COSTS names the file to write; without this variable the plugin measures nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from process_tree import cpu_s, descendants

START = "(start and collection)"


def used_s() -> float:
    """Return the CPU seconds that this process and its descendants have used."""
    waited_for = os.times()
    ended_s = waited_for.children_user + waited_for.children_system
    return time.process_time() + ended_s + cpu_s(*descendants(os.getpid()))


class Costs:
    """A plugin that records the CPU time of each test and each shared fixture."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spent: Counter[str] = Counter()
        self.under_way = [START]
        self.charged_s = 0.0

    def charge(self) -> None:
        """Charge the CPU time since the last call to the current test or fixture."""
        used = used_s()
        self.spent[self.under_way[-1]] += used - self.charged_s
        self.charged_s = used

    def begin(self, name: str) -> None:
        self.charge()
        self.under_way.append(name)

    def end(self) -> None:
        self.charge()
        self.under_way.pop()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.begin(item.nodeid)
        try:
            return (yield)
        finally:
            self.end()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        self.begin(name_of(fixturedef))
        try:
            return (yield)
        finally:
            self.end()
            fixturedef.addfinalizer(lambda: self.begin(name_of(fixturedef)))

    @pytest.hookimpl(trylast=True)
    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        if self.under_way[-1] == name_of(fixturedef):
            self.end()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self.charge()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        tree = {name: round(cpu, 3) for name, cpu in self.spent.most_common()}
        self.path.write_text(json.dumps(tree, indent=0), encoding="utf-8")


def name_of(fixture: pytest.FixtureDef[Any]) -> str:
    return f"{fixture.baseid or 'a plugin'}: fixture {fixture.argname}"
