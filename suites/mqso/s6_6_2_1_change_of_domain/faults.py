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


@fault("so-object-deleted-when-leaving", breaks="MQSO-6.6.2.2-02")
class ObjectDeletedWhenLeaving(DirectoryClient):
    """A queue manager that finds itself outside of its domain deletes its object there."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            self.qm.emit(WriteDirectory(self.qm.next_directory_token(), Delete(state.LocalQueueManager)))


@fault("so-last-domain-not-kept", breaks=("MQSO-6.6.2-D02", "MQSO-6.6.2-03", "MQSO-6.6.2-D04", "MQSO-6.6.2.1-01"))
class LastDomainNotKept(Membership):
    """The domain that a queue manager came into is not noted as its last one."""

    def keep_domain(self) -> None:
        if self.qm.adm.MachineDomainId is None:
            super().keep_domain()


@fault("so-another-domain-not-noticed", breaks=("MQSO-6.6.2-03", "MQSO-6.6.2-D04", "MQSO-6.6.2.1-01"))
class AnotherDomainNotNoticed(Membership):
    """A queue manager that came into another domain waits there until somebody makes it known."""

    def come_into_domain(self, go_on: Callable[[Now], None], now: Now) -> None:
        self.qm.enterprise.state.go_offline()


@fault("so-identifier-kept-in-another-domain", breaks="MQSO-6.6.2.1-05")
class IdentifierKeptInAnotherDomain(Membership):
    """The Identifier of the object that the directory made is not taken over."""

    def take_identifier(self, identifier: UUID) -> None:
        """Keep the own one."""


@fault("so-object-made-without-its-role", breaks="MQSO-6.6.2.1-D05")
class ObjectMadeWithoutItsRole(Membership):
    """The object of the machine says of each that it is a routing server."""

    def describe_machine(self) -> QueueManager:
        return replace(super().describe_machine(), RoutingServer=True)


@fault("so-domain-noted-without-its-directory", breaks="MQSO-6.6.2.1-D01")
class DomainNotedWithoutItsDirectory(DirectoryClient):
    """A domain whose directory could not be read is noted as the last one."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        self.qm.membership.keep_domain()


@fault("so-machine-looked-for-by-identifier", breaks=("MQSO-6.6.2.1-03", "MQSO-6.6.2.1-D02"))
class MachineLookedForByIdentifier(Membership):
    """In another domain the object of the machine is looked for by its Identifier, not by its name."""

    def find_machine(self) -> QueueManager | None:
        return self.qm.enterprise.find_queue_manager("Identifier", self.qm.adm.Identifier)


@fault("so-object-of-its-name-taken", breaks=("MQSO-6.6.2.1-03", "MQSO-6.6.2.1-D02"))
class ObjectOfItsNameTaken(Membership):
    """In another domain an object of the machine's name is its own, whatever its Identifier."""

    def come_into_domain(self, go_on: Callable[[Now], None], now: Now) -> None:
        found = self.find_machine()
        if found is not None and found.Identifier is not None:
            self.take_identifier(found.Identifier)
        super().come_into_domain(go_on, now)


@fault("so-integrated-without-directory", breaks=("MQSO-5.5.4-02", "MQSO-6.6.2-D03", "MQSO-6.6.2.2-01"))
class IntegratedWithoutDirectory(DirectoryClient):
    """A queue manager that starts without its directory waits for it, in directory mode."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            state.DirectoryIntegrated = True
            state.go_offline()
