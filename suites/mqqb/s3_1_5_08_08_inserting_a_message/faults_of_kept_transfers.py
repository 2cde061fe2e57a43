"""Faults of MS-MQQB 3.1.5.8.8: the quota of the queue manager, and IncomingTransactionalTransferInfos that are kept."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import change_core_after_every_input
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Message, Queue, RecoverableReceipt, Session
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now


@fault("receiver-second-message-above-queue-manager-quota-stored", breaks="MQQB-3.1.5.8.8-14", blind=True)
class ReceiverSecondMessageAboveQueueManagerQuotaStored(MessageAdmission):
    """The receiver rejects the first message that exceeds the quota of the queue manager, and stores the next."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.rejected = 0

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        if self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            self.rejected += 1
            if self.rejected > 1:
                return True
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-transactional-message-above-queue-manager-quota-stored", breaks="MQQB-3.1.5.8.8-14", blind=True)
class ReceiverTransactionalMessageAboveQueueManagerQuotaStored(MessageAdmission):
    """The receiver stores a transactional message that exceeds the quota of the queue manager."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        above = (
            self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        )
        if above and packet.TransactionHeader is not None:
            return True
        return super().has_queue_room_for_message(session, packet, queue, message, now)


def _remove_transfers_of_empty_queues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if not len(queue.MessagePositionList):
            queue.IncomingTransactionalTransferInfoCollection.clear()


add(
    "receiver-transfer-info-of-empty-queue-removed",
    "MQQB-3.1.5.8.8-17",
    "The receiver removes the IncomingTransactionalTransferInfos of a queue when the queue is empty.",
    change_core_after_every_input(_remove_transfers_of_empty_queues),
    blind=True,
)


class _NewTransferInfoFault(TransactionalReceiving):
    """A base class of faults that change an IncomingTransactionalTransferInfo when it is created."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        queue = self.qm.message_arrival.find_destination(packet)
        known = set() if queue is None else set(queue.IncomingTransactionalTransferInfoCollection)
        super().receive_transactional_message(session, packet, receipt, now)
        if queue is not None:
            for key in [one for one in queue.IncomingTransactionalTransferInfoCollection if one not in known]:
                self.change_transfer_info(queue, queue.IncomingTransactionalTransferInfoCollection[key], packet)

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        """Change a transfer that was just created."""
        raise NotImplementedError


@fault("receiver-transfer-info-of-own-identifier-not-kept", breaks="MQQB-3.1.5.8.8-17", blind=True)
class ReceiverTransferInfoOfOwnIdentifierNotKept(_NewTransferInfoFault):
    """The receiver keeps no IncomingTransactionalTransferInfo for a message whose QueueManagerAddress is the receiver's
    Identifier; it keeps one only if QueueManagerAddress is zero.
    """

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        if packet.UserHeader.QueueManagerAddress != NULL_GUID:
            queue.IncomingTransactionalTransferInfoCollection.pop(
                (transfer.SenderIdentifier, transfer.FormatName.lower())
            )


@fault("receiver-transfer-info-of-second-queue-added-only-to-first", breaks="MQQB-3.1.5.8.8-19", blind=True)
class ReceiverTransferInfoOfSecondQueueAddedOnlyToFirst(_NewTransferInfoFault):
    """The receiver adds the IncomingTransactionalTransferInfo of a second queue to the collection of the first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Queue | None = None

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        self.first = self.first or queue
        if queue is not self.first:
            key = (transfer.SenderIdentifier, transfer.FormatName.lower())
            del queue.IncomingTransactionalTransferInfoCollection[key]
            self.first.IncomingTransactionalTransferInfoCollection[key] = transfer


@fault("receiver-transfer-info-of-second-sender-not-added", breaks="MQQB-3.1.5.8.8-19", blind=True)
class ReceiverTransferInfoOfSecondSenderNotAdded(_NewTransferInfoFault):
    """The receiver adds no IncomingTransactionalTransferInfo for a second sender to a queue that has one."""

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        collection = queue.IncomingTransactionalTransferInfoCollection
        senders = {one.SenderIdentifier for one in collection.values()}
        if len(senders) > 1:
            del collection[(transfer.SenderIdentifier, transfer.FormatName.lower())]


@fault("receiver-later-transfer-info-has-format-name-of-first", breaks="MQQB-3.1.5.8.8-22", blind=True)
class ReceiverLaterTransferInfoHasFormatNameOfFirst(_NewTransferInfoFault):
    """The receiver sets FormatName of a further IncomingTransactionalTransferInfo of a queue to that of the first."""

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        transfer.FormatName = next(iter(queue.IncomingTransactionalTransferInfoCollection.values())).FormatName


@fault("receiver-transfer-info-has-direct-name-instead-of-private-name", breaks="MQQB-3.1.5.8.8-22", blind=True)
class ReceiverTransferInfoHasDirectNameInsteadOfPrivateName(_NewTransferInfoFault):
    """FormatName of the IncomingTransactionalTransferInfo of a private name is a direct name with the path of the
    queue.
    """

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        if transfer.FormatName.upper().startswith("PRIVATE="):
            transfer.FormatName = f"DIRECT=OS:{self.qm.config.host_name}\\{queue.Pathname}"


@fault("receiver-later-transfer-info-has-sender-identifier-of-first", breaks="MQQB-3.1.5.8.8-23", blind=True)
class ReceiverLaterTransferInfoHasSenderIdentifierOfFirst(_NewTransferInfoFault):
    """The receiver sets SenderIdentifier of each further IncomingTransactionalTransferInfo to that of the first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: UUID | None = None

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        self.first = self.first or transfer.SenderIdentifier
        transfer.SenderIdentifier = self.first


@fault("receiver-transfer-info-sender-null-for-direct-name", breaks="MQQB-3.1.5.8.8-23", blind=True)
class ReceiverTransferInfoSenderNullForDirectName(_NewTransferInfoFault):
    """The receiver sets SenderIdentifier of the IncomingTransactionalTransferInfo of a direct name to
    QueueManagerAddress, which is zero.
    """

    def change_transfer_info(
        self, queue: Queue, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> None:
        if packet.UserHeader.DQ == 7:
            transfer.SenderIdentifier = packet.UserHeader.QueueManagerAddress
