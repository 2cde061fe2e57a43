"""Faults of MS-MQDMPR 3.1.7.1.24 Write Directory that only special cases reveal: several attributes, and several
queues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.model.adm import Queue


@fault("queue-manager-write-directory-first-attribute-only", breaks="MQDMPR-3.1.7.1.24-03")
class FirstAttributeWritten(Publishing):
    """The queue manager writes only the first of several changed attributes to the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(queue, dict(list(values.items())[:1]), written)


@fault("queue-manager-write-directory-base-priority-omitted", breaks="MQDMPR-3.1.7.1.24-03")
class PriorityNotWritten(Publishing):
    """The queue manager does not write a changed BasePriority to the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(queue, {name: value for name, value in values.items() if name != "BasePriority"}, written)


@fault("queue-manager-write-directory-false-values-omitted", breaks="MQDMPR-3.1.7.1.24-03")
class FalseValuesOmitted(Publishing):
    """The queue manager does not write changed attributes whose value is zero, False or empty."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(queue, {name: value for name, value in values.items() if value}, written)


@fault("queue-manager-write-directory-privacy-omitted", breaks="MQDMPR-3.1.7.1.24-03", blind=True)
class PrivacyNotWritten(Publishing):
    """The queue manager does not write changed Authentication, PrivacyLevel and JournalQuota to the directory."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        omitted = ("Authentication", "PrivacyLevel", "JournalQuota")
        super().write(queue, {name: value for name, value in values.items() if name not in omitted}, written)


@fault("queue-manager-write-directory-first-queue-only", breaks="MQDMPR-3.1.7.1.24-03", blind=True)
class FirstQueueWritten(Publishing):
    """A change of a public queue is written to the object of the public queue that was created first."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(self._list_public_queues()[0], values, written)
