"""Faults of MS-MQSO 6.6 Provisioning and Initialization Procedures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import always, at_restart, skip
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.initialization import RETRY_LATER_S, Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.interface import Write
from reference_qm.surface.clock import Now


def _offline(qm: QueueManager) -> None:
    qm.adm.ConnectionActive = False


def _throttled(qm: QueueManager) -> None:
    qm.adm.Throttled = True


add("so-offline-after-restart", "MQSO-6.6.2-D06", "After a restart no session is accepted.", at_restart(_offline))
add(
    "so-throttled-after-restart",
    ("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D07"),
    "After a restart no message is taken.",
    at_restart(_throttled),
)


@fault("so-published-anew-at-each-start", breaks="MQSO-6.6.2-D01")
class PublishedAnewAtEachStart(DirectoryClient):
    """At each start the directory is told a quota of the queue manager that nobody has set."""

    def synchronize(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize(now)
        local = self.qm.enterprise.state.LocalQueueManager
        changed = replace(local, QueueManagerQuota=(local.QueueManagerQuota or 0) - 1)
        self.qm.directory_link.write(Write(changed, ("QueueManagerQuota",)), lambda answer: None)
        return status


def _adm(name: str) -> Callable[[QueueManager], None]:
    return lambda qm: setattr(qm.adm, name, True)


for _mode in ("Clustered", "SrmpHttpSupport", "SrmpPgmSupport"):
    add(
        f"so-{_mode.lower()}-unasked",
        ("MQSO-6.6.1-03", "MQSO-6.6.1-D03"),
        f"{_mode} is TRUE, whatever was provisioned.",
        always(_adm(_mode)),
    )
add(
    "so-directory-server-unasked",
    "MQSO-6.6.1-D04",
    "Every queue manager is a directory server.",
    always(_adm("DirectoryServer")),
)


@fault("so-routing-server-in-directory-mode", breaks="MQSO-6.6.1-D04")
class RoutingServerInDirectoryMode(DirectoryClient):
    """A queue manager that is integrated with a directory is a routing server."""

    def synchronize(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize(now)
        state = self.qm.enterprise.state
        state.LocalQueueManager = replace(state.LocalQueueManager, RoutingServer=True)
        return status


add(
    "so-routing-not-initialized",
    "MQSO-6.6.2-D05",
    "A routing server has no routing table when it begins.",
    skip(DirectoryClient.initialize_routing_table),
)


@fault("so-first-retry-late", breaks=("MQSO-5.1.1.1-D02", "MQSO-6.6.2-D08"))
class FirstRetryLate(Initialization):
    """The first attempt to start again is made after 900 seconds."""

    def await_retry(self, now: Now) -> None:
        self.qm.adm.InitializationRetryTimerDuration = RETRY_LATER_S
        super().await_retry(now)
