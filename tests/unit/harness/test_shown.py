"""The properties that a SUT shows of itself and of its messages: a missing element is named, at any depth."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.sut.shown import CheckedAnswerObject, NotShown, lookup_id, parse_reply

TREE = {"QueueManager": {"QueueCollection": [{"Pathname": "q"}]}, "Sessions": []}


def test_parsed_control_answer_equals_the_given_answer() -> None:
    found = parse_reply(TREE)
    assert found == TREE
    assert found["QueueManager"]["QueueCollection"][0]["Pathname"] == "q"
    assert found.get("Timers") is None
    assert parse_reply([1, None, "x"]) == [1, None, "x"]


def test_missing_element_of_a_control_answer_gives_one_line_error_at_every_depth() -> None:
    found = parse_reply(TREE)
    for part in (found, found["QueueManager"], found["QueueManager"]["QueueCollection"][0]):
        with pytest.raises(NotShown) as caught:
            part["Timers"]
        assert str(caught.value) == "the SUT does not show Timers in its abstract data model"
        assert isinstance(caught.value, ConformanceFailure)


def test_missing_key_of_a_control_answer_counts_as_not_shown() -> None:
    found = parse_reply({"messages": [{"label": "x"}]}, CheckedAnswerObject)
    assert found["messages"][0]["label"] == "x"
    with pytest.raises(NotShown, match=r"^the SUT's control channel does not show 'arrived_time'$"):
        found["messages"][0]["arrived_time"]


def test_lookup_identifier_in_a_control_answer_is_a_number() -> None:
    assert lookup_id({"message_id": "{a}\\1", "lookup_id": 0}) == 0
    assert lookup_id({"message_id": "{a}\\1", "lookup_id": 2**63}) == 2**63


@pytest.mark.parametrize("message", [{"lookup_id": None}, {}])
def test_null_or_missing_lookup_identifier_counts_as_not_shown(message: dict[str, None]) -> None:
    with pytest.raises(NotShown, match=r"does not show the LookupIdentifier of \{a\}\\1$"):
        lookup_id({"message_id": "{a}\\1", **message})
