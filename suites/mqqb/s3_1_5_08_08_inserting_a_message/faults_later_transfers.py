"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: the transfer information of several sequences
and queues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    MessagePosition,
    OutgoingQueue,
    Session,
)
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x1000
LONG_LABEL_CHARACTERS = 64

# -- IncomingTransactionalTransferInfo --------------------------------------------------------------------------------


class _AcceptedTransferInfoFault(TransactionalReceiving):
    def change_transfer_info(self, session: Session, transfer: IncomingTransactionalTransferInfo) -> None:
        raise NotImplementedError

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        self.change_transfer_info(session, transfer)


@fault(
    "receiver-removes-transfer-info-of-earlier-queues-at-new-sequence",
    breaks=("MQQB-3.1.5.8.8-17", "MQQB-3.1.5.8.8-19"),
)
class ReceiverRemovesTransferInfoOfEarlierQueuesAtNewSequence(_AcceptedTransferInfoFault):
    """The receiver removes the IncomingTransactionalTransferInfo of earlier queues when a sequence to another queue
    begins.
    """

    def change_transfer_info(self, session: Session, transfer: IncomingTransactionalTransferInfo) -> None:
        for queue in self.qm.adm.QueueCollection.values():
            if queue is not transfer.QueueReference:
                queue.IncomingTransactionalTransferInfoCollection.clear()


@fault("receiver-transfer-info-of-new-sequence-replaces-earlier-one", breaks=("MQQB-3.1.5.8.8-17", "MQQB-3.1.5.8.8-19"))
class ReceiverTransferInfoOfNewSequenceReplacesEarlierOne(_AcceptedTransferInfoFault):
    """The receiver keeps one IncomingTransactionalTransferInfo for each queue, that of the latest sequence."""

    def change_transfer_info(self, session: Session, transfer: IncomingTransactionalTransferInfo) -> None:
        transfers = transfer.QueueReference.IncomingTransactionalTransferInfoCollection
        for key in [key for key, one in transfers.items() if one is not transfer]:
            del transfers[key]


@fault("receiver-transfer-info-found-by-ordinal-only", breaks="MQQB-3.1.5.8.8-18")
class ReceiverTransferInfoFoundByOrdinalOnly(TransactionalReceiving):
    """To decide whether a message belongs to a known sequence, the receiver compares only the Ordinal
    of TxSequenceID.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID.Ordinal == session.IncomingTxSequenceID.Ordinal:
            return header.PreviousTxSequenceNumber <= session.IncomingTxSequenceNumber < header.TxSequenceNumber
        return super().is_in_sequence(session, packet)


@fault("receiver-transfer-info-format-name-in-lower-case", breaks="MQQB-3.1.5.8.8-22")
class ReceiverTransferInfoFormatNameInLowerCase(_AcceptedTransferInfoFault):
    """The receiver sets FormatName of IncomingTransactionalTransferInfo to the path of the queue."""

    def change_transfer_info(self, session: Session, transfer: IncomingTransactionalTransferInfo) -> None:
        transfer.FormatName = transfer.FormatName.partition("\\")[2] or transfer.FormatName


@fault("receiver-transfer-info-of-second-queue-has-own-id-as-sender", breaks="MQQB-3.1.5.8.8-23")
class ReceiverTransferInfoOfSecondQueueHasOwnIdAsSender(_AcceptedTransferInfoFault):
    """The receiver sets SenderIdentifier to its own Identifier in the IncomingTransactionalTransferInfo of a second
    queue.
    """

    def change_transfer_info(self, session: Session, transfer: IncomingTransactionalTransferInfo) -> None:
        known = [one for one in self.qm.adm.QueueCollection.values() if one.IncomingTransactionalTransferInfoCollection]
        if len(known) > 1:
            transfer.SenderIdentifier = self.qm.adm.Identifier


@fault("receiver-transfer-info-last-access-time-of-other-queue-changed", breaks="MQQB-3.1.5.8.8-26")
class ReceiverTransferInfoLastAccessTimeOfOtherQueueChanged(_AcceptedTransferInfoFault):
    """The receiver sets LastAccessTime to 0 in the IncomingTransactionalTransferInfo of every sequence except the
    first.
    """

    def change_transfer_info(self, session: Session, transfer: IncomingTransactionalTransferInfo) -> None:
        known = [one for one in self.qm.adm.QueueCollection.values() if one.IncomingTransactionalTransferInfoCollection]
        if len(known) > 1:
            transfer.LastAccessTime = 0


@fault("receiver-new-transfer-info-has-reject-count-of-earlier-queue", breaks="MQQB-3.1.5.8.8-27")
class ReceiverNewTransferInfoHasRejectCountOfEarlierQueue(TransactionalReceiving):
    """The receiver sets RejectCount of a new IncomingTransactionalTransferInfo to the number of messages that were
    rejected earlier on the session.
    """

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        new, rejected = transfer.SequenceNumber == 0, session.TxMessageRejectCount
        super().accept_in_sequence_message(session, transfer, packet, now)
        if new:
            transfer.RejectCount = rejected


# -- OutgoingTransferInfo ---------------------------------------------------------------------------------------------


@fault("router-updates-transfer-info-only-in-first-outgoing-queue", breaks="MQQB-3.1.5.8.8-28")
class RouterUpdatesTransferInfoOnlyInFirstOutgoingQueue(OrderAcks):
    """The router updates OutgoingTransferInfo only in the outgoing queue that it created first."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()), None)
        if first is None or session.OutgoingQueueReference is first:
            super().update_outgoing_transfer_info(session)


