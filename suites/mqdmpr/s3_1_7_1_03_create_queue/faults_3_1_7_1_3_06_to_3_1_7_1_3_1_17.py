"""Faults that break the rules MQDMPR-3.1.7.1.3-06, MQDMPR-3.1.7.1.3.1-11 and MQDMPR-3.1.7.1.3.1-17."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.security import ANONYMOUS_SID, EVERYONE_SID, SecurityDescriptor
from reference_qm.security.access import QueueAccess
from reference_qm.security.descriptor import Ace, AceType, Acl

PROPERTY_READ_RIGHTS = QueueAccess.MQSEC_GET_QUEUE_PROPERTIES


@fault("queue-manager-recreated-queue-reported-but-not-created", breaks="MQDMPR-3.1.7.1.3-06")
class QueueManagerRecreatedQueueReportedButNotCreated(QueueLifecycle):
    """The queue manager reports the creation of a queue with the name of a deleted queue, but creates no queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        names = self.__dict__.setdefault("names", set())
        again = queue.Pathname in names
        names.add(queue.Pathname)
        status, created = super().create_without_directory(queue, utc_s)
        if again and created is not None:
            self.forget(created)
        return status, created


@fault("queue-manager-new-transactional-queue-reported-but-not-created", breaks="MQDMPR-3.1.7.1.3-06")
class QueueManagerNewTransactionalQueueReportedButNotCreated(QueueLifecycle):
    """The queue manager reports the creation of a transactional queue with a label, but creates no queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.Transactional and created.Label:
            self.forget(created)
        return status, created


def _change_security_descriptors_of_anonymous_queues(
    is_meant: Callable[[Queue], bool], change: Callable[[SecurityDescriptor], SecurityDescriptor]
) -> Install:
    """Return an installer of a fault that changes the descriptor of queues that the anonymous user owns."""

    class AnonymousChanged(QueueLifecycle):
        def add(self, queue: Queue) -> None:
            super().add(queue)
            if queue.Security.Owner == ANONYMOUS_SID and is_meant(queue):
                queue.Security = change(queue.Security)

    return replace_part(AnonymousChanged)


def _make_adder_of_access_entry_for_anonymous_user(
    kind: AceType, mask: int
) -> Callable[[SecurityDescriptor], SecurityDescriptor]:
    def add_access_entry(found: SecurityDescriptor) -> SecurityDescriptor:
        aces = () if found.Dacl is None else found.Dacl.Aces
        return replace(found, Dacl=Acl((*aces, Ace(kind, mask, ANONYMOUS_SID))))

    return add_access_entry


for _name, _rule, _says, _is_meant, _change in (
    (
        "owner-of-transactional-queue-everyone",
        "MQDMPR-3.1.7.1.3.1-11",
        "The default security descriptor of a transactional queue names everyone as owner.",
        lambda queue: queue.Transactional,
        lambda found: replace(found, Owner=EVERYONE_SID),
    ),
    (
        "owner-of-public-queue-everyone",
        "MQDMPR-3.1.7.1.3.1-11",
        "The default security descriptor of a public queue names everyone as owner.",
        lambda queue: queue.QueueType is QueueType.PUBLIC,
        lambda found: replace(found, Owner=EVERYONE_SID),
    ),
    (
        "owner-of-journaled-queue-everyone",
        "MQDMPR-3.1.7.1.3.1-11",
        "The default security descriptor of a queue with journaling names everyone as owner.",
        lambda queue: queue.Journaling,
        lambda found: replace(found, Owner=EVERYONE_SID),
    ),
    (
        "anonymous-entry-without-right",
        "MQDMPR-3.1.7.1.3.1-17",
        "The default security descriptor has an entry for the anonymous user that grants no right.",
        lambda queue: True,
        _make_adder_of_access_entry_for_anonymous_user(AceType.ACCESS_ALLOWED, 0),
    ),
    (
        "anonymous-entry-in-public-queue",
        "MQDMPR-3.1.7.1.3.1-17",
        "The default security descriptor of a public queue grants the anonymous user the right to read properties.",
        lambda queue: queue.QueueType is QueueType.PUBLIC,
        _make_adder_of_access_entry_for_anonymous_user(AceType.ACCESS_ALLOWED, int(PROPERTY_READ_RIGHTS)),
    ),
    (
        "anonymous-entry-in-transactional-queue",
        "MQDMPR-3.1.7.1.3.1-17",
        "The default security descriptor of a transactional queue grants the anonymous user the right to read"
        " properties.",
        lambda queue: queue.Transactional,
        _make_adder_of_access_entry_for_anonymous_user(AceType.ACCESS_ALLOWED, int(PROPERTY_READ_RIGHTS)),
    ),
):
    add(
        f"default-security-descriptor-{_name}",
        _rule,
        _says,
        _change_security_descriptors_of_anonymous_queues(_is_meant, _change),
        blind=True,
    )
