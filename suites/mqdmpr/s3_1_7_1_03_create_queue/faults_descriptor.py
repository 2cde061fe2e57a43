"""Faults that break rules of MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.model.adm import Queue
from reference_qm.security import ANONYMOUS_SID, EVERYONE_SID, Acl, QueueAccess, SecurityDescriptor, Sid
from reference_qm.security.descriptor import Ace, AceType

ALL_QUEUE_RIGHTS = QueueAccess.MQSEC_QUEUE_GENERIC_ALL
PROPERTY_AND_DESCRIPTOR_READ_RIGHTS = QueueAccess.MQSEC_GET_QUEUE_PROPERTIES | QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS
LOCAL_SYSTEM_SID = Sid.of("S-1-5-18")


def _replace_new_queue_descriptor(descriptor: SecurityDescriptor) -> Install:
    """Build a fault in which the queue manager assigns a wrong security descriptor to each new queue."""

    class NewQueueDescriptorReplacer(QueueLifecycle):
        def add(self, queue: Queue) -> None:
            super().add(queue)
            queue.Security = descriptor

    return replace_part(NewQueueDescriptorReplacer)


def _build_descriptor_granting_rights(
    *granted: tuple[Sid, QueueAccess], owner: Sid | None = ANONYMOUS_SID
) -> SecurityDescriptor:
    aces = tuple(Ace(AceType.ACCESS_ALLOWED, int(mask), sid) for sid, mask in granted)
    return SecurityDescriptor(owner, None, Acl(aces))


class _AbsoluteSecurityDescriptor(SecurityDescriptor):
    """A security descriptor in the absolute form."""

    def build(self) -> bytes:
        data = bytearray(super().build())
        data[3] &= 0x7F
        return bytes(data)


DESCRIPTOR_WITH_ALL_RIGHTS_FOR_EVERYONE = _build_descriptor_granting_rights((EVERYONE_SID, ALL_QUEUE_RIGHTS))
for _name, _rule, _says, _wrong in (
    (
        "owner-missing",
        "MQDMPR-3.1.7.1.3.1-10",
        "The default security descriptor has no owner.",
        replace(DESCRIPTOR_WITH_ALL_RIGHTS_FOR_EVERYONE, Owner=None),
    ),
    (
        "owner-everyone",
        "MQDMPR-3.1.7.1.3.1-11",
        "The default security descriptor names everyone as owner.",
        replace(DESCRIPTOR_WITH_ALL_RIGHTS_FOR_EVERYONE, Owner=EVERYONE_SID),
    ),
    (
        "everyone-reads-only",
        "MQDMPR-3.1.7.1.3.1-12",
        (
            "The default security descriptor of a non-domain user's queue grants everyone only the right "
            "to read properties."
        ),
        _build_descriptor_granting_rights((EVERYONE_SID, PROPERTY_AND_DESCRIPTOR_READ_RIGHTS)),
    ),
    (
        "everyone-missing",
        "MQDMPR-3.1.7.1.3.1-16",
        "The default security descriptor has no entry for everyone.",
        _build_descriptor_granting_rights((ANONYMOUS_SID, ALL_QUEUE_RIGHTS)),
    ),
    (
        "anonymous-all-rights",
        "MQDMPR-3.1.7.1.3.1-17",
        "The default security descriptor grants the anonymous user all rights.",
        _build_descriptor_granting_rights((EVERYONE_SID, ALL_QUEUE_RIGHTS), (ANONYMOUS_SID, ALL_QUEUE_RIGHTS)),
    ),
    (
        "computer-entry-in-workgroup",
        "MQDMPR-3.1.7.1.3.1-18",
        "The default security descriptor has an entry for the computer in workgroup mode.",
        _build_descriptor_granting_rights(
            (EVERYONE_SID, ALL_QUEUE_RIGHTS), (LOCAL_SYSTEM_SID, PROPERTY_AND_DESCRIPTOR_READ_RIGHTS)
        ),
    ),
    (
        "creator-entry-in-workgroup",
        "MQDMPR-3.1.7.1.3.1-19",
        "The default security descriptor has an entry for a creator that is not a domain user.",
        _build_descriptor_granting_rights((EVERYONE_SID, ALL_QUEUE_RIGHTS), (LOCAL_SYSTEM_SID, ALL_QUEUE_RIGHTS)),
    ),
    (
        "absolute-form",
        "MQDMPR-3.1.7.1.3.1-20",
        "The default security descriptor is in the absolute form.",
        _AbsoluteSecurityDescriptor(ANONYMOUS_SID, None, DESCRIPTOR_WITH_ALL_RIGHTS_FOR_EVERYONE.Dacl),
    ),
):
    add(f"default-security-descriptor-{_name}", _rule, _says, _replace_new_queue_descriptor(_wrong))


def _change_owned_queue_descriptor(change: Callable[[SecurityDescriptor], SecurityDescriptor]) -> Install:
    """Build a fault that changes the security descriptor of each new queue that a domain user owns."""

    class OwnedQueueDescriptorChanger(QueueLifecycle):
        def add(self, queue: Queue) -> None:
            super().add(queue)
            if queue.Security.Owner != ANONYMOUS_SID:
                queue.Security = change(queue.Security)

    return replace_part(OwnedQueueDescriptorChanger)


def _get_dacl_entries(descriptor: SecurityDescriptor) -> tuple[Ace, ...]:
    return () if descriptor.Dacl is None else descriptor.Dacl.Aces


for _name, _rules, _says, _change in (
    (
        "owner-is-queue-manager",
        "MQDMPR-3.1.7.1.3.1-10",
        "The default security descriptor names the queue manager as owner, regardless of the creator.",
        lambda found: replace(found, Owner=LOCAL_SYSTEM_SID),
    ),
    (
        "domain-user-everyone-all-rights",
        "MQDMPR-3.1.7.1.3.1-13",
        "The default security descriptor of a domain user's queue grants everyone all rights.",
        lambda found: replace(
            found, Dacl=Acl(tuple(replace(ace, Mask=int(ALL_QUEUE_RIGHTS)) for ace in _get_dacl_entries(found)))
        ),
    ),
    (
        "domain-user-owner-entry-missing",
        ("MQDMPR-3.1.7.1.3.1-13", "MQDMPR-3.1.7.1.3.1-19"),
        "The default security descriptor of a domain user's queue has no entry for the owner.",
        lambda found: replace(
            found, Dacl=Acl(tuple(ace for ace in _get_dacl_entries(found) if ace.Sid == EVERYONE_SID))
        ),
    ),
    (
        "domain-user-everyone-missing",
        "MQDMPR-3.1.7.1.3.1-16",
        "The default security descriptor of a domain user's queue has no entry for everyone.",
        lambda found: replace(
            found, Dacl=Acl(tuple(ace for ace in _get_dacl_entries(found) if ace.Sid != EVERYONE_SID))
        ),
    ),
    (
        "domain-user-absolute-form",
        "MQDMPR-3.1.7.1.3.1-20",
        "The default security descriptor of a domain user's queue is in the absolute form.",
        lambda found: _AbsoluteSecurityDescriptor(found.Owner, None, found.Dacl),
    ),
):
    add(f"default-security-descriptor-{_name}", _rules, _says, _change_owned_queue_descriptor(_change))


@fault("default-security-descriptor-computer-sid-not-from-directory", breaks="MQDMPR-3.1.7.1.3.1-05")
class DefaultSecurityDescriptorComputerSidNotFromDirectory(QueueLifecycle):
    """The default security descriptor has the SID of the operating system's account for the computer instead of the SID
    in the directory.
    """

    def find_machine_sid(self) -> Sid | None:
        return None if super().find_machine_sid() is None else LOCAL_SYSTEM_SID


@fault("default-security-descriptor-has-system-account-sid-while-offline", breaks="MQDMPR-3.1.7.1.3.1-04")
class DefaultSecurityDescriptorHasSystemAccountSidWhileOffline(QueueLifecycle):
    """If the directory does not answer, the default security descriptor has the SID of the operating system's account
    for the computer.
    """

    def find_machine_sid(self) -> Sid | None:
        return super().find_machine_sid() or LOCAL_SYSTEM_SID


@fault("default-security-descriptor-without-computer-entry", breaks=("MQDMPR-3.1.7.1.3.1-05", "MQDMPR-3.1.7.1.3.1-18"))
class DefaultSecurityDescriptorWithoutComputerEntry(QueueLifecycle):
    """The default security descriptor has no entry for the computer in directory-integrated mode."""

    def find_machine_sid(self) -> Sid | None:
        return None


@fault("default-security-descriptor-grants-computer-all-rights", breaks="MQDMPR-3.1.7.1.3.1-14")
class DefaultSecurityDescriptorGrantsComputerAllRights(QueueLifecycle):
    """The default security descriptor grants the computer all rights."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        found, computer = super().create_default_security(owner), self.find_machine_sid()
        aces = (
            replace(ace, Mask=int(ALL_QUEUE_RIGHTS)) if ace.Sid == computer else ace for ace in _get_dacl_entries(found)
        )
        return replace(found, Dacl=Acl(tuple(aces)))


