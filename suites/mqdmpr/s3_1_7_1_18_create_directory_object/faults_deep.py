"""Faults of MS-MQDMPR 3.1.7.1.18 Create Directory Object that only special cases reveal: single attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm import directory
from reference_qm.core.queueing.publishing import Publishing
from reference_qm.model.adm import Queue


@fault("directory-object-created-without-quotas", breaks="MQDMPR-3.1.7.1.18-D02")
class WithoutQuotas(Publishing):
    """The queue manager creates the directory object of a public queue without the Quota of the queue."""

    def _build_element(self, queue: Queue) -> Any:
        return replace(super()._build_element(queue), Quota=0xFFFFFFFF)


@fault("directory-object-of-transactional-queue-not-transactional", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class NotTransactional(Publishing):
    """The directory object of a transactional public queue describes a nontransactional queue."""

    def _build_element(self, queue: Queue) -> Any:
        return replace(super()._build_element(queue), Transactional=False)


@fault("directory-object-created-without-type", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class WithoutType(Publishing):
    """The directory object of a public queue is created without the Type of the queue."""

    def _build_element(self, queue: Queue) -> Any:
        return replace(super()._build_element(queue), Type=directory.Queue().Type)


@fault("directory-object-created-with-optional-privacy", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class OptionalPrivacy(Publishing):
    """The directory object of a public queue is created without its Authentication and PrivacyLevel."""

    def _build_element(self, queue: Queue) -> Any:
        fresh = directory.Queue()
        return replace(
            super()._build_element(queue), Authentication=fresh.Authentication, PrivacyLevel=fresh.PrivacyLevel
        )
