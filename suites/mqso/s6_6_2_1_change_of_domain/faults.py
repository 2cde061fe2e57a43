"""Faults of MS-MQSO 6.6.2.1 and 6.6.2.2: changes of the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.membership import Membership
from reference_qm.directory import QueueManager
from reference_qm.directory.interface import Delete
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered


@fault("directory-object-deleted-when-domain-left", breaks="MQSO-6.6.2.2-02")
class DirectoryObjectDeletedWhenDomainLeft(DirectoryClient):
    """A queue manager whose computer has left the domain deletes its directory object."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            self.qm.emit(WriteDirectory(self.qm.next_directory_token(), Delete(state.LocalQueueManager)))


@fault("last-domain-not-stored", breaks=("MQSO-6.6.2-D02", "MQSO-6.6.2-03", "MQSO-6.6.2-D04", "MQSO-6.6.2.1-01"))
class LastDomainNotStored(Membership):
    """The queue manager does not store the domain that it has joined as LastDomain."""

    def save_domain(self) -> None:
        if self.qm.adm.MachineDomainId is None:
            super().save_domain()


@fault("new-domain-object-not-created", breaks=("MQSO-6.6.2-03", "MQSO-6.6.2-D04", "MQSO-6.6.2.1-01"))
class NewDomainObjectNotCreated(Membership):
    """In a new domain, the queue manager waits for an administrator to create its object."""

    def change_domain(self, go_on: Callable[[Now], None], now: Now) -> None:
        self.qm.enterprise.state.go_offline()


@fault("new-domain-identifier-not-used", breaks="MQSO-6.6.2.1-05")
class NewDomainIdentifierNotUsed(Membership):
    """A queue manager in a new domain keeps its old Identifier."""

    def take_identifier(self, identifier: UUID) -> None:
        """Keep the queue manager's own Identifier."""


@fault("new-domain-object-always-routing-server", breaks="MQSO-6.6.2.1-D05")
class NewDomainObjectAlwaysRoutingServer(Membership):
    """The queue manager always creates its object with the role of a routing server."""

    def describe_machine(self) -> QueueManager:
        return replace(super().describe_machine(), RoutingServer=True)


@fault("last-domain-stored-without-directory", breaks="MQSO-6.6.2.1-D01")
class LastDomainStoredWithoutDirectory(DirectoryClient):
    """The queue manager stores a domain as LastDomain although it could not read the directory of that domain."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        self.qm.membership.save_domain()


@fault("new-domain-object-searched-by-identifier", breaks=("MQSO-6.6.2.1-03", "MQSO-6.6.2.1-D02"))
class NewDomainObjectSearchedByIdentifier(Membership):
    """In a new domain, the queue manager searches for its object by Identifier instead of by name."""

    def find_machine(self) -> QueueManager | None:
        return self.qm.enterprise.find_queue_manager("Identifier", self.qm.adm.Identifier)


@fault("new-domain-foreign-object-accepted", breaks=("MQSO-6.6.2.1-03", "MQSO-6.6.2.1-D02"))
class NewDomainForeignObjectAccepted(Membership):
    """In a new domain, the queue manager uses an object with the name of its computer, regardless of the object's
    Identifier.
    """

    def change_domain(self, go_on: Callable[[Now], None], now: Now) -> None:
        found = self.find_machine()
        if found is not None and found.Identifier is not None:
            self.take_identifier(found.Identifier)
        super().change_domain(go_on, now)


@fault("start-without-directory-in-directory-mode", breaks=("MQSO-5.5.4-02", "MQSO-6.6.2-D03", "MQSO-6.6.2.2-01"))
class StartWithoutDirectoryInDirectoryMode(DirectoryClient):
    """A queue manager that was started without the directory is in directory mode."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            state.DirectoryIntegrated = True
            state.go_offline()
