"""The fixtures of a check, and the verdicts when a fixture is not available."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from harness.judging.verdicts import Verdict
from harness.run.fixtures import _meet_needs, second_host
from harness.run.stash import JUDGE_KEY
from harness.sut.sut_file import DriverTable


def test_missing_control_channel_is_reported_for_unavailable_facilities():
    given: list[Any] = []
    judge = SimpleNamespace(give_up=lambda *said: given.append(said))
    mark = SimpleNamespace(args=("receive",))
    item: Any = SimpleNamespace(iter_markers=lambda name: [mark], stash={JUDGE_KEY: judge})
    sut: Any = SimpleNamespace(has=lambda need: False)
    with pytest.raises(pytest.skip.Exception):
        _meet_needs(item, sut)
    assert given == [(Verdict.NOT_OBSERVABLE, "no control channel offers receive")]


def test_check_with_two_hosts_is_not_observable_without_a_second_address():
    given: list[Any] = []
    judge: Any = SimpleNamespace(give_up=lambda *said: given.append(said))
    sut: Any = SimpleNamespace(file=SimpleNamespace(driver=DriverTable("external", peer_address="192.0.2.2")))
    make_second_host = inspect.unwrap(second_host)
    with pytest.raises(pytest.skip.Exception):
        make_second_host(None, sut, judge)
    assert given == [(Verdict.NOT_OBSERVABLE, "the SUT file has no driver.second_peer_address")]
