"""Cases in which expected and observed values agree, and cases in which they differ."""

from __future__ import annotations

import pytest

from harness.model.agreement import ExpectedOrderedGroups, ExpectedRefusal, describe_difference

ONE, TWO = {"message": "one", "class": "NORMAL"}, {"message": "two", "class": "NORMAL"}


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        pytest.param({"priority": 3}, {"priority": 3, "label": "x"}, id="what-the-model-leaves-out-is-open"),
        pytest.param(ExpectedRefusal(), ExpectedRefusal(("MQ_ERROR_QUEUE_NOT_AVAILABLE",)), id="any-refusal"),
        pytest.param(
            ExpectedRefusal(("MQ_ERROR_QUEUE_NOT_AVAILABLE",)), ExpectedRefusal(), id="a-refusal-in-other-words"
        ),
        pytest.param(ExpectedRefusal(("A", "B")), ExpectedRefusal(("B",)), id="one-of-several-statuses"),
        pytest.param(ExpectedOrderedGroups(((ONE, TWO),)), [TWO, ONE], id="any-order-in-a-group"),
        pytest.param([ONE, TWO], [ONE, TWO], id="messages-in-order"),
    ],
)
def test_equal_values_of_model_and_system_give_no_difference(expected, observed):
    assert describe_difference(expected, observed, "queue") is None


@pytest.mark.parametrize(
    ("expected", "observed", "said"),
    [
        pytest.param({"priority": 3}, {"priority": 4}, "queue.priority: expected 3; observed 4", id="value"),
        pytest.param({"priority": 3}, {}, "queue.priority: expected 3; observed not there", id="missing"),
        pytest.param(
            ExpectedRefusal(("A",)),
            ExpectedRefusal(("B",)),
            "queue: expected refused (A); observed refused (B)",
            id="status",
        ),
        pytest.param(ExpectedRefusal(), "done", "queue: expected refused; observed done", id="not-refused"),
        pytest.param([ONE, TWO], [TWO, ONE], "queue: expected [one, two]; observed [two, one]", id="order"),
        pytest.param([ONE], [ONE, TWO], "queue: expected [one]; observed [one, two]", id="too-many"),
        pytest.param(
            ExpectedOrderedGroups(((ONE,), (TWO,))),
            [TWO, ONE],
            "queue: expected [one, two]; observed [two, one]",
            id="order-of-groups",
        ),
        pytest.param(
            ExpectedOrderedGroups(((ONE,),)),
            [ONE, ONE],
            "queue: expected [one]; observed [one, one]",
            id="beyond-the-groups",
        ),
    ],
)
def test_a_difference_names_place_and_both_values(expected, observed, said):
    assert describe_difference(expected, observed, "queue") == said
