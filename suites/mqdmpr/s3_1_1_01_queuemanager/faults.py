"""Faults of MS-MQDMPR 3.1.1.1 QueueManager."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.rpc_serving import RpcServing
from reference_qm.directory import Site
from reference_qm.directory.enums import DirectoryOperationResult, DirectoryServerType
from reference_qm.model.adm import MessagePosition
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytes


def _beginning_with(name: str, value: Any) -> Install:
    """Begin with another value of an attribute of the queue manager."""

    class BeginningWith(Initialization):
        def initialize_globally(self, now: Now) -> None:
            super().initialize_globally(now)
            setattr(self.qm.adm, name, value)

    return replace_part(BeginningWith)


for _name, _breaks, _says, _install in (
    (
        "queue-manager-without-quota",
        "MQDMPR-3.1.1.1-08",
        "All queues together have no quota by default.",
        _beginning_with("QueueManagerQuota", 0xFFFF_FFFF),
    ),
    (
        "queue-manager-in-a-network",
        "MQDMPR-3.1.1.1-09",
        "A queue manager belongs to a connected network by default.",
        _beginning_with("ConnectedNetworkIdentifierList", (NULL_GUID,)),
    ),
    (
        "queue-manager-supporting-others",
        "MQDMPR-3.1.1.1-10",
        "A queue manager is a supporting server by default.",
        _beginning_with("SupportingServer", True),
    ),
    (
        "queue-manager-kind-of-no-server",
        "MQDMPR-3.1.1.1-11",
        "A queue manager that is no directory server says which kind it is.",
        _beginning_with("DirectoryServerType", DirectoryServerType.STANDALONE),
    ),
    (
        "queue-manager-journals-limited",
        ("MQDMPR-3.1.1.1-D01", "MQSO-6.6.1-D05"),
        "All journals together have the quota of the queues by default.",
        _beginning_with("JournalQuota", 0x0010_0000),
    ),
    (
        "initialization-retried-each-minute",
        ("MQDMPR-3.1.1.1-31", "MQDMPR-3.1.3-D04", "MQSO-6.6-06", "MQSO-6.6.1-D06"),
        "InitializationRetryTimerDuration is a minute.",
        _beginning_with("InitializationRetryTimerDuration", 60),
    ),
):
    add(_name, _breaks, _says, _install)


@fault("hardened-answers-rpc", breaks="MQDMPR-3.1.1.1-D02")
class HardenedAnswersRpc(RpcServing):
    """RPC is answered in hardened security mode."""

    def on_bytes(self, event: RpcBytes, now: Now) -> None:
        before, self.qm.adm.HardenedSecurity = self.qm.adm.HardenedSecurity, False
        super().on_bytes(event, now)
        self.qm.adm.HardenedSecurity = before


@fault("directory-every-site-read", breaks="MQDMPR-3.1.1.1-27")
class EverySiteRead(DirectoryClient):
    """Sites of others are read from the directory, too."""

    def synchronize(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize(now)
        state = self.qm.enterprise.state
        state.SiteCollection = (*state.SiteCollection, Site(Identifier=NULL_GUID, Name="elsewhere"))
        return status


def _another_retry(qm: QueueManager) -> None:
    qm.adm.InitializationRetryTimerDuration = 900


add(
    "initialization-retry-not-kept",
    "MQDMPR-3.1.1.1-31",
    "A restart is taken for a failed attempt: the next one is later.",
    at_restart(_another_retry),
)


def _first_sequential_again(qm: QueueManager) -> None:
    qm.adm.SequentialID = 0


add(
    "sequential-identifiers-again",
    "MQDMPR-3.1.1.1-D04",
    "A restart begins with the first SequentialID again.",
    at_restart(_first_sequential_again),
)


def _no_transactions(qm: QueueManager) -> None:
    qm.adm.TransactionCollection.clear()


add(
    "prepared-transactions-forgotten",
    "MQDMPR-3.1.1.1-D03",
    "A restart forgets the transactions that were voted for.",
    at_restart(_no_transactions),
)


def _nobody_hears(status: Status, position: MessagePosition | None) -> None:
    """The reader is gone."""


def _reads_go_on(qm: QueueManager) -> None:
    def take(status: Status, position: MessagePosition | None) -> None:
        if position is not None:
            qm.reading.take_message_out(position, None, False, _nobody_hears)

    for queue in qm.adm.QueueCollection.values():
        _, descriptor = qm.queue_opening.open_found_queue(queue, queue.Pathname, QueueAccessType.RECEIVE)
        if descriptor is not None:
            qm.waiting.wait_for_new_message(descriptor, None, True, take, Now(0, 0))


add(
    "reads-go-on-after-a-restart",
    ("MQDMPR-3.1.1.1-23", "MQDMPR-3.1.1-04"),
    "A read that waited when the queue manager stopped takes the next message, and nobody gets it.",
    at_restart(_reads_go_on),
)
