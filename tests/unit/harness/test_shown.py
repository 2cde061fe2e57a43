"""The abstract data model as a SUT shows it: an element that is missing is told by its name, at every depth."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.sut.shown import NotShown, shown

TREE = {"QueueManager": {"QueueCollection": [{"Pathname": "q"}]}, "Sessions": []}


def test_what_is_shown_is_as_it_was() -> None:
    found = shown(TREE)
    assert found == TREE
    assert found["QueueManager"]["QueueCollection"][0]["Pathname"] == "q"
    assert found.get("Timers") is None
    assert shown([1, None, "x"]) == [1, None, "x"]


def test_what_is_not_shown_is_one_line_at_every_depth() -> None:
    found = shown(TREE)
    for part in (found, found["QueueManager"], found["QueueManager"]["QueueCollection"][0]):
        with pytest.raises(NotShown) as caught:
            part["Timers"]
        assert str(caught.value) == "the SUT's abstract data model, as it shows it, has no Timers"
        assert isinstance(caught.value, ConformanceFailure)
