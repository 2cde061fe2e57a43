"""Faults in the security descriptors of some queues: queues whose creator supplied a descriptor, queues of domain
users, and queues of other users.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.security import ANONYMOUS_SID, EVERYONE_SID, Ace, AceType, Acl, QueueAccess, SecurityDescriptor, Sid

NOBODY_SID = Sid(0, (0,))
AUTHENTICATED_USERS_SID = Sid(5, (11,))
PROPERTY_AND_PERMISSION_READ_RIGHTS = int(
    QueueAccess.MQSEC_GET_QUEUE_PROPERTIES | QueueAccess.MQSEC_GET_QUEUE_PERMISSIONS
)


def replace_dacl_entries(descriptor: SecurityDescriptor, aces: Iterable[Ace]) -> SecurityDescriptor:
    """Return a descriptor with the given entries in its DACL."""
    return replace(descriptor, Dacl=Acl(tuple(aces)))


def list_dacl_entries(descriptor: SecurityDescriptor) -> tuple[Ace, ...]:
    """Return the entries in the DACL of a descriptor."""
    return () if descriptor.Dacl is None else descriptor.Dacl.Aces


@fault("queue-manager-security-descriptor-has-nobody-for-unknown-sid", breaks="MQDMPR-3.1.7.1.3.1-04", blind=True)
class QueueManagerSecurityDescriptorHasNobodyForUnknownSid(QueueLifecycle):
    """If the directory does not return the SID of the computer, the default descriptor has an entry for S-1-0-0."""

    def find_machine_sid(self) -> Sid | None:
        return super().find_machine_sid() or NOBODY_SID


@fault("queue-manager-security-descriptor-has-sid-of-earlier-computer", breaks="MQDMPR-3.1.7.1.3.1-04", blind=True)
class QueueManagerSecurityDescriptorHasSidOfEarlierComputer(QueueLifecycle):
    """If the directory does not return the SID of the computer, the default descriptor has an entry for the SID that
    the directory returned before.
    """

    def find_machine_sid(self) -> Sid | None:
        found = super().find_machine_sid()
        if found is not None:
            self.__dict__["known"] = found
        known: Sid | None = self.__dict__.get("known")
        return known


@fault("queue-manager-drops-access-denied-entries-of-supplied-dacl", breaks="MQDMPR-3.1.7.1.3.1-06", blind=True)
class QueueManagerDropsAccessDeniedEntriesOfSuppliedDacl(QueueLifecycle):
    """The queue manager drops the access-denied entries of a supplied descriptor."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        if made.Dacl is None:
            return made
        return replace_dacl_entries(made, [one for one in made.Dacl.Aces if one.AceType is not AceType.ACCESS_DENIED])


@fault("queue-manager-drops-supplied-sacl-if-dacl-is-missing", breaks="MQDMPR-3.1.7.1.3.1-06", blind=True)
class QueueManagerDropsSuppliedSaclIfDaclIsMissing(QueueLifecycle):
    """The queue manager drops the SACL of a supplied descriptor that has no DACL."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        return replace(made, Sacl=None) if supplied is not None and supplied.Dacl is None else made


@fault("queue-manager-replaces-supplied-owner-by-creator-without-dacl", breaks="MQDMPR-3.1.7.1.3.1-07", blind=True)
class QueueManagerReplacesSuppliedOwnerByCreatorWithoutDacl(QueueLifecycle):
    """If a supplied descriptor has an owner but no DACL, the owner of the queue is its creator."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        if supplied is not None and supplied.Dacl is None:
            return replace(made, Owner=self.find_owner_of_new_queue(user))
        return made


