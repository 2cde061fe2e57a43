"""Faults that break the rules MQDMPR-3.1.7.1.3-D04 to MQDMPR-3.1.7.1.3.1-19."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.part import QM
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.queueing.queue_lifecycle import QueueCreationCallback, QueueLifecycle
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.security import ANONYMOUS_SID, EVERYONE_SID, Acl, QueueAccess, SecurityDescriptor, Sid
from reference_qm.security.descriptor import Ace, AceType


@fault("queue-manager-private-queue-number-of-new-queue-is-count-of-queues", breaks="MQDMPR-3.1.7.1.3-D04")
class QueueManagerPrivateQueueNumberOfNewQueueIsCountOfQueues(QueueLifecycle):
    """The queue manager uses the number of existing queues as PrivateQueueNumber of a new private queue, although
    another queue may have this number.
    """

    def _assign_private_queue_number(self) -> int:
        return len(self.qm.adm.QueueCollection) + 5


@fault("two-new-private-queues-share-number", breaks="MQDMPR-3.1.7.1.3-D04")
class TwoNewPrivateQueuesShareNumber(QueueLifecycle):
    """The queue manager assigns the number of the previous private queue to each second private queue."""

    def _assign_private_queue_number(self) -> int:
        number = super()._assign_private_queue_number()
        return number - (number % 2)


@fault("new-private-queue-number-is-count-of-queues-plus-100", breaks="MQDMPR-3.1.7.1.3-D04", blind=True)
class NewPrivateQueueNumberIsCountOfQueuesPlus100(QueueLifecycle):
    """The number of a new private queue is the count of existing queues plus 100."""

    def _assign_private_queue_number(self) -> int:
        super()._assign_private_queue_number()
        return len(self.qm.adm.QueueCollection) + 100


@fault("new-public-queue-without-directory-object", breaks="MQDMPR-3.1.7.1.3-D05")
class NewPublicQueueWithoutDirectoryObject(PublicQueuePublishing):
    """The queue manager creates a public queue without an object in the directory."""

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        published(Status.MQ_OK)


@fault("second-public-queue-has-identifier-of-first", breaks="MQDMPR-3.1.7.1.3-D05", blind=True)
class SecondPublicQueueHasIdentifierOfFirst(PublicQueuePublishing):
    """The queue manager assigns the Identifier of the first public queue to the second public queue instead of the GUID
    of its directory object.
    """

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        def reuse_identifier_of_first_public_queue(status: Status) -> None:
            first = next((one for one in self._list_public_queues() if one.Identifier != queue.Identifier), None)
            if status is Status.MQ_OK and first is not None:
                queue.Identifier = first.Identifier
            published(status)

        super().publish(queue, reuse_identifier_of_first_public_queue)


@fault("new-public-queue-created-while-directory-offline", breaks="MQDMPR-3.1.7.1.3-D06")
class NewPublicQueueCreatedWhileDirectoryOffline(PublicQueuePublishing):
    """The queue manager creates a public queue although the directory does not answer."""

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        super().publish(queue, lambda status: published(Status.MQ_OK))


@fault("refused-public-queue-created-when-directory-is-back", breaks="MQDMPR-3.1.7.1.3-D06", blind=True)
class RefusedPublicQueueCreatedWhenDirectoryIsBack(PublicQueuePublishing):
    """The queue manager refuses to create a public queue while the directory is unavailable, but creates the queue when
    the directory is available again.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused: list[Queue] = []

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        def record_refused_queue(status: Status) -> None:
            if status is not Status.MQ_OK:
                self.refused.append(queue)
            published(status)

        super().publish(queue, record_refused_queue)

    def update_public_queues(self) -> None:
        super().update_public_queues()
        for queue in self.refused:
            self.qm.queue_lifecycle.create_without_directory(queue, 0)
        self.refused.clear()