@fault("router-transfer-info-not-updated-for-second-message", breaks="MQQB-3.1.5.8.8-28")
class RouterTransferInfoNotUpdatedForSecondMessage(MessageRouting):
    """The router updates OutgoingTransferInfo of a queue only when it forwards the first transactional message."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._known: set[int] = set()

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        queue = position.QueueReference
        assert isinstance(queue, OutgoingQueue)
        before = queue.OutgoingTransferInfoReference
        super().forward_message(position, packet, now)
        if queue.session.number in self._known:
            queue.OutgoingTransferInfoReference = before
        self._known.add(queue.session.number)


def _change_outgoing_transfer_info(change: Callable[[Any], dict[str, Any]]) -> type[OrderAcks]:
    class ChangedOutgoingTransferInfo(OrderAcks):
        def update_outgoing_transfer_info(self, session: Session) -> None:
            super().update_outgoing_transfer_info(session)
            queue = session.OutgoingQueueReference
            if queue is not None:
                info = queue.OutgoingTransferInfoReference
                queue.OutgoingTransferInfoReference = replace(info, **change(info))

    return ChangedOutgoingTransferInfo


for _name, _rule, _says, _capped in (
    (
        "router-eod-no-ack-count-at-most-1",
        "MQQB-3.1.5.8.8-31",
        "The sender sets EodNoAckCount to 1 when several messages are unacknowledged.",
        lambda info: {"EodNoAckCount": min(info.EodNoAckCount, 1)},
    ),
    (
        "router-eod-first-non-ack-is-last",
        "MQQB-3.1.5.8.8-33",
        "The sender sets EodFirstNonAck to the last unacknowledged message.",
        lambda info: {"EodFirstNonAck": info.EodLastNonAck},
    ),
    (
        "router-eod-last-non-ack-is-first",
        "MQQB-3.1.5.8.8-34",
        "The sender sets EodLastNonAck to the first unacknowledged message.",
        lambda info: {"EodLastNonAck": info.EodFirstNonAck},
    ),
    (
        "router-eod-last-ack-count-at-most-1",
        "MQQB-3.1.5.8.8-30",
        "The sender sets EodLastAckCount to 1 after several acknowledgments.",
        lambda info: {"EodLastAckCount": min(info.EodLastAckCount, 1)},
    ),
    (
        "router-eod-no-read-count-at-most-1",
        "MQQB-3.1.5.8.8-40",
        "The sender sets EodNoReadCount to 1 when several messages await a FinalAck.",
        lambda info: {"EodNoReadCount": min(info.EodNoReadCount, 1)},
    ),
    (
        "router-eod-next-prev-no-always-0",
        "MQQB-3.1.5.8.8-39",
        "The sender sets PrevNo of EodNextSeq to 0.",
        lambda info: {"EodNextSeq": replace(info.EodNextSeq, PrevNo=0)},
    ),
    (
        "router-eod-resend-count-at-most-1",
        "MQQB-3.1.5.8.8-41",
        "The sender sets EodResendCount to 1 after several resends.",
        lambda info: {"EodResendCount": min(info.EodResendCount, 1)},
    ),
):
    add(_name, _rule, _says, replace_part(_change_outgoing_transfer_info(_capped)))
