"""Expectations: the values that a check passes to the judge as ``expected``. README.md shows how to write a check."""

from harness.expectations.base import Expectation, ExpectationDifference, expectation
from harness.expectations.distinct import distinct
from harness.expectations.fields import facts, fields
from harness.expectations.items import any_order, each, in_queue, none
from harness.expectations.packets import closed_unanswered, of_class, of_classes, packet, packets
from harness.expectations.protocol import CLOSED_BY_SUT_TEXT, acknowledged, acknowledgment, closed
from harness.expectations.values import between, holds, one_of, status

__all__ = [
    "CLOSED_BY_SUT_TEXT",
    "Expectation",
    "ExpectationDifference",
    "acknowledged",
    "acknowledgment",
    "any_order",
    "between",
    "closed",
    "closed_unanswered",
    "distinct",
    "each",
    "expectation",
    "facts",
    "fields",
    "holds",
    "in_queue",
    "none",
    "of_class",
    "of_classes",
    "one_of",
    "packet",
    "packets",
    "status",
]