@fault("public-queue-created-although-directory-refuses-its-object", breaks="MQDMPR-3.1.7.1.3-D06")
class PublicQueueCreatedAlthoughDirectoryRefusesItsObject(QueueLifecycle):
    """If the directory refuses the object of a new public queue, the queue manager returns the error, but still creates
    the queue.
    """

    def create(
        self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False, **rest: Any
    ) -> None:
        def create_queue_after_failure(status: Status, made: Queue | None) -> None:
            if made is None and status is not Status.MQ_ERROR_QUEUE_EXISTS:
                self.create_without_directory(queue, utc_s)
            created(status, made)

        super().create(queue, utc_s, create_queue_after_failure, skip_directory)


@fault("public-queue-created-without-directory-and-published-later", breaks="MQDMPR-3.1.7.1.3-D06", blind=True)
class PublicQueueCreatedWithoutDirectoryAndPublishedLater(PublicQueuePublishing):
    """The queue manager creates a public queue although the directory is unavailable, and publishes it later."""

    def publish(self, queue: Queue, published: Any) -> None:
        def report_success_without_directory(status: Status) -> None:
            published(Status.MQ_OK if status is Status.MQ_ERROR_NO_DS else status)

        super().publish(queue, report_success_without_directory)


@fault("new-queue-name-of-100-characters-refused", breaks="MQDMPR-3.1.7.1.3-D07", blind=True)
class NewQueueNameOf100CharactersRefused(QueueLifecycle):
    """The queue manager refuses to create a queue whose name has more than 60 characters."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if len(queue.Pathname.partition("\\")[2].partition(";")[0]) > 60:
            return Status.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, None
        return super().create_without_directory(queue, utc_s)


@fault("new-queue-refused-if-its-name-is-prefix-of-other-name", breaks="MQDMPR-3.1.7.1.3-D07", blind=True)
class NewQueueRefusedIfItsNameIsPrefixOfOtherName(QueueLifecycle):
    """The queue manager refuses to create a queue whose name is the beginning of another queue's name."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if any(one.startswith(queue.Pathname.lower()) for one in self.qm.adm.QueueCollection):
            return Status.MQ_ERROR_QUEUE_EXISTS, None
        return super().create_without_directory(queue, utc_s)


@fault("default-security-descriptor-has-old-computer-sid-while-offline", breaks="MQDMPR-3.1.7.1.3.1-04", blind=True)
class DefaultSecurityDescriptorHasOldComputerSidWhileOffline(QueueLifecycle):
    """If the directory does not answer, the default security descriptor has the SID that the directory returned
    before.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.earlier: Sid | None = None

    def find_machine_sid(self) -> Sid | None:
        self.earlier = super().find_machine_sid() or self.earlier
        return self.earlier


@fault("supplied-security-descriptor-owner-replaced-by-anonymous-user", breaks="MQDMPR-3.1.7.1.3.1-07", blind=True)
class SuppliedSecurityDescriptorOwnerReplacedByAnonymousUser(QueueLifecycle):
    """If the creator of a queue is not a domain user, the queue manager replaces the supplied owner with the anonymous
    user.
    """

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and self.find_owner_of_new_queue(user) == ANONYMOUS_SID:
            supplied = replace(supplied, Owner=None)
        return super().build_security_of_new_queue(supplied, user)


@fault("queue-manager-queue-security-dacl-sorted", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class QueueManagerQueueSecurityDaclSorted(QueueLifecycle):
    """The queue manager moves the entries of a supplied DACL that deny access before the entries that allow access."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is not None:
            aces = tuple(sorted(supplied.Dacl.Aces, key=lambda ace: ace.AceType is not AceType.ACCESS_DENIED))
            supplied = replace(supplied, Dacl=replace(supplied.Dacl, Aces=aces))
        return super().build_security_of_new_queue(supplied, user)


