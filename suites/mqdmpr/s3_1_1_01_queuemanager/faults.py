"""Faults that break rules of MS-MQDMPR 3.1.1.1 QueueManager."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions, build_lookup_identifier
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.directory import Site
from reference_qm.directory.enums import DirectoryOperationResult, DirectoryServerType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import OperationType
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytesReceived


def _set_queue_manager_attribute_at_start(name: str, value: Any) -> Install:
    """Build a fault in which the queue manager sets one of its attributes to a wrong value at its start."""

    class AttributeSettingInitialization(QueueManagerInitialization):
        def initialize_globally(self, now: Now) -> None:
            super().initialize_globally(now)
            setattr(self.qm.adm, name, value)

    return replace_part(AttributeSettingInitialization)


for _name, _breaks, _says, _install in (
    (
        "queue-manager-quota-unlimited-by-default",
        "MQDMPR-3.1.1.1-08",
        "By default, the queue manager's QueueManagerQuota is unlimited.",
        _set_queue_manager_attribute_at_start("QueueManagerQuota", 0xFFFF_FFFF),
    ),
    (
        "queue-manager-workgroup-mode-false-by-default",
        "MQDMPR-3.1.1.1-09",
        "By default, the queue manager's ConnectedNetworkIdentifierList contains a network.",
        _set_queue_manager_attribute_at_start("ConnectedNetworkIdentifierList", (NULL_GUID,)),
    ),
    (
        "queue-manager-supporting-server-by-default",
        "MQDMPR-3.1.1.1-10",
        "The queue manager sets SupportingServer to True by default.",
        _set_queue_manager_attribute_at_start("SupportingServer", True),
    ),
    (
        "queue-manager-without-directory-has-server-type",
        "MQDMPR-3.1.1.1-11",
        "A queue manager that is not a directory server has a DirectoryServerType.",
        _set_queue_manager_attribute_at_start("DirectoryServerType", DirectoryServerType.STANDALONE),
    ),
    (
        "queue-manager-journal-quota-limited-by-default",
        ("MQDMPR-3.1.1.1-D01", "MQSO-6.6.1-D05"),
        "By default, the queue manager's JournalQuota equals QueueManagerQuota.",
        _set_queue_manager_attribute_at_start("JournalQuota", 0x0010_0000),
    ),
    (
        "initialization-retry-interval-60-s",
        ("MQDMPR-3.1.1.1-31", "MQDMPR-3.1.3-D04", "MQSO-6.6-06", "MQSO-6.6.1-D06"),
        "The queue manager sets InitializationRetryTimerDuration to 60 s instead of 120 s.",
        _set_queue_manager_attribute_at_start("InitializationRetryTimerDuration", 60),
    ),
):
    add(_name, _breaks, _says, _install)


def _ignore_read_result(status: Status, position: MessagePosition | None) -> None:
    """Discard the result of a read whose reader no longer exists."""


def _begin_receive_from_each_queue(qm: QueueManager) -> None:
    def receive_found_message(status: Status, position: MessagePosition | None) -> None:
        if position is not None:
            qm.message_reading.take_message_out(position, None, False, _ignore_read_result)

    for queue in qm.adm.QueueCollection.values():
        _, descriptor = qm.queue_opening.open_found_queue(queue, queue.Pathname, QueueAccessType.RECEIVE)
        if descriptor is not None:
            qm.waiting_reads.wait_for_new_message(descriptor, None, True, receive_found_message, Now(0, 0))


add(
    "pending-read-survives-restart",
    ("MQDMPR-3.1.1.1-23", "MQDMPR-3.1.1-04"),
    "A read that was pending when the queue manager stopped removes the next message after the restart, so no reader "
    "gets this message.",
    change_core_at_restart(_begin_receive_from_each_queue),
)


@fault("site-collection-has-foreign-sites", breaks="MQDMPR-3.1.1.1-27")
class SiteCollectionHasForeignSites(DirectoryClient):
    """The queue manager's SiteCollection also contains sites to which the queue manager does not belong."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        state = self.qm.enterprise.state
        state.SiteCollection = (*state.SiteCollection, Site(Identifier=NULL_GUID, Name="elsewhere"))
        return status