@fault("queue-manager-replaces-supplied-owner-by-creating-domain-user", breaks="MQDMPR-3.1.7.1.3.1-07", blind=True)
class QueueManagerReplacesSuppliedOwnerByCreatingDomainUser(QueueLifecycle):
    """If a domain user creates a queue, the user becomes the owner, even if the supplied descriptor has an owner."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        return replace(made, Owner=user) if self.find_owner_of_new_queue(user) == user != ANONYMOUS_SID else made


@fault("queue-manager-group-of-supplied-descriptor-becomes-queue-owner", breaks="MQDMPR-3.1.7.1.3.1-10", blind=True)
class QueueManagerGroupOfSuppliedDescriptorBecomesQueueOwner(QueueLifecycle):
    """If a supplied descriptor has a group and no owner, the group becomes the owner of the queue."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        if supplied is not None and supplied.Owner is None and supplied.Group is not None:
            return replace(made, Owner=supplied.Group)
        return made


@fault("queue-manager-supplied-dacl-without-owner-gets-anonymous-owner", breaks="MQDMPR-3.1.7.1.3.1-10", blind=True)
class QueueManagerSuppliedDaclWithoutOwnerGetsAnonymousOwner(QueueLifecycle):
    """If a domain user supplies a descriptor with a DACL and without an owner, the anonymous user becomes the owner
    of the queue.
    """

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        if supplied is not None and supplied.Owner is None and supplied.Dacl is not None:
            return replace(made, Owner=ANONYMOUS_SID)
        return made


@fault("queue-manager-dacl-limits-everyone-to-read-for-foreign-owner", breaks="MQDMPR-3.1.7.1.3.1-12", blind=True)
class QueueManagerDaclLimitsEveryoneToReadForForeignOwner(QueueLifecycle):
    """If the owner in a supplied descriptor is not a domain user, the DACL grants everyone only the rights to read
    properties and permissions.
    """

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        if supplied is None or supplied.Owner is None or supplied.Dacl is not None or made.Owner != ANONYMOUS_SID:
            return made
        aces = list_dacl_entries(made)
        return replace_dacl_entries(
            made,
            [
                replace(one, Mask=PROPERTY_AND_PERMISSION_READ_RIGHTS) if one.Sid == EVERYONE_SID else one
                for one in aces
            ],
        )


@fault("queue-manager-dacl-denies-everyone-right-to-take-ownership", breaks="MQDMPR-3.1.7.1.3.1-12", blind=True)
class QueueManagerDaclDeniesEveryoneRightToTakeOwnership(QueueLifecycle):
    """If the owner of a queue is not a domain user, the DACL grants everyone all rights except the right to take the
    ownership.
    """

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        made, left = super().create_default_security(owner), int(~QueueAccess.MQSEC_TAKE_QUEUE_OWNERSHIP)
        if owner != ANONYMOUS_SID:
            return made
        return replace_dacl_entries(
            made,
            [replace(one, Mask=one.Mask & left) if one.Sid == EVERYONE_SID else one for one in list_dacl_entries(made)],
        )


@fault("queue-manager-dacl-omits-owner-right-to-change-permissions", breaks="MQDMPR-3.1.7.1.3.1-13", blind=True)
class QueueManagerDaclOmitsOwnerRightToChangePermissions(QueueLifecycle):
    """If a domain user owns a queue, the DACL grants the owner all rights except the right to change permissions."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        made, left = super().create_default_security(owner), int(~QueueAccess.MQSEC_CHANGE_QUEUE_PERMISSIONS)
        if owner == ANONYMOUS_SID:
            return made
        return replace_dacl_entries(
            made, [replace(one, Mask=one.Mask & left) if one.Sid == owner else one for one in list_dacl_entries(made)]
        )


@fault("queue-manager-dacl-gives-everyone-all-rights-for-domain-owner", breaks="MQDMPR-3.1.7.1.3.1-13", blind=True)
class QueueManagerDaclGivesEveryoneAllRightsForDomainOwner(QueueLifecycle):
    """If a supplied descriptor has a domain user as owner and no DACL, the DACL grants everyone all rights."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made, all_rights = super().build_security_of_new_queue(supplied, user), int(QueueAccess.MQSEC_QUEUE_GENERIC_ALL)
        if supplied is None or supplied.Owner is None or supplied.Dacl is not None:
            return made
        aces = list_dacl_entries(made)
        return replace_dacl_entries(
            made, [replace(one, Mask=all_rights) if one.Sid == EVERYONE_SID else one for one in aces]
        )


