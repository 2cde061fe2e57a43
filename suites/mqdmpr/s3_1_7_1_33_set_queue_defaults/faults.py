"""Faults that break rules of MS-MQDMPR 3.1.7.1.33 Set Queue Defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.queue_lifecycle import QueueCreationCallback, QueueLifecycle
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import Queue
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.security import Acl, SecurityDescriptor
from reference_qm.security.sid import ANONYMOUS_SID
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import CreateQueue

RULES_OF_QUEUE_DEFAULTS = ("MQDMPR-3.1.7.1.33-03", "MQDMPR-3.1.7.1.33-D01")


def _set_queue_defaults(**values: Any) -> Install:
    """Build a fault in which the queue manager creates queues with wrong default values."""

    class WrongQueueDefaultsSetter(QueueCommands):
        def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
            bare = request == CreateQueue(request.name)
            super().create_queue(replace(request, **values) if bare else request, token, now)

    return replace_part(WrongQueueDefaultsSetter)


for _name, _says, _values in (
    (
        "default-queue-label-present",
        "If the creator of a queue supplies no Label, the queue manager uses the name of the queue as Label.",
        {"label": "a queue"},
    ),
    (
        "default-queue-journaling-true",
        "If the creator of a queue supplies no Journaling, the queue manager sets Journaling to True.",
        {"journaling": True},
    ),
    (
        "default-queue-quota-8-mb",
        "If the creator of a queue supplies no Quota, the queue manager sets the Quota to 8 MB.",
        {"quota_kb": 8_192},
    ),
    (
        "default-queue-journal-quota-0",
        "If the creator of a queue supplies no JournalQuota, the queue manager sets JournalQuota to 0.",
        {"journal_quota_kb": 0},
    ),
    (
        "default-queue-privacy-level-body",
        "A queue that is created without a PrivacyLevel accepts only encrypted messages.",
        {"privacy": "body"},
    ),
    (
        "default-queue-transactional",
        "If the creator of a queue supplies no Transactional, the queue manager creates a transactional queue.",
        {"transactional": True},
    ),
    (
        "default-queue-base-priority-1",
        "If the creator of a queue supplies no BasePriority, the queue manager sets BasePriority to 1.",
        {"base_priority": 1},
    ),
    (
        "default-queue-authentication-true",
        "A queue that is created without Authentication accepts only signed messages.",
        {"authenticated": True},
    ),
):
    add(_name, RULES_OF_QUEUE_DEFAULTS, _says, _set_queue_defaults(**_values))


SECURITY_DESCRIPTOR_WITHOUT_RIGHTS = SecurityDescriptor(ANONYMOUS_SID, None, Acl(()))


def _set_created_queue_attributes(**attributes: Any) -> Install:
    """Build a fault in which the queue manager creates queues with wrong values of attributes that no
    command can set.
    """

    class CreatedQueueAttributeSetter(QueueLifecycle):
        def create(
            self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False
        ) -> None:
            for name, value in attributes.items():
                setattr(queue, name, value)
            super().create(queue, utc_s, created, skip_directory)

    return replace_part(CreatedQueueAttributeSetter)


add(
    "default-queue-grants-no-write",
    RULES_OF_QUEUE_DEFAULTS,
    ("The default security descriptor of a queue grants no user the right to write messages."),
    _set_created_queue_attributes(Security=SECURITY_DESCRIPTOR_WITHOUT_RIGHTS),
)


@fault("queue-manager-journaling-of-public-queue-true-by-default", breaks=RULES_OF_QUEUE_DEFAULTS, blind=True)
class QueueManagerJournalingOfPublicQueueTrueByDefault(QueueCommands):
    """The queue manager sets Journaling of a public queue to True if the creator does not supply Journaling."""

    def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
        public = "private$" not in request.name.lower() and ";" not in request.name
        bare = request == CreateQueue(request.name)
        super().create_queue(replace(request, journaling=True) if public and bare else request, token, now)


@fault("queue-manager-default-journal-quota-equals-supplied-queue-quota", breaks=RULES_OF_QUEUE_DEFAULTS, blind=True)
class QueueManagerDefaultJournalQuotaEqualsSuppliedQueueQuota(QueueCommands):
    """If the creator of a queue supplies a Quota but no JournalQuota, the queue manager uses the Quota
    as JournalQuota.
    """

    def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
        if request.journal_quota_kb == CreateQueue(request.name).journal_quota_kb:
            request = replace(request, journal_quota_kb=request.quota_kb)
        super().create_queue(request, token, now)


@fault("queue-manager-journaling-of-transactional-queue-true-by-default", breaks=RULES_OF_QUEUE_DEFAULTS, blind=True)
class QueueManagerJournalingOfTransactionalQueueTrueByDefault(QueueCommands):
    """The queue manager sets Journaling of a transactional queue to True if the creator does not supply Journaling."""

    def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
        bare = request == CreateQueue(request.name, transactional=True)
        super().create_queue(replace(request, journaling=True) if bare else request, token, now)


@fault("queue-without-label-gets-label-of-queue-created-before", breaks="MQDMPR-3.1.7.1.33-03")
class QueueWithoutLabelGetsLabelOfQueueCreatedBefore(QueueLifecycle):
    """A queue that is created without a label gets the label of the previously created queue."""

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        queue.Label = queue.Label or getattr(self, "label", "")
        self.label = queue.Label
        super().create(queue, utc_s, created, skip_directory)


UNREQUESTED_QUEUE_TYPE = UUID("6d71636f-6e66-4f72-8d00-0000000000f9")


add(
    "default-queue-type-present",
    "MQDMPR-3.1.7.1.33-D01",
    "If the creator of a queue supplies no Type, the queue manager sets a Type.",
    _set_created_queue_attributes(Type=UNREQUESTED_QUEUE_TYPE),
)


add(
    "default-queue-multicast-address-present",
    "MQDMPR-3.1.7.1.33-D01",
    "If the creator of a queue supplies no MulticastAddress, the queue manager sets a MulticastAddress.",
    _set_created_queue_attributes(MulticastAddress="224.0.0.1:1801"),
)


@fault("transactional-queue-has-journal-quota-zero-by-default", breaks="MQDMPR-3.1.7.1.33-D01")
class TransactionalQueueHasJournalQuotaZeroByDefault(QueueLifecycle):
    """The JournalQuota of a transactional queue is 0 by default."""

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        if queue.Transactional and queue.JournalQuota == UNLIMITED_QUOTA_KB:
            queue.JournalQuota = 0
        super().create(queue, utc_s, created, skip_directory)


@fault("public-queue-has-privacy-none-by-default", breaks="MQDMPR-3.1.7.1.33-D01")
class PublicQueueHasPrivacyNoneByDefault(QueueLifecycle):
    """The PrivacyLevel of a public queue is None by default."""

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        if "\\" not in queue.Pathname and queue.PrivacyLevel is PrivacyLevel.OPTIONAL:
            queue.PrivacyLevel = PrivacyLevel.NONE
        super().create(queue, utc_s, created, skip_directory)