def _set_retry_timer_duration_to_900_s(qm: QueueManager) -> None:
    qm.adm.InitializationRetryTimerDuration = 900


add(
    "initialization-retry-duration-changed-by-restart",
    "MQDMPR-3.1.1.1-31",
    "At a restart, the queue manager changes InitializationRetryTimerDuration as if an attempt to start had failed.",
    change_core_at_restart(_set_retry_timer_duration_to_900_s),
)


@fault("hardened-security-still-answers-rpc", breaks="MQDMPR-3.1.1.1-D02")
class HardenedSecurityStillAnswersRpc(RpcEventDispatching):
    """A queue manager in hardened security mode answers RPC calls."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        before, self.qm.adm.HardenedSecurity = self.qm.adm.HardenedSecurity, False
        super().on_bytes(event, now)
        self.qm.adm.HardenedSecurity = before


def _store_hardened_security_as_false(qm: QueueManager) -> None:
    if qm.adm.HardenedSecurity:
        qm.disk.save({"hardened_security": False})


add(
    "hardened-security-lost-at-second-restart",
    "MQDMPR-3.1.1.1-D02",
    "Hardened security mode is in effect after the first restart, but not after the second.",
    change_core_at_restart(_store_hardened_security_as_false),
    blind=True,
)


def _clear_transactions(qm: QueueManager) -> None:
    qm.adm.TransactionCollection.clear()


add(
    "prepared-transaction-lost-at-restart",
    "MQDMPR-3.1.1.1-D03",
    "At a restart, the queue manager loses the transactions that it has prepared.",
    change_core_at_restart(_clear_transactions),
)


@fault("in-doubt-transaction-without-sent-message-not-restored", breaks="MQDMPR-3.1.1.1-D03", blind=True)
class InDoubtTransactionWithoutSentMessageNotRestored(TransactionRecords):
    """After a restart, the queue manager has lost a prepared transaction that received messages but sent none."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        if any(kind == OperationType.ENQUEUE.value for kind, *_ in value["operations"]):
            super().restore_transaction(rest, value)


def _reset_sequential_id(qm: QueueManager) -> None:
    qm.adm.SequentialID = 0


add(
    "sequential-id-restarts-after-restart",
    "MQDMPR-3.1.1.1-D04",
    "After a restart, the queue manager assigns SequentialIDs from the first value again.",
    change_core_at_restart(_reset_sequential_id),
)


@fault("queue-manager-sequential-id-counted-per-queue", breaks="MQDMPR-3.1.1.1-D04", blind=True)
class QueueManagerSequentialIdCountedPerQueue(MessagePositions):
    """Each queue counts its messages itself, so messages of different queues have the same SequentialID."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, message)
        known = queue.MessagePositionList._by_identifier
        known.pop(position.LookupIdentifier, None)
        position.LookupIdentifier = build_lookup_identifier(message, position.order)
        known[position.LookupIdentifier] = position
        return position


@fault("queue-manager-express-message-takes-no-sequential-id", breaks="MQDMPR-3.1.1.1-D04", blind=True)
class QueueManagerExpressMessageTakesNoSequentialId(MessagePositions):
    """An express message does not increment the SequentialID, so it has the SequentialID of the preceding message."""

    @faulty_only_if(
        lambda part, message: message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS and part.qm.adm.SequentialID > 0
    )
    def assign_lookup_identifier(self, message: Message) -> int:
        return build_lookup_identifier(message, self.qm.adm.SequentialID)


@fault("sequential-id-restarts-after-second-restart", breaks="MQDMPR-3.1.1.1-D04")
class SequentialIdRestartsAfterSecondRestart(StateRestoring):
    """After a restart, the queue manager sets its SequentialID to the highest number among the stored messages, and
    does not use the SequentialID that it saved.
    """

    def _restore_sequential_id(self, rest: str, value: Any) -> None:
        super()._restore_sequential_id(rest, value)
        self.qm.adm.SequentialID = 0
