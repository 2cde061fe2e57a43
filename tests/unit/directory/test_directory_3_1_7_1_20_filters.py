"""Attribute-filter expressions and attribute-sort-order values. MS-MQDMPR 3.1.7.1.20, 3.1.7.1.21."""

from __future__ import annotations

import pytest
from directory_made import ALPHA, BETA, GATE, SITE_A, SITE_B

from reference_qm.directory.enums import OperatingSystemType, PrivacyLevel
from reference_qm.directory.filters import (
    AttributeFilter,
    AttributeSortOrder,
    AttributeValue,
    ComparisonOperator,
    FilterError,
    check_filter_expressions,
    select_matching_elements,
    sort_elements,
)
from reference_qm.directory.objects import Queue, QueueManager

MACHINES = [
    QueueManager(Identifier=ALPHA, ComputerName="Alpha", SiteIdentifierList=(SITE_A, SITE_B), QueueManagerQuota=1),
    QueueManager(Identifier=BETA, ComputerName="beta", SiteIdentifierList=(SITE_B,), QueueManagerQuota=2),
    QueueManager(Identifier=GATE, QueueManagerQuota=3, RoutingServer=True),
]


def found(attribute: str, comparison: ComparisonOperator, value: AttributeValue) -> str:
    chosen = select_matching_elements(MACHINES, [AttributeFilter(attribute, comparison, value)])
    return "".join("abg"[MACHINES.index(one)] for one in chosen)


@pytest.mark.parametrize(
    ("comparison", "wanted"),
    [
        (ComparisonOperator.EQUALS, "b"),
        (ComparisonOperator.NOT_EQUALS, "ag"),
        (ComparisonOperator.LESS_THAN, "a"),
        (ComparisonOperator.GREATER_THAN, "g"),
        (ComparisonOperator.LESS_THAN_OR_EQUAL, "ab"),
        (ComparisonOperator.GREATER_THAN_OR_EQUAL, "bg"),
    ],
)
def test_filter_operator_compares_values(comparison: ComparisonOperator, wanted: str) -> None:
    assert found("QueueManagerQuota", comparison, 2) == wanted


@pytest.mark.parametrize(
    ("attribute", "comparison", "value", "wanted"),
    [
        ("Identifier", ComparisonOperator.EQUALS, BETA, "b"),
        ("ComputerName", ComparisonOperator.EQUALS, "ALPHA", "a"),
        ("ComputerName", ComparisonOperator.LESS_THAN, "B", "a"),
        ("ComputerName", ComparisonOperator.EQUALS, None, "g"),
        ("ComputerName", ComparisonOperator.NOT_EQUALS, "beta", "ag"),
        ("SiteIdentifierList", ComparisonOperator.EQUALS, SITE_A, "a"),
        ("SiteIdentifierList", ComparisonOperator.NOT_EQUALS, SITE_B, "g"),
        ("RoutingServer", ComparisonOperator.EQUALS, True, "g"),
        ("RoutingServer", ComparisonOperator.EQUALS, 1, ""),
        ("QueueManagerQuota", ComparisonOperator.LESS_THAN, "2", ""),
        ("OperatingSystemType", ComparisonOperator.EQUALS, OperatingSystemType.OTHER, ""),
    ],
)
def test_filter_compares_values_of_each_type(
    attribute: str, comparison: ComparisonOperator, value: AttributeValue, wanted: str
) -> None:
    """A filter accepts a list if one element satisfies it, compares text case-insensitively, and finds values of
    different types never equal.
    """
    assert found(attribute, comparison, value) == wanted


def test_filter_requires_all_expressions() -> None:
    both = [
        AttributeFilter("SiteIdentifierList", ComparisonOperator.EQUALS, SITE_B),
        AttributeFilter("QueueManagerQuota", ComparisonOperator.LESS_THAN, 2),
    ]
    assert select_matching_elements(MACHINES, both) == MACHINES[:1]
    assert select_matching_elements(MACHINES, []) == MACHINES


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        (AttributeFilter("Color", ComparisonOperator.EQUALS, 1), "Color is not a directory attribute of Queue"),
        (AttributeFilter("QueueType", ComparisonOperator.EQUALS, 1), "QueueType is not a directory attribute of Queue"),
        (AttributeFilter("PrivacyLevel", ComparisonOperator.LESS_THAN, PrivacyLevel.BODY), "LESS-THAN cannot compare"),
        (AttributeFilter("Journaling", ComparisonOperator.GREATER_THAN, True), "GREATER-THAN cannot compare True"),
    ],
)
def test_invalid_directory_filter_is_named(expression: AttributeFilter, complaint: str) -> None:
    with pytest.raises(FilterError, match=complaint):
        check_filter_expressions(Queue, [expression])


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
