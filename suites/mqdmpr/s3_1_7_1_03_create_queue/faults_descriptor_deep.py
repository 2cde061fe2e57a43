"""Faults of MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor with some kinds of queues and lists only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.part import QM
from reference_qm.core.queueing.queues import Queues
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.security import ANONYMOUS, EVERYONE, Acl, QueueAccess, SecurityDescriptor, Sid
from reference_qm.security.descriptor import Ace

ALL_RIGHTS = QueueAccess.MQSEC_QUEUE_GENERIC_ALL
READ_RIGHTS = QueueAccess.MQSEC_GET_QUEUE_PROPERTIES | QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS


def _change_some_descriptors(
    which: Callable[[Queue], bool], change: Callable[[SecurityDescriptor], SecurityDescriptor]
) -> Install:
    """Build a fault that changes the security descriptors of those new queues that ``which`` selects."""

    class Described(Queues):
        def add(self, queue: Queue) -> None:
            super().add(queue)
            if which(queue):
                queue.Security = change(queue.Security)

    return replace_part(Described)


def _set_mask(sid: Sid, mask: QueueAccess) -> Callable[[SecurityDescriptor], SecurityDescriptor]:
    def change(found: SecurityDescriptor) -> SecurityDescriptor:
        aces = () if found.Dacl is None else found.Dacl.Aces
        return replace(found, Dacl=Acl(tuple(replace(ace, Mask=int(mask)) if ace.Sid == sid else ace for ace in aces)))

    return change


def _remove_entries(sid: Sid) -> Callable[[SecurityDescriptor], SecurityDescriptor]:
    def change(found: SecurityDescriptor) -> SecurityDescriptor:
        aces = () if found.Dacl is None else found.Dacl.Aces
        return replace(found, Dacl=Acl(tuple(ace for ace in aces if ace.Sid != sid)))

    return change


def _is_public(queue: Queue) -> bool:
    return queue.QueueType is QueueType.PUBLIC


for _name, _rule, _says, _which, _change in (
    (
        "transactional-queue-everyone-reads-only",
        "MQDMPR-3.1.7.1.3.1-12",
        "The default security descriptor of a transactional queue grants everyone only the right to read properties.",
        lambda queue: queue.Transactional and queue.Security.Owner == ANONYMOUS,
        _set_mask(EVERYONE, READ_RIGHTS),
    ),
    (
        "public-queue-everyone-reads-only",
        "MQDMPR-3.1.7.1.3.1-12",
        "The default security descriptor of a public queue grants everyone only the right to read properties.",
        lambda queue: _is_public(queue) and queue.Security.Owner == ANONYMOUS,
        _set_mask(EVERYONE, READ_RIGHTS),
    ),
    (
        "public-queue-without-owner",
        "MQDMPR-3.1.7.1.3.1-10",
        "The default security descriptor of a public queue has no owner.",
        _is_public,
        lambda found: replace(found, Owner=None),
    ),
    (
        "public-queue-without-everyone",
        "MQDMPR-3.1.7.1.3.1-16",
        "The default security descriptor of a public queue has no entry for everyone.",
        _is_public,
        _remove_entries(EVERYONE),
    ),
    (
        "transactional-queue-of-domain-user-everyone-all-rights",
        "MQDMPR-3.1.7.1.3.1-13",
        "The default security descriptor of a domain user's transactional queue grants everyone all rights.",
        lambda queue: queue.Transactional and queue.Security.Owner != ANONYMOUS,
        _set_mask(EVERYONE, ALL_RIGHTS),
    ),
):
    add(f"default-security-descriptor-{_name}", _rule, _says, _change_some_descriptors(_which, _change), blind=True)


@fault("default-security-descriptor-without-computer-beside-user", breaks="MQDMPR-3.1.7.1.3.1-18", blind=True)
class DefaultSecurityDescriptorWithoutComputerBesideUser(Queues):
    """The default security descriptor of a domain user's queue has no entry for the computer."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        found, computer = super().create_default_security(owner), self.machine_sid()
        return found if computer is None or owner == ANONYMOUS else _remove_entries(computer)(found)


@fault(
    "default-security-descriptor-computer-reads-less-beside-user",
    breaks="MQDMPR-3.1.7.1.3.1-14",
    blind=True,
)
class DefaultSecurityDescriptorComputerReadsLessBesideUser(Queues):
    """The default security descriptor of a domain user's queue grants the computer only the right to read
    properties.
    """

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        found, computer = super().create_default_security(owner), self.machine_sid()
        if computer is None or owner == ANONYMOUS:
            return found
        return _set_mask(computer, QueueAccess.MQSEC_GET_QUEUE_PROPERTIES)(found)


@fault("descriptor-computer-sid-of-earlier-answer-offline", breaks="MQDMPR-3.1.7.1.3.1-04", blind=True)
class DescriptorComputerSidOfEarlierAnswerOffline(Queues):
    """If the directory does not answer, the default security descriptor has the SID that the directory returned
    before.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.earlier: Sid | None = None

    def machine_sid(self) -> Sid | None:
        self.earlier = super().machine_sid() or self.earlier
        return self.earlier


@fault("supplied-security-descriptor-empty-list-replaced", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class SuppliedSecurityDescriptorEmptyListReplaced(Queues):
    """The queue manager replaces a supplied access list without entries by the default access list."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is not None and not supplied.Dacl.Aces:
            supplied = replace(supplied, Dacl=None)
        return super().create_security(supplied, user)


@fault("supplied-security-descriptor-second-audit-entry-dropped", breaks="MQDMPR-3.1.7.1.3.1-09", blind=True)
class SuppliedSecurityDescriptorSecondAuditEntryDropped(Queues):
    """The queue manager keeps only the first entry of a supplied system access list."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Sacl is not None:
            size = int.from_bytes(supplied.Sacl[10:12], "little")
            head = supplied.Sacl[:2] + (8 + size).to_bytes(2, "little") + bytes((1, 0, 0, 0))
            supplied = replace(supplied, Sacl=head + supplied.Sacl[8 : 8 + size])
        return super().create_security(supplied, user)


@fault("supplied-security-descriptor-repeated-sid-merged", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class SuppliedSecurityDescriptorRepeatedSidMerged(Queues):
    """The queue manager keeps only the first of several entries for the same SID in a supplied access list."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is not None:
            first: dict[Sid, Ace] = {}
            for ace in supplied.Dacl.Aces:
                first.setdefault(ace.Sid, ace)
            supplied = replace(supplied, Dacl=Acl(tuple(first.values())))
        return super().create_security(supplied, user)


@fault("supplied-security-descriptor-owner-ignored-without-creator", breaks="MQDMPR-3.1.7.1.3.1-07", blind=True)
class SuppliedSecurityDescriptorOwnerIgnoredWithoutCreator(Queues):
    """If the creator of a queue is not a domain user, the queue manager replaces the supplied owner with the anonymous
    user.
    """

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and self.owner(user) == ANONYMOUS:
            supplied = replace(supplied, Owner=None)
        return super().create_security(supplied, user)
