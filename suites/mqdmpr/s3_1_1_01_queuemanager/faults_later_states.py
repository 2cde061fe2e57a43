"""Faults that break rules of MS-MQDMPR 3.1.1.1 QueueManager after a restart, an update or a stop."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.enums import DirectoryServerType
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import BytesReceived, DirectoryAnswered, Input, QueueManagerStopped
from suites.mqdmpr.s3_1_3_initialization.fault_steps import (
    change_state_at_later_synchronization,
    replace_attribute_in_own_directory_object,
)


@fault("queue-manager-directory-server-type-changed-when-directory-returns", breaks="MQDMPR-3.1.1.1-11", blind=True)
class QueueManagerDirectoryServerTypeChangedWhenDirectoryReturns(DirectoryClient):
    """When the directory is online again, the queue manager sets its DirectoryServerType to BackupSiteController."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.adm.DirectoryServerType = DirectoryServerType.BACKUP_SITE_CONTROLLER


@fault("queue-manager-stop-keeps-accepted-sessions", breaks="MQDMPR-3.1.1.1-23", blind=True)
class QueueManagerStopKeepsAcceptedSessions(InputDispatching):
    """A queue manager that is stopped closes only the sessions that it initiated, and still receives messages on the
    other sessions.
    """

    def on_stopped(self, event: QueueManagerStopped, now: Now) -> None:
        accepted = {number: one for number, one in self.qm.sessions.items() if not one.initiator}
        for number in accepted:
            del self.qm.sessions[number]
        super().on_stopped(event, now)
        self.qm.sessions.update(accepted)

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, BytesReceived):
            self.qm.halted = None
            self.on_bytes(event, now)
        else:
            super().refuse_input_while_stopped(event, now)


@fault("queue-manager-answers-pending-peeks-when-it-is-stopped", breaks="MQDMPR-3.1.1.1-23", blind=True)
class QueueManagerAnswersPendingPeeksWhenItIsStopped(InputDispatching):
    """A queue manager that is stopped answers pending peeks with the first message of any of its queues."""

    def on_stopped(self, event: QueueManagerStopped, now: Now) -> None:
        messages = [one for queue in self.qm.queue_names.list_every_queue() for one in queue.MessagePositionList]
        for reader in list(self.qm.readers.values()) if messages else ():
            if not reader.DestructiveRead:
                self.qm.waiting_reads._remove_waiting_reader(reader)
                reader.answered(Status.MQ_OK, messages[0])
        super().on_stopped(event, now)


@fault("queue-manager-site-identifiers-lost-at-sites-update", breaks="MQDMPR-3.1.1.1-27", blind=True)
class QueueManagerSiteIdentifiersLostAtSitesUpdate(DirectoryClient):
    """When the queue manager updates its sites, it empties SiteIdentifierList."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        replace_attribute_in_own_directory_object(self.qm, SiteIdentifierList=())


@fault("queue-manager-site-identifiers-lost-when-directory-returns", breaks="MQDMPR-3.1.1.1-27", blind=True)
class QueueManagerSiteIdentifiersLostWhenDirectoryReturns(DirectoryClient):
    """When the directory is online again, the queue manager empties SiteIdentifierList."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            replace_attribute_in_own_directory_object(self.qm, SiteIdentifierList=())


def _change_site_identifiers(qm: QueueManager) -> None:
    others = tuple(UUID(int=one.int ^ 1) for one in qm.enterprise.state.LocalQueueManager.SiteIdentifierList)
    replace_attribute_in_own_directory_object(qm, SiteIdentifierList=others)


add(
    "queue-manager-site-identifiers-wrong-after-restart",
    "MQDMPR-3.1.1.1-27",
    "After a restart, the identifiers in SiteIdentifierList differ from those of the sites in SiteCollection.",
    change_state_at_later_synchronization(_change_site_identifiers),
    blind=True,
)


def _set_initialization_retry_duration_to_0(qm: QueueManager) -> None:
    qm.adm.InitializationRetryTimerDuration = 0


add(
    "queue-manager-retry-duration-zero-after-restart",
    "MQDMPR-3.1.1.1-31",
    "After a restart InitializationRetryTimerDuration is 0.",
    change_core_at_restart(_set_initialization_retry_duration_to_0),
    blind=True,
)


@fault("queue-manager-retry-duration-900-when-directory-returns", breaks="MQDMPR-3.1.1.1-31", blind=True)
class QueueManagerRetryDuration900WhenDirectoryReturns(DirectoryClient):
    """When the directory is online again, the queue manager sets InitializationRetryTimerDuration to 900 seconds."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.adm.InitializationRetryTimerDuration = 900


@fault("queue-manager-retry-duration-doubled-at-synchronization", breaks="MQDMPR-3.1.1.1-31", blind=True)
class QueueManagerRetryDurationDoubledAtSynchronization(DirectoryClient):
    """A synchronization with the directory doubles InitializationRetryTimerDuration."""

    def synchronize_with_directory(self, now: Now) -> Result:
        self.qm.adm.InitializationRetryTimerDuration *= 2
        return super().synchronize_with_directory(now)


@fault("queue-manager-directory-server-type-standalone-after-domain-change", breaks="MQDMPR-3.1.1.1-11")
class QueueManagerDirectoryServerTypeStandaloneAfterDomainChange(DomainMembership):
    """A queue manager that creates its object in another domain sets its DirectoryServerType to Standalone."""

    def adopt_directory_identifier(self, identifier: UUID) -> None:
        super().adopt_directory_identifier(identifier)
        self.qm.adm.DirectoryServerType = DirectoryServerType.STANDALONE