class _SuppliedSecurityDescriptorChanger(QueueLifecycle):
    """Change a supplied security descriptor before the queue manager uses it."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        return super().build_security_of_new_queue(
            None if supplied is None else self.change_supplied_descriptor(supplied), user
        )

    def change_supplied_descriptor(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return supplied


@fault(
    "supplied-security-descriptor-ignored",
    breaks=(
        *("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-07"),
        *("MQDMPR-3.1.7.1.3.1-08", "MQDMPR-3.1.7.1.3.1-09"),
    ),
)
class SuppliedSecurityDescriptorIgnored(_SuppliedSecurityDescriptorChanger):
    """The queue manager assigns the default security descriptor to a new queue instead of the descriptor that its
    creator supplies.
    """

    def change_supplied_descriptor(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return None


@fault("supplied-security-descriptor-owner-ignored", breaks=("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-07"))
class SuppliedSecurityDescriptorOwnerIgnored(_SuppliedSecurityDescriptorChanger):
    """The owner of a new queue is its creator instead of the owner in the supplied descriptor."""

    def change_supplied_descriptor(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return replace(supplied, Owner=None)


@fault(
    "supplied-security-descriptor-dacl-appended-to-default-dacl",
    breaks=("MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-08"),
)
class SuppliedSecurityDescriptorDaclAppendedToDefaultDacl(QueueLifecycle):
    """The queue manager appends the entries of a supplied access list to the default list."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        found = super().build_security_of_new_queue(supplied, user)
        return (
            found
            if supplied is None
            else replace(
                found,
                Dacl=Acl((*_get_dacl_entries(DESCRIPTOR_WITH_ALL_RIGHTS_FOR_EVERYONE), *_get_dacl_entries(found))),
            )
        )


@fault("supplied-security-descriptor-system-access-list-dropped", breaks="MQDMPR-3.1.7.1.3.1-09")
class SuppliedSecurityDescriptorSystemAccessListDropped(_SuppliedSecurityDescriptorChanger):
    """The queue manager drops the system access list of a supplied security descriptor."""

    def change_supplied_descriptor(self, supplied: SecurityDescriptor) -> SecurityDescriptor | None:
        return replace(supplied, Sacl=None)
