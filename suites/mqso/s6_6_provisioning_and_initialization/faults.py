"""Faults that break rules of MS-MQSO 6.6 Provisioning and Initialization Procedures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import (
    change_core_after_every_input,
    change_core_at_restart,
    combine_installers,
    omit_step,
)
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.enterprise.queue_manager_initialization import (
    LATER_INITIALIZATION_RETRY_INTERVAL_S,
    QueueManagerInitialization,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.directory.enums import DirectoryOperationResult, QueueType
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.model.attributes import INITIALIZATION_RETRY_S
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, RpcBytesReceived


def _make_function_setting_element_to_true(name: str) -> Callable[[QueueManager], None]:
    return lambda qm: setattr(qm.adm, name, True)


for _mode in ("Clustered", "SrmpHttpSupport", "SrmpPgmSupport"):
    add(
        f"provisioned-mode-{_mode.lower()}-always-true",
        ("MQSO-6.6.1-03", "MQSO-6.6.1-D03"),
        f"The queue manager's {_mode} is TRUE even if it was provisioned as FALSE.",
        change_core_after_every_input(_make_function_setting_element_to_true(_mode)),
    )


add(
    "provisioned-role-always-directory-server",
    "MQSO-6.6.1-D04",
    "The queue manager is a directory server even if it was not provisioned as a directory server.",
    change_core_after_every_input(_make_function_setting_element_to_true("DirectoryServer")),
)


@fault("provisioned-role-always-routing-server", breaks="MQSO-6.6.1-D04")
class ProvisionedRoleAlwaysRoutingServer(DirectoryClient):
    """In directory mode, the queue manager is a routing server even if it was not provisioned as a routing server."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        state = self.qm.enterprise.state
        state.LocalQueueManager = replace(state.LocalQueueManager, RoutingServer=True)
        return status


def _set_queue_manager_throttled(qm: QueueManager) -> None:
    qm.adm.Throttled = True


add(
    "restarted-queue-manager-throttled",
    ("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D07"),
    "A restarted queue manager accepts no message.",
    change_core_at_restart(_set_queue_manager_throttled),
)


