"""Faults that break rules of MS-MQSO 6.6.2.1 Interactions with Directory Service on Domain Join or Changes and of
6.6.2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.store.disk import Change as DiskChange
from reference_qm.directory import QueueManager
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryDeleteRequest
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered, DirectoryChanged


@fault("last-domain-not-stored", breaks=("MQSO-6.6.2-D02", "MQSO-6.6.2-03", "MQSO-6.6.2-D04", "MQSO-6.6.2.1-01"))
class LastDomainNotStored(DomainMembership):
    """The queue manager does not store the domain that it has joined as LastDomain."""

    def save_last_domain(self) -> None:
        if self.qm.adm.MachineDomainId is None:
            super().save_last_domain()


@fault(
    "queue-manager-creates-no-directory-object-in-new-domain",
    breaks=("MQSO-6.6.2-03", "MQSO-6.6.2-D04", "MQSO-6.6.2.1-01"),
)
class QueueManagerCreatesNoDirectoryObjectInNewDomain(DomainMembership):
    """In a new domain, the queue manager waits for an administrator to create its object."""

    def process_domain_change(self, go_on: Callable[[Now], None], now: Now) -> None:
        self.qm.enterprise.state.go_offline()


@fault("queue-manager-finds-object-in-new-domain-by-identifier", breaks=("MQSO-6.6.2.1-03", "MQSO-6.6.2.1-D02"))
class QueueManagerFindsObjectInNewDomainByIdentifier(DomainMembership):
    """In a new domain, the queue manager searches for its object by Identifier instead of by name."""

    def find_machine_object(self) -> QueueManager | None:
        return self.qm.enterprise.find_queue_manager("Identifier", self.qm.adm.Identifier)


@fault("queue-manager-uses-foreign-object-of-same-name-in-new-domain", breaks=("MQSO-6.6.2.1-03", "MQSO-6.6.2.1-D02"))
class QueueManagerUsesForeignObjectOfSameNameInNewDomain(DomainMembership):
    """In a new domain, the queue manager uses an object with the name of its computer, regardless of the object's
    Identifier.
    """

    def process_domain_change(self, go_on: Callable[[Now], None], now: Now) -> None:
        found = self.find_machine_object()
        if found is not None and found.Identifier is not None:
            self.adopt_directory_identifier(found.Identifier)
        super().process_domain_change(go_on, now)


@fault("queue-manager-keeps-old-identifier-in-new-domain", breaks="MQSO-6.6.2.1-05")
class QueueManagerKeepsOldIdentifierInNewDomain(DomainMembership):
    """A queue manager in a new domain keeps its old Identifier."""

    def adopt_directory_identifier(self, identifier: UUID) -> None:
        """Keep the queue manager's own Identifier."""


@fault("queue-manager-identifier-of-created-object-lost-at-restart", breaks="MQSO-6.6.2.1-05")
class QueueManagerIdentifierOfCreatedObjectLostAtRestart(DomainMembership):
    """The Identifier of the object that the directory created is lost at the next restart."""

    def _save_domain_change(self, change: DiskChange) -> None:
        super()._save_domain_change({name: value for name, value in change.items() if name != "directory_identifier"})


@fault("last-domain-stored-without-directory", breaks="MQSO-6.6.2.1-D01")
class LastDomainStoredWithoutDirectory(DirectoryClient):
    """The queue manager stores a domain as LastDomain although it could not read the directory of that domain."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        self.qm.domain_membership.save_last_domain()


class RecorderOfDirectoryObjectWithOtherIdentifier(DomainMembership):
    """A queue manager that records whether the object in a new domain has a different Identifier."""

    def process_domain_change(self, go_on: Callable[[Now], None], now: Now) -> None:
        found = self.find_machine_object()
        vars(self)["found_other"] = found is not None and found.Identifier != self.qm.adm.Identifier
        super().process_domain_change(go_on, now)


class OmitterOfPeriodicDirectoryQueries(DirectoryClient):
    """A queue manager that found an object with a different Identifier does not query the directory periodically."""

    def start_online_timer_if_offline(self, now: Now) -> None:
        if not vars(self.qm.domain_membership).get("found_other"):
            super().start_online_timer_if_offline(now)


add(
    "queue-manager-object-of-other-identifier-not-queried-again",
    "MQSO-6.6.2.1-D02",
    "A queue manager that finds an object with a different Identifier does not query the directory periodically.",
    combine_installers(
        replace_part(RecorderOfDirectoryObjectWithOtherIdentifier), replace_part(OmitterOfPeriodicDirectoryQueries)
    ),
)


@fault("new-directory-object-always-has-routing-server-role", breaks="MQSO-6.6.2.1-D05")
class NewDirectoryObjectAlwaysHasRoutingServerRole(DomainMembership):
    """The queue manager always creates its object with the role of a routing server."""

    def describe_machine_object(self) -> QueueManager:
        return replace(super().describe_machine_object(), RoutingServer=True)


@fault("start-without-directory-in-directory-mode", breaks=("MQSO-5.5.4-02", "MQSO-6.6.2-D03", "MQSO-6.6.2.2-01"))
class StartWithoutDirectoryInDirectoryMode(DirectoryClient):
    """A queue manager that was started without the directory is in directory mode."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            state.DirectoryIntegrated = True
            state.go_offline()


@fault("queue-manager-that-left-domain-rejoins-at-second-start", breaks="MQSO-6.6.2.2-01", blind=True)
class QueueManagerThatLeftDomainRejoinsAtSecondStart(DirectoryClient):
    """A queue manager whose computer has left its domain is in workgroup mode only until its second start; then it is
    in directory mode again, and waits for the directory.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        was_member = self.qm.adm.LastDomain is None and self.qm.enterprise.last_known is not None
        if answer.status is Result.DIRECTORY_NOT_CONNECTED and was_member:
            self.qm.enterprise.state.go_offline()
        else:
            super()._on_first_read(answer, now)


@fault("queue-manager-outside-domain-reads-changed-directory", breaks="MQSO-6.6.2.2-01")
class QueueManagerOutsideDomainReadsChangedDirectory(DirectoryClient):
    """A queue manager that left its domain reads the directory when another program changes the directory."""

    def on_directory_changed(self, event: DirectoryChanged, now: Now) -> None:
        self.qm.enterprise.state.DirectoryIntegrated = True
        super().on_directory_changed(event, now)


@fault("directory-object-deleted-when-domain-left", breaks="MQSO-6.6.2.2-02")
class DirectoryObjectDeletedWhenDomainLeft(DirectoryClient):
    """A queue manager whose computer has left the domain deletes its directory object."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            self.qm.emit_effect(
                WriteDirectory(self.qm.assign_directory_token(), DirectoryDeleteRequest(state.LocalQueueManager))
            )


@fault("acceptor-ping-response-qm-guid-as-before-change-of-domain", breaks="MQSO-6.6.2.1-05", blind=True)
class AcceptorPingResponseQmGuidAsBeforeChangeOfDomain(PingHandling):
    """The acceptor sends its earlier Identifier as QMGuid of a Ping Response after the directory of its new domain has
    created its object.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(super().build_response(request), QMGuid=self.qm.config.identifier)