@fault("queue-manager-dacl-lacks-entry-of-everyone-beside-computer-entry", breaks="MQDMPR-3.1.7.1.3.1-16", blind=True)
class QueueManagerDaclLacksEntryOfEveryoneBesideComputerEntry(QueueLifecycle):
    """If the computer and the owner have entries, the DACL has no entry for everyone."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        made = super().create_default_security(owner)
        if len(list_dacl_entries(made)) < 3:
            return made
        return replace_dacl_entries(made, [one for one in list_dacl_entries(made) if one.Sid != EVERYONE_SID])


@fault("queue-manager-dacl-entry-of-everyone-names-authenticated-users", breaks="MQDMPR-3.1.7.1.3.1-16", blind=True)
class QueueManagerDaclEntryOfEveryoneNamesAuthenticatedUsers(QueueLifecycle):
    """If a domain user owns a queue, the DACL has an entry for S-1-5-11 instead of everyone."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        made = super().create_default_security(owner)
        if owner == ANONYMOUS_SID:
            return made
        aces = list_dacl_entries(made)
        return replace_dacl_entries(
            made, [replace(one, Sid=AUTHENTICATED_USERS_SID) if one.Sid == EVERYONE_SID else one for one in aces]
        )


class ComputerAccessEntryOmitter(QueueLifecycle):
    """A part of the queue manager whose default descriptor has no entry for the computer if the owner is of a certain
    kind; a subclass selects which.
    """

    def is_computer_entry_omitted(self, owner: Sid) -> bool:
        raise NotImplementedError

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        made, machine = super().create_default_security(owner), self.find_machine_sid()
        if not self.is_computer_entry_omitted(owner):
            return made
        return replace_dacl_entries(made, [one for one in list_dacl_entries(made) if one.Sid != machine])


@fault("queue-manager-dacl-lacks-computer-entry-for-anonymous-owner", breaks="MQDMPR-3.1.7.1.3.1-18", blind=True)
class QueueManagerDaclLacksComputerEntryForAnonymousOwner(ComputerAccessEntryOmitter):
    """If the anonymous user owns a queue, the DACL has no entry for the computer."""

    def is_computer_entry_omitted(self, owner: Sid) -> bool:
        return owner == ANONYMOUS_SID


@fault("queue-manager-dacl-lacks-computer-entry-for-domain-user-owner", breaks="MQDMPR-3.1.7.1.3.1-18", blind=True)
class QueueManagerDaclLacksComputerEntryForDomainUserOwner(ComputerAccessEntryOmitter):
    """If a domain user owns a queue, the DACL has no entry for the computer."""

    def is_computer_entry_omitted(self, owner: Sid) -> bool:
        return owner != ANONYMOUS_SID


@fault("queue-manager-dacl-contains-entry-of-anonymous-owner", breaks="MQDMPR-3.1.7.1.3.1-19", blind=True)
class QueueManagerDaclContainsEntryOfAnonymousOwner(QueueLifecycle):
    """The DACL has an entry with all rights for the anonymous owner, although everyone has these rights."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        made, all_rights = super().create_default_security(owner), int(QueueAccess.MQSEC_QUEUE_GENERIC_ALL)
        if owner != ANONYMOUS_SID:
            return made
        return replace_dacl_entries(
            made, (*list_dacl_entries(made), Ace(AceType.ACCESS_ALLOWED, all_rights, ANONYMOUS_SID))
        )


@fault("queue-manager-dacl-lacks-entry-of-supplied-domain-owner", breaks="MQDMPR-3.1.7.1.3.1-19", blind=True)
class QueueManagerDaclLacksEntryOfSuppliedDomainOwner(QueueLifecycle):
    """If a supplied descriptor has a domain user as owner and no DACL, the DACL has no entry for the owner."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        if supplied is None or supplied.Owner is None or supplied.Dacl is not None:
            return made
        return replace_dacl_entries(made, [one for one in list_dacl_entries(made) if one.Sid != made.Owner])
