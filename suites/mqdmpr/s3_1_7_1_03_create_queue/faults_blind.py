"""Faults of MS-MQDMPR 3.1.7.1.3.1 Create Default Queue Security Descriptor, by an author who saw no check."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.queues import Queues
from reference_qm.security import SecurityDescriptor, Sid
from reference_qm.security.descriptor import AceType


@fault("queue-manager-queue-security-sacl-lost-without-dacl", breaks="MQDMPR-3.1.7.1.3.1-09", blind=True)
class QueueManagerQueueSecuritySaclLostWithoutDacl(Queues):
    """The queue manager keeps the SACL of a supplied descriptor only when the descriptor also has a DACL."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is None:
            supplied = replace(supplied, Sacl=None)
        return super().create_security(supplied, user)


@fault("queue-manager-queue-security-owner-rights-granted-to-creator", breaks="MQDMPR-3.1.7.1.3.1-19", blind=True)
class QueueManagerQueueSecurityOwnerRightsGrantedToCreator(Queues):
    """The default DACL grants the owner's rights to the creator of the queue, even if the supplied descriptor has a
    different owner.
    """

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().create_security(supplied, user)
        if supplied is None or supplied.Dacl is not None:
            return made
        return replace(made, Dacl=self.create_default_security(self.owner(user)).Dacl)


@fault("queue-manager-queue-security-dacl-sorted", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class QueueManagerQueueSecurityDaclSorted(Queues):
    """The queue manager moves the entries of a supplied DACL that deny access before the entries that allow access."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is not None:
            aces = tuple(sorted(supplied.Dacl.Aces, key=lambda ace: ace.AceType is not AceType.ACCESS_DENIED))
            supplied = replace(supplied, Dacl=replace(supplied.Dacl, Aces=aces))
        return super().create_security(supplied, user)
