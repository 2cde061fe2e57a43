"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.3 Create Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.model.adm import IncomingTransactionalTransferInfo, IncomingTransferKey, Queue
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.statuses import Status


@fault("queue-manager-new-queue-sequences-of-deleted-queue", breaks="MQDMPR-3.1.7.1.3-06", blind=True)
class QueueManagerNewQueueSequencesOfDeletedQueue(QueueLifecycle):
    """A transactional queue that is created with the path name of a deleted queue takes over the
    IncomingTransactionalTransferInfoCollection of the deleted queue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.transfers_by_pathname: dict[str, dict[IncomingTransferKey, IncomingTransactionalTransferInfo]] = {}

    def forget(self, queue: Queue) -> None:
        self.transfers_by_pathname[queue.Pathname.lower()] = queue.IncomingTransactionalTransferInfoCollection
        super().forget(queue)

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.Transactional:
            transfers = self.transfers_by_pathname.get(created.Pathname.lower(), {})
            for transfer in transfers.values():
                transfer.QueueReference = created
            created.IncomingTransactionalTransferInfoCollection = transfers
        return status, created


@fault("queue-manager-new-queue-journal-quota-0-not-used", breaks="MQDMPR-3.1.7.1.3-11", blind=True)
class QueueManagerNewQueueJournalQuota0NotUsed(QueueLifecycle):
    """A new queue for which its creator supplies the JournalQuota 0 has the default JournalQuota."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.JournalQuota == 0:
            queue.JournalQuota = UNLIMITED_QUOTA_KB
        return super().create_without_directory(queue, utc_s)
