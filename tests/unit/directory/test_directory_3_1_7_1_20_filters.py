"""Attribute-filter expressions and attribute-sort-order values. MS-MQDMPR 3.1.7.1.20, 3.1.7.1.21."""

from __future__ import annotations

import pytest
from directory_made import ALPHA, BETA, GATE, SITE_A, SITE_B

from reference_qm.directory.enums import OperatingSystemType, PrivacyLevel
from reference_qm.directory.filters import (
    AttributeFilter,
    AttributeSortOrder,
    FilterError,
    Operator,
    Value,
    check_filter,
    select_matching_elements,
    sort_elements,
)
from reference_qm.directory.objects import Queue, QueueManager

MACHINES = [
    QueueManager(Identifier=ALPHA, ComputerName="Alpha", SiteIdentifierList=(SITE_A, SITE_B), QueueManagerQuota=1),
    QueueManager(Identifier=BETA, ComputerName="beta", SiteIdentifierList=(SITE_B,), QueueManagerQuota=2),
    QueueManager(Identifier=GATE, QueueManagerQuota=3, RoutingServer=True),
]


def found(attribute: str, comparison: Operator, value: Value) -> str:
    chosen = select_matching_elements(MACHINES, [AttributeFilter(attribute, comparison, value)])
    return "".join("abg"[MACHINES.index(one)] for one in chosen)


@pytest.mark.parametrize(
    ("comparison", "wanted"),
    [
        (Operator.EQUALS, "b"),
        (Operator.NOT_EQUALS, "ag"),
        (Operator.LESS_THAN, "a"),
        (Operator.GREATER_THAN, "g"),
        (Operator.LESS_THAN_OR_EQUAL, "ab"),
        (Operator.GREATER_THAN_OR_EQUAL, "bg"),
    ],
)
def test_filter_operator_compares_values(comparison: Operator, wanted: str) -> None:
    assert found("QueueManagerQuota", comparison, 2) == wanted


@pytest.mark.parametrize(
    ("attribute", "comparison", "value", "wanted"),
    [
        ("Identifier", Operator.EQUALS, BETA, "b"),
        ("ComputerName", Operator.EQUALS, "ALPHA", "a"),
        ("ComputerName", Operator.LESS_THAN, "B", "a"),
        ("ComputerName", Operator.EQUALS, None, "g"),
        ("ComputerName", Operator.NOT_EQUALS, "beta", "ag"),
        ("SiteIdentifierList", Operator.EQUALS, SITE_A, "a"),
        ("SiteIdentifierList", Operator.NOT_EQUALS, SITE_B, "g"),
        ("RoutingServer", Operator.EQUALS, True, "g"),
        ("RoutingServer", Operator.EQUALS, 1, ""),
        ("QueueManagerQuota", Operator.LESS_THAN, "2", ""),
        ("OperatingSystemType", Operator.EQUALS, OperatingSystemType.OTHER, ""),
    ],
)
def test_filter_compares_values_of_each_type(attribute: str, comparison: Operator, value: Value, wanted: str) -> None:
    """A filter accepts a list if one element satisfies it, compares text case-insensitively, and finds values of
    different types never equal.
    """
    assert found(attribute, comparison, value) == wanted


def test_filter_requires_all_expressions() -> None:
    both = [
        AttributeFilter("SiteIdentifierList", Operator.EQUALS, SITE_B),
        AttributeFilter("QueueManagerQuota", Operator.LESS_THAN, 2),
    ]
    assert select_matching_elements(MACHINES, both) == MACHINES[:1]
    assert select_matching_elements(MACHINES, []) == MACHINES


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        (AttributeFilter("Color", Operator.EQUALS, 1), "Color is not a directory attribute of Queue"),
        (AttributeFilter("QueueType", Operator.EQUALS, 1), "QueueType is not a directory attribute of Queue"),
        (AttributeFilter("PrivacyLevel", Operator.LESS_THAN, PrivacyLevel.BODY), "LESS-THAN cannot compare"),
        (AttributeFilter("Journaling", Operator.GREATER_THAN, True), "GREATER-THAN cannot compare True"),
    ],
)
def test_invalid_directory_filter_is_named(expression: AttributeFilter, complaint: str) -> None:
    with pytest.raises(FilterError, match=complaint):
        check_filter(Queue, [expression])


def ordered(names: list[str], *orders: AttributeSortOrder) -> str:
    queues = [
        Queue(Label="x", BasePriority=2),
        Queue(Label="y", BasePriority=1),
        Queue(Label="X", BasePriority=1, MulticastAddress="224.0.0.1:1"),
    ]
    return "".join("123"[queues.index(one)] for one in sort_elements(queues, names, orders))


def test_sort_key_of_higher_priority_is_compared_first() -> None:
    names = ["Label", "BasePriority"]
    assert ordered(names, AttributeSortOrder(1), AttributeSortOrder(9)) == "321"
    assert ordered(names, AttributeSortOrder(9), AttributeSortOrder(1)) == "312"


def test_first_named_sort_key_is_compared_first_at_equal_priority() -> None:
    assert ordered(["BasePriority", "Label"], AttributeSortOrder(5), AttributeSortOrder(5)) == "321"
    assert ordered(["Label", "BasePriority"], AttributeSortOrder(5), AttributeSortOrder(5)) == "312"


def test_sort_handles_descending_and_unused_keys_and_unset_values() -> None:
    assert ordered(["BasePriority"], AttributeSortOrder(1, SortAscending=False)) == "123"
    assert ordered(["BasePriority"], AttributeSortOrder(0)) == "123"
    assert ordered(["MulticastAddress"], AttributeSortOrder(1, SortAscending=False)) == "312"
    assert ordered(["PrivacyLevel", "Color"], AttributeSortOrder(1), AttributeSortOrder(2)) == "123"


@pytest.mark.parametrize("names", [None, ["Label"], ["Label", "Quota", "Type"]])
def test_sort_orders_that_do_not_match_attributes_are_refused(names: list[str] | None) -> None:
    with pytest.raises(FilterError, match="iAttributeSortOrder"):
        sort_elements([Queue()], names, [AttributeSortOrder(1), AttributeSortOrder(2)])
