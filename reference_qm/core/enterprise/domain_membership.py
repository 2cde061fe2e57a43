from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.disk import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.events import create_directory_object
from reference_qm.directory.interface import DirectoryChangeResult
from reference_qm.directory.objects import QueueManager
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered, DomainReported

ATTRIBUTES_OF_CREATED_MACHINE_OBJECT = (
    "DirectoryServer",
    "RoutingServer",
    "OperatingSystemType",
    "SupportingServer",
    "PublicEncryptionKeyList",
    "PublicSigningKeyList",
    "SiteIdentifierList",
    "Security",
    "QualifiedComputerName",
)
"""The iAttributeList for the object of a machine. Unlike the list in MS-MQSO, this list also contains the machine's
name, because later searches find the object by this name.
"""


ATTRIBUTES_SAVED_FOR_OFFLINE_START = (
    "ComputerName",
    "QualifiedComputerName",
    "DirectoryServer",
    "RoutingServer",
    "SupportingServer",
)
"""The attributes that a machine publishes when it joins a different domain. The list does not contain the attribute for
its sites.
"""


class DomainMembership(QueueManagerPart):
    """Handles a change of the domain to which the machine belongs.

    Spec: MS-MQSO 6.6.2, 6.6.2.1, 6.6.2.2, MS-MQDMPR 3.1.1.1 (MachineDomainId, LastDomain), 3.1.3.
    """

    __slots__ = ()

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        """Store the identifier of the domain to which the machine belongs. Spec: MS-MQDMPR 3.1.3."""
        self.qm.adm.MachineDomainId = event.identifier

    @property
    def has_left_domain(self) -> bool:
        """Return whether the machine has left its domain. Spec: MS-MQSO 6.6.2."""
        return self.qm.adm.LastDomain is not None and self.qm.adm.MachineDomainId is None

    @property
    def has_joined_domain(self) -> bool:
        """Return whether the machine has joined its first domain or a different domain. Spec: MS-MQSO 6.6.2.

        A machine that was never in a domain has no sites. Such a machine cannot create its object, so it waits
        until the directory has an object for it.
        """
        has_moved = self.qm.adm.MachineDomainId not in (None, self.qm.adm.LastDomain)
        return has_moved and self.qm.enterprise.last_known is not None

    def save_last_domain(self) -> None:
        """Save the current domain, so that the next start can detect a change of domain. Spec: MS-MQSO 6.6.2."""
        domain = self.qm.adm.MachineDomainId
        if domain != self.qm.adm.LastDomain:
            self.qm.adm.LastDomain = domain
            self._save_domain_change({"last_domain": None if domain is None else str(domain)})

    def save_known_attributes(self) -> None:
        """Save the name, the sites and the roles that the directory contains for this machine, so that a restart
        without the directory can use them.
        """
        local = self.qm.enterprise.state.LocalQueueManager
        known = QueueManager(
            **{name: getattr(local, name) for name in (*ATTRIBUTES_SAVED_FOR_OFFLINE_START, "SiteIdentifierList")}
        )
        if known != self.qm.enterprise.last_known:
            self.qm.enterprise.last_known = known
            entry = {name: getattr(known, name) for name in ATTRIBUTES_SAVED_FOR_OFFLINE_START}
            self._save_domain_change(
                {"last_known": {**entry, "SiteIdentifierList": [str(one) for one in known.SiteIdentifierList]}}
            )

    def restore_known_attributes(self, entry: dict[str, Any]) -> None:
        """Restore the attributes that were saved before the restart. Raise LookupError, TypeError or ValueError for
        invalid values.
        """
        sites = tuple(UUID(one) for one in entry["SiteIdentifierList"])
        known: dict[str, Any] = {name: entry[name] for name in ATTRIBUTES_SAVED_FOR_OFFLINE_START}
        self.qm.enterprise.last_known = QueueManager(**known, SiteIdentifierList=sites)

    def process_domain_change(self, go_on: Callable[[Now], None], now: Now) -> None:
        """Handle a change of the machine's domain. Use the object that the directory of the new domain contains for
        this machine, or create this object.

        Spec: MS-MQSO 6.6.2.1.

        ``go_on`` is the function that continues the initialization when the directory has an object for this
        machine.
        """
        found = self.find_machine_object()
        if found is None:
            self.create_machine_object(go_on, now)
            return
        self.save_last_domain()
        if found.Identifier == self.qm.adm.Identifier:
            go_on(now)
        else:
            self.qm.enterprise.state.go_offline()

    def find_machine_object(self) -> QueueManager | None:
        """Find the object of this machine in its domain. Spec: MS-MQSO 6.6.2.1 step 1."""
        return self.qm.enterprise.find_queue_manager(
            "QualifiedComputerName", self.describe_machine_object().QualifiedComputerName
        )

    def create_machine_object(self, go_on: Callable[[Now], None], now: Now) -> None:
        """Create this machine's object in its domain, and use the Identifier of the object. Spec: MS-MQSO 6.6.2.1 step
        4.
        """
        state = self.qm.enterprise.state
        change = create_directory_object(state, self.describe_machine_object(), ATTRIBUTES_OF_CREATED_MACHINE_OBJECT)

        def adopt_object(answer: DirectoryAnswered) -> None:
            done = DirectoryChangeResult(answer.status, answer.identifier)
            if done.rStatus is not Result.SUCCESS or done.rObjectGUID is None:
                self.qm.queue_manager_initialization.give_up(
                    f"the directory cannot create the machine's object: {done.rStatus.value}", now
                )
                return
            self.adopt_directory_identifier(done.rObjectGUID)
            self._save_domain_change({"directory_identifier": str(done.rObjectGUID)})
            self.save_last_domain()
            go_on(now)

        self.qm.directory_link.write(change, adopt_object)

    def describe_machine_object(self) -> QueueManager:
        """Return the attributes for the directory object of this machine."""
        local, known = self.qm.enterprise.state.LocalQueueManager, self.qm.enterprise.last_known
        if known is None:
            return local
        same: dict[str, Any] = {
            name: getattr(known, name) for name in (*ATTRIBUTES_SAVED_FOR_OFFLINE_START, "SiteIdentifierList")
        }
        return replace(local, **same)

    def adopt_directory_identifier(self, identifier: UUID) -> None:
        """Use the Identifier of the directory object as the Identifier of the queue manager. Spec: MS-MQSO 6.6.2.1."""
        self.qm.adm.Identifier = identifier
        state = self.qm.enterprise.state
        state.LocalQueueManager = replace(state.LocalQueueManager, Identifier=identifier)

    def _save_domain_change(self, change: Change) -> None:
        self.qm.disk.save(change)
