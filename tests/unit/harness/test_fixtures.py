"""The fixtures of a check, and the verdicts when a fixture is not available."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.judging.verdicts import Verdict
from harness.run.fixtures import _meet_needs
from harness.run.stash import JUDGE_KEY


def test_missing_control_channel_is_reported_for_unavailable_facilities():
    given: list[Any] = []
    judge = SimpleNamespace(give_up=lambda *said: given.append(said))
    mark = SimpleNamespace(args=("receive",))
    item: Any = SimpleNamespace(iter_markers=lambda name: [mark], stash={JUDGE_KEY: judge})
    sut: Any = SimpleNamespace(has=lambda need: False)
    with pytest.raises(pytest.skip.Exception):
        _meet_needs(item, sut)
    assert given == [(Verdict.NOT_OBSERVABLE, "no control channel offers receive")]