def _remove_messages_of_journals(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        if queue.JournalQueueReference is not None:
            for position in list(queue.JournalQueueReference.MessagePositionList):
                queue.JournalQueueReference.MessagePositionList.remove(position)


add(
    "restarted-queue-manager-journals-empty",
    ("MQSO-6.6.2-02", "MQSO-3.2.1-D02", "MQSO-4.3.1-01", "MQSO-5.5.1-01", "MQSO-5.5.1-03", "MQSO-5.5.1-05"),
    "A restarted queue manager has lost the messages in the journals of its queues.",
    change_core_at_restart(_remove_messages_of_journals),
)


def _remove_outgoing_messages(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.OutgoingQueues.values():
        for position in list(queue.session.OutgoingMessageTable):
            queue.session.OutgoingMessageTable.remove(position)


add(
    "restarted-queue-manager-outgoing-queues-empty",
    ("MQSO-6.6.2-02", "MQSO-5.5.1-02", "MQSO-5.5.1-04", "MQSO-5.5.1-D01"),
    "A restarted queue manager has lost the messages of its outgoing queues.",
    change_core_at_restart(_remove_outgoing_messages),
)


def _clear_queue_labels(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        queue.Label = ""


add(
    "restarted-queue-manager-labels-empty",
    ("MQSO-6.6.2-02", "MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "A restarted queue manager has lost the labels of its queues.",
    change_core_at_restart(_clear_queue_labels),
)


@fault("queue-manager-writes-other-quota-to-directory-at-each-start", breaks="MQSO-6.6.2-D01")
class QueueManagerWritesOtherQuotaToDirectoryAtEachStart(DirectoryClient):
    """At each start, the queue manager writes a different quota to its directory object."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        local = self.qm.enterprise.state.LocalQueueManager
        changed = replace(local, QueueManagerQuota=(local.QueueManagerQuota or 0) - 1)
        self.qm.directory_link.write(DirectoryWriteRequest(changed, ("QueueManagerQuota",)), lambda answer: None)
        return status


@fault("workgroup-queue-manager-keeps-last-domain", breaks="MQSO-6.6.2-D03")
class WorkgroupQueueManagerKeepsLastDomain(DomainMembership):
    """A queue manager that left its domain keeps LastDomain."""

    def save_last_domain(self) -> None:
        if self.qm.adm.MachineDomainId is not None:
            super().save_last_domain()


@fault("queue-manager-last-domain-kept-after-change-of-domain", breaks="MQSO-6.6.2-D04")
class QueueManagerLastDomainKeptAfterChangeOfDomain(DomainMembership):
    """A queue manager that has changed its domain keeps the old domain as LastDomain."""

    def save_last_domain(self) -> None:
        if None in (self.qm.adm.LastDomain, self.qm.adm.MachineDomainId):
            super().save_last_domain()


add(
    "routing-table-empty-after-start",
    "MQSO-6.6.2-D05",
    "A routing server has an empty routing table after its start.",
    omit_step(DirectoryClient.initialize_routing_table),
)


class RestartRecordingDirectoryClient(DirectoryClient):
    """A directory client that records whether it runs after a restart."""

    @property
    def was_restarted(self) -> bool:
        """Whether the queue manager has been restarted."""
        return bool(vars(self).get("is_restarted", False))


def record_restart(qm: QueueManager) -> None:
    """Record that a queue manager was restarted."""
    vars(qm.directory_client)["is_restarted"] = True


class RoutingTableOmitter(RestartRecordingDirectoryClient):
    """After a restart, a routing server does not build its routing table."""

    def initialize_routing_table(self) -> None:
        if not self.was_restarted:
            super().initialize_routing_table()


add(
    "routing-server-routing-table-empty-after-restart",
    "MQSO-6.6.2-D05",
    "After a restart, a routing server does not build its routing table.",
    combine_installers(replace_part(RoutingTableOmitter), change_core_at_restart(record_restart)),
)


def _deactivate_connections(qm: QueueManager) -> None:
    qm.adm.ConnectionActive = False


add(
    "restarted-queue-manager-offline",
    ("MQSO-6.6.2-D06", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01"),
    "A restarted queue manager accepts no session.",
    change_core_at_restart(_deactivate_connections),
)


@fault("queue-manager-ping-not-answered-after-repeated-initialization", breaks="MQSO-6.6.2-D06")
class QueueManagerPingNotAnsweredAfterRepeatedInitialization(PingHandling):
    """A queue manager whose initialization succeeded only at the second attempt answers no pings."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if self.qm.adm.InitializationRetryTimerDuration == INITIALIZATION_RETRY_S:
            super().receive_request(remote, data)


class PingOmitterAfterRestart(PingHandling):
    """A queue manager that answers no pings after a restart."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        """Answer a ping, except after a restart."""
        if not vars(self.qm.directory_client).get("is_restarted", False):
            super().receive_request(remote, data)


add(
    "queue-manager-ping-not-answered-after-restart",
    "MQSO-6.6.2-D06",
    "After a restart, the queue manager answers no pings.",
    combine_installers(
        replace_part(RestartRecordingDirectoryClient),
        combine_installers(replace_part(PingOmitterAfterRestart), change_core_at_restart(record_restart)),
    ),
    blind=True,
)


class RpcServingOmitterAfterRestart(RpcEventDispatching):
    """A queue manager that answers no client of remote reading after a restart."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        """Handle the bytes of a client, except after a restart."""
        if not vars(self.qm.directory_client).get("is_restarted", False):
            super().on_bytes(event, now)


add(
    "queue-manager-rpc-not-answered-after-restart",
    "MQSO-6.6.2-D06",
    "After a restart, the queue manager answers no client of remote reading.",
    combine_installers(
        replace_part(RestartRecordingDirectoryClient),
        combine_installers(replace_part(RpcServingOmitterAfterRestart), change_core_at_restart(record_restart)),
    ),
)


@fault("queue-manager-restart-clears-labels-of-public-queues", breaks="MQSO-6.6.2-D01")
class QueueManagerRestartClearsLabelsOfPublicQueues(DirectoryClient):
    """A queue manager that starts in its domain writes its public queues to the directory again, without labels."""

    def _join_domain(self, now: Now) -> None:
        super()._join_domain(now)
        for queue in self.qm.adm.QueueCollection.values():
            if queue.QueueType is QueueType.PUBLIC:
                self.qm.public_queue_publishing.write(queue, {"Label": ""}, lambda status: None)


@fault("first-initialization-retry-after-900-seconds", breaks=("MQSO-5.1.1.1-D02", "MQSO-6.6.2-D08"))
class FirstInitializationRetryAfter900Seconds(QueueManagerInitialization):
    """The queue manager retries a failed initialization for the first time after 900 seconds."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        self.qm.adm.InitializationRetryTimerDuration = LATER_INITIALIZATION_RETRY_INTERVAL_S
        super().start_initialization_retry_timer(now)


@fault("queue-manager-without-directory-provisioned-as-routing-server", breaks="MQSO-6.6-06", blind=True)
class QueueManagerWithoutDirectoryProvisionedAsRoutingServer(QueueManagerInitialization):
    """A queue manager that is provisioned without a directory has RoutingServer TRUE."""

    def begin(self, now: Now) -> None:
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            state.LocalQueueManager = replace(state.LocalQueueManager, RoutingServer=True)
        super().begin(now)
