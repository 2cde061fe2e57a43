"""Faults of MS-MQSO 6.6 Provisioning and Initialization Procedures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import always, at_restart, skip
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.initialization import LATER_RETRY_INTERVAL_S, Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.interface import Write
from reference_qm.surface.clock import Now


def _clear_connection_active(qm: QueueManager) -> None:
    qm.adm.ConnectionActive = False


def _set_throttled(qm: QueueManager) -> None:
    qm.adm.Throttled = True


add(
    "restarted-queue-manager-offline",
    ("MQSO-6.6.2-D06", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01"),
    "A restarted queue manager accepts no session.",
    at_restart(_clear_connection_active),
)
add(
    "restarted-queue-manager-throttled",
    ("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D07"),
    "A restarted queue manager accepts no message.",
    at_restart(_set_throttled),
)


@fault("directory-object-rewritten-at-each-start", breaks="MQSO-6.6.2-D01")
class DirectoryObjectRewrittenAtEachStart(DirectoryClient):
    """At each start, the queue manager writes a different quota to its directory object."""

    def synchronize(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize(now)
        local = self.qm.enterprise.state.LocalQueueManager
        changed = replace(local, QueueManagerQuota=(local.QueueManagerQuota or 0) - 1)
        self.qm.directory_link.write(Write(changed, ("QueueManagerQuota",)), lambda answer: None)
        return status


def _set_element_true(name: str) -> Callable[[QueueManager], None]:
    return lambda qm: setattr(qm.adm, name, True)


for _mode in ("Clustered", "SrmpHttpSupport", "SrmpPgmSupport"):
    add(
        f"provisioned-mode-{_mode.lower()}-always-true",
        ("MQSO-6.6.1-03", "MQSO-6.6.1-D03"),
        f"The queue manager's {_mode} is TRUE even if it was provisioned as FALSE.",
        always(_set_element_true(_mode)),
    )
add(
    "provisioned-role-always-directory-server",
    "MQSO-6.6.1-D04",
    "The queue manager is a directory server even if it was not provisioned as a directory server.",
    always(_set_element_true("DirectoryServer")),
)


@fault("provisioned-role-always-routing-server", breaks="MQSO-6.6.1-D04")
class ProvisionedRoleAlwaysRoutingServer(DirectoryClient):
    """In directory mode, the queue manager is a routing server even if it was not provisioned as a routing server."""

    def synchronize(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize(now)
        state = self.qm.enterprise.state
        state.LocalQueueManager = replace(state.LocalQueueManager, RoutingServer=True)
        return status


add(
    "routing-table-empty-after-start",
    "MQSO-6.6.2-D05",
    "A routing server has an empty routing table after its start.",
    skip(DirectoryClient.initialize_routing_table),
)


@fault("first-initialization-retry-after-900-s", breaks=("MQSO-5.1.1.1-D02", "MQSO-6.6.2-D08"))
class FirstInitializationRetryAfter900S(Initialization):
    """The queue manager retries a failed initialization for the first time after 900 seconds."""

    def await_retry(self, now: Now) -> None:
        self.qm.adm.InitializationRetryTimerDuration = LATER_RETRY_INTERVAL_S
        super().await_retry(now)