@fault("queue-manager-dacl-of-more-than-four-entries-shortened", breaks="MQDMPR-3.1.7.1.3.1-08")
class QueueManagerDaclOfMoreThanFourEntriesShortened(QueueLifecycle):
    """The queue manager keeps at most four entries of a supplied DACL."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        built = super().build_security_of_new_queue(supplied, user)
        if supplied is None or supplied.Dacl is None or built.Dacl is None:
            return built
        return replace(built, Dacl=replace(built.Dacl, Aces=built.Dacl.Aces[:4]))


@fault("supplied-security-descriptor-repeated-sid-merged", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class SuppliedSecurityDescriptorRepeatedSidMerged(QueueLifecycle):
    """The queue manager keeps only the first of several entries for the same SID in a supplied access list."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is not None:
            first: dict[Sid, Ace] = {}
            for ace in supplied.Dacl.Aces:
                first.setdefault(ace.Sid, ace)
            supplied = replace(supplied, Dacl=Acl(tuple(first.values())))
        return super().build_security_of_new_queue(supplied, user)


@fault("queue-manager-supplied-dacl-last-entry-lost", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class QueueManagerSuppliedDaclLastEntryLost(QueueLifecycle):
    """The queue manager copies a supplied Dacl of several entries without its last entry."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        final = super().build_security_of_new_queue(supplied, user)
        if supplied is None or supplied.Dacl is None or final.Dacl is None or len(supplied.Dacl.Aces) < 2:
            return final
        return replace(final, Dacl=replace(final.Dacl, Aces=final.Dacl.Aces[:-1]))


@fault("queue-manager-queue-security-sacl-lost-without-dacl", breaks="MQDMPR-3.1.7.1.3.1-09", blind=True)
class QueueManagerQueueSecuritySaclLostWithoutDacl(QueueLifecycle):
    """The queue manager keeps the SACL of a supplied descriptor only when the descriptor also has a DACL."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is None:
            supplied = replace(supplied, Sacl=None)
        return super().build_security_of_new_queue(supplied, user)


@fault("supplied-security-descriptor-second-audit-entry-dropped", breaks="MQDMPR-3.1.7.1.3.1-09", blind=True)
class SuppliedSecurityDescriptorSecondAuditEntryDropped(QueueLifecycle):
    """The queue manager keeps only the first entry of a supplied system access list."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Sacl is not None:
            size = int.from_bytes(supplied.Sacl[10:12], "little")
            head = supplied.Sacl[:2] + (8 + size).to_bytes(2, "little") + bytes((1, 0, 0, 0))
            supplied = replace(supplied, Sacl=head + supplied.Sacl[8 : 8 + size])
        return super().build_security_of_new_queue(supplied, user)


ALL_QUEUE_RIGHTS = QueueAccess.MQSEC_QUEUE_GENERIC_ALL


PROPERTY_AND_DESCRIPTOR_READ_RIGHTS = QueueAccess.MQSEC_GET_QUEUE_PROPERTIES | QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS


def _change_descriptors_of_new_queues(
    which: Callable[[Queue], bool], change: Callable[[SecurityDescriptor], SecurityDescriptor]
) -> Install:
    """Build a fault that changes the security descriptors of those new queues that ``which`` selects."""

    class NewQueueDescriptorChanger(QueueLifecycle):
        def add(self, queue: Queue) -> None:
            super().add(queue)
            if which(queue):
                queue.Security = change(queue.Security)

    return replace_part(NewQueueDescriptorChanger)


def _set_access_mask_of_sid(sid: Sid, mask: QueueAccess) -> Callable[[SecurityDescriptor], SecurityDescriptor]:
    def set_mask_in_descriptor(found: SecurityDescriptor) -> SecurityDescriptor:
        aces = () if found.Dacl is None else found.Dacl.Aces
        return replace(found, Dacl=Acl(tuple(replace(ace, Mask=int(mask)) if ace.Sid == sid else ace for ace in aces)))

    return set_mask_in_descriptor


def _remove_access_entries_of_sid(sid: Sid) -> Callable[[SecurityDescriptor], SecurityDescriptor]:
    def remove_entries_from_descriptor(found: SecurityDescriptor) -> SecurityDescriptor:
        aces = () if found.Dacl is None else found.Dacl.Aces
        return replace(found, Dacl=Acl(tuple(ace for ace in aces if ace.Sid != sid)))

    return remove_entries_from_descriptor


def _is_public_queue(queue: Queue) -> bool:
    return queue.QueueType is QueueType.PUBLIC


for _name, _rule, _says, _which, _change in (
    (
        "transactional-queue-everyone-reads-only",
        "MQDMPR-3.1.7.1.3.1-12",
        "The default security descriptor of a transactional queue grants everyone only the right to read properties.",
        lambda queue: queue.Transactional and queue.Security.Owner == ANONYMOUS_SID,
        _set_access_mask_of_sid(EVERYONE_SID, PROPERTY_AND_DESCRIPTOR_READ_RIGHTS),
    ),
    (
        "public-queue-everyone-reads-only",
        "MQDMPR-3.1.7.1.3.1-12",
        "The default security descriptor of a public queue grants everyone only the right to read properties.",
        lambda queue: _is_public_queue(queue) and queue.Security.Owner == ANONYMOUS_SID,
        _set_access_mask_of_sid(EVERYONE_SID, PROPERTY_AND_DESCRIPTOR_READ_RIGHTS),
    ),
    (
        "public-queue-without-owner",
        "MQDMPR-3.1.7.1.3.1-10",
        "The default security descriptor of a public queue has no owner.",
        _is_public_queue,
        lambda found: replace(found, Owner=None),
    ),
    (
        "public-queue-without-everyone",
        "MQDMPR-3.1.7.1.3.1-16",
        "The default security descriptor of a public queue has no entry for everyone.",
        _is_public_queue,
        _remove_access_entries_of_sid(EVERYONE_SID),
    ),
    (
        "transactional-queue-of-domain-user-everyone-all-rights",
        "MQDMPR-3.1.7.1.3.1-13",
        "The default security descriptor of a domain user's transactional queue grants everyone all rights.",
        lambda queue: queue.Transactional and queue.Security.Owner != ANONYMOUS_SID,
        _set_access_mask_of_sid(EVERYONE_SID, ALL_QUEUE_RIGHTS),
    ),
):
    add(
        f"default-security-descriptor-{_name}",
        _rule,
        _says,
        _change_descriptors_of_new_queues(_which, _change),
        blind=True,
    )


@fault(
    "default-security-descriptor-of-user-limits-computer-to-one-read-right",
    breaks="MQDMPR-3.1.7.1.3.1-14",
    blind=True,
)
class DefaultSecurityDescriptorOfUserLimitsComputerToOneReadRight(QueueLifecycle):
    """The default security descriptor of a domain user's queue grants the computer only the right to read
    properties.
    """

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        found, computer = super().create_default_security(owner), self.find_machine_sid()
        if computer is None or owner == ANONYMOUS_SID:
            return found
        return _set_access_mask_of_sid(computer, QueueAccess.MQSEC_GET_QUEUE_PROPERTIES)(found)


@fault("default-security-descriptor-of-user-without-computer-entry", breaks="MQDMPR-3.1.7.1.3.1-18", blind=True)
class DefaultSecurityDescriptorOfUserWithoutComputerEntry(QueueLifecycle):
    """The default security descriptor of a domain user's queue has no entry for the computer."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        found, computer = super().create_default_security(owner), self.find_machine_sid()
        return found if computer is None or owner == ANONYMOUS_SID else _remove_access_entries_of_sid(computer)(found)


@fault("queue-manager-default-dacl-gives-owner-rights-to-creator", breaks="MQDMPR-3.1.7.1.3.1-19", blind=True)
class QueueManagerDefaultDaclGivesOwnerRightsToCreator(QueueLifecycle):
    """The default DACL grants the owner's rights to the creator of the queue, even if the supplied descriptor has a
    different owner.
    """

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        if supplied is None or supplied.Dacl is not None:
            return made
        return replace(made, Dacl=self.create_default_security(self.find_owner_of_new_queue(user)).Dacl)
