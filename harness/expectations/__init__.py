"""Expectations: the values that a check passes to the judge as ``expected``. README.md shows how to write a check."""

from harness.expectations.base import Expectation, ExpectationDifference, expectation
from harness.expectations.distinct import distinct_values
from harness.expectations.fields import facts, fields
from harness.expectations.items import any_order, each, in_queue, none
from harness.expectations.packets import (
    acknowledgment_of_class,
    acknowledgments_of_classes,
    closed_without_answer,
    packet,
    packets,
)
from harness.expectations.protocol import CLOSED_BY_SUT_TEXT, acknowledged, acknowledgment, connection_closed_by_sut
from harness.expectations.values import between, holds, one_of, status

__all__ = [
    "CLOSED_BY_SUT_TEXT",
    "Expectation",
    "ExpectationDifference",
    "acknowledged",
    "acknowledgment",
    "acknowledgment_of_class",
    "acknowledgments_of_classes",
    "any_order",
    "between",
    "closed_without_answer",
    "connection_closed_by_sut",
    "distinct_values",
    "each",
    "expectation",
    "facts",
    "fields",
    "holds",
    "in_queue",
    "none",
    "one_of",
    "packet",
    "packets",
    "status",
]
