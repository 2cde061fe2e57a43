"""Faults that break rules of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue about the transfer information of
sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now

# -- IncomingTransactionalTransferInfo -----------------------------------------------------------------------------


@fault("receiver-transfer-info-not-kept", breaks=("MQQB-3.1.5.8.8-17", "MQQB-3.1.5.8.8-19"))
class ReceiverTransferInfoNotKept(TransactionalReceiving):
    """The receiver keeps no IncomingTransactionalTransferInfo for a sequence."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        transfer.QueueReference.IncomingTransactionalTransferInfoCollection.clear()


@fault("receiver-transfer-info-not-updated", breaks="MQQB-3.1.5.8.8-18")
class ReceiverTransferInfoNotUpdated(TransactionalReceiving):
    """The receiver does not update the IncomingTransactionalTransferInfo of a sequence after its first message."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        number = transfer.SequenceNumber
        super().accept_in_sequence_message(session, transfer, packet, now)
        transfer.SequenceNumber = number or transfer.SequenceNumber


@fault("receiver-keeps-transfer-info-at-wrong-queue", breaks="MQQB-3.1.5.8.8-21")
class ReceiverKeepsTransferInfoAtWrongQueue(TransactionalReceiving):
    """The receiver adds the IncomingTransactionalTransferInfo of a sequence to a wrong queue."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        transfers = transfer.QueueReference.IncomingTransactionalTransferInfoCollection
        key = next(key for key, one in transfers.items() if one is transfer)
        del transfers[key]
        next(iter(self.qm.adm.QueueCollection.values())).IncomingTransactionalTransferInfoCollection[key] = transfer


def _change_incoming_transfer(element: str, change: Callable[[Any], Any]) -> Install:
    """Make the receiver change an element of IncomingTransactionalTransferInfo when it accepts a message."""

    class Received(TransactionalReceiving):
        def accept_in_sequence_message(
            self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
        ) -> None:
            super().accept_in_sequence_message(session, transfer, packet, now)
            setattr(transfer, element, change(getattr(transfer, element)))

    return replace_part(Received)


for _name, _rule, _element, _change in (
    ("receiver-transfer-info-format-name-wrong", "MQQB-3.1.5.8.8-22", "FormatName", lambda old: f"{old}2"),
    (
        "receiver-transfer-info-sender-identifier-wrong",
        "MQQB-3.1.5.8.8-23",
        "SenderIdentifier",
        lambda old: type(old)(int=old.int ^ 1),
    ),
    (
        "receiver-transfer-info-sequence-identifier-wrong",
        "MQQB-3.1.5.8.8-24",
        "SequenceIdentifier",
        lambda old: replace(old, TimeStamp=old.TimeStamp + 1),
    ),
    ("receiver-transfer-info-sequence-number-wrong", "MQQB-3.1.5.8.8-25", "SequenceNumber", lambda old: old + 1),
    ("receiver-transfer-info-last-access-time-wrong", "MQQB-3.1.5.8.8-26", "LastAccessTime", lambda old: old - 3_600),
    ("receiver-transfer-info-reject-count-wrong", "MQQB-3.1.5.8.8-27", "RejectCount", lambda old: old + 1),
):
    add(
        _name,
        _rule,
        f"The receiver sets {_element} of IncomingTransactionalTransferInfo to a wrong value.",
        _change_incoming_transfer(_element, _change),
    )


# -- OutgoingTransferInfo ------------------------------------------------------------------------------------------


def _increment_outgoing_transfer_element(path: str) -> Install:
    """Make the sender add one to an element of OutgoingTransferInfo."""

    class Sent(OrderAcks):
        def update_outgoing_transfer_info(self, session: Session) -> None:
            super().update_outgoing_transfer_info(session)
            queue = session.OutgoingQueueReference
            if queue is not None and queue.OutgoingTransferInfoReference is not None:
                info = set_fields(queue.OutgoingTransferInfoReference, {path: lambda old: old + 1})
                queue.OutgoingTransferInfoReference = info

    return replace_part(Sent)


add(
    "sender-outgoing-transfer-info-not-set",
    "MQQB-3.1.5.8.8-28",
    "The sender does not set OutgoingTransferInfo of an outgoing queue.",
    omit_step(OrderAcks.update_outgoing_transfer_info),
)
for _name, _breaks, _path in (
    ("sender-outgoing-transfer-info-last-ack-time-high", "MQQB-3.1.5.8.8-29", "EodLastAckTime"),
    ("sender-outgoing-transfer-info-last-ack-count-high", "MQQB-3.1.5.8.8-30", "EodLastAckCount"),
    ("sender-outgoing-transfer-info-no-ack-count-high", "MQQB-3.1.5.8.8-31", "EodNoAckCount"),
    ("sender-outgoing-transfer-info-resend-interval-high", "MQQB-3.1.5.8.8-32", "EodResendInterval"),
    ("sender-outgoing-transfer-info-first-non-ack-high", "MQQB-3.1.5.8.8-33", "EodFirstNonAck.SeqNo"),
    ("sender-outgoing-transfer-info-last-non-ack-high", "MQQB-3.1.5.8.8-34", "EodLastNonAck.SeqNo"),
    ("sender-outgoing-transfer-info-last-ack-high", "MQQB-3.1.5.8.8-35", "EodLastAck.SeqNo"),
    ("sender-outgoing-transfer-info-next-seq-id-high", ("MQQB-3.1.5.8.8-36", "MQQB-3.1.5.8.8-37"), "EodNextSeq.SeqID"),
    ("sender-outgoing-transfer-info-next-seq-no-high", ("MQQB-3.1.5.8.8-36", "MQQB-3.1.5.8.8-38"), "EodNextSeq.SeqNo"),
    (
        "sender-outgoing-transfer-info-next-prev-no-high",
        ("MQQB-3.1.5.8.8-36", "MQQB-3.1.5.8.8-39"),
        "EodNextSeq.PrevNo",
    ),
    ("sender-outgoing-transfer-info-no-read-count-high", "MQQB-3.1.5.8.8-40", "EodNoReadCount"),
    ("sender-outgoing-transfer-info-resend-count-high", "MQQB-3.1.5.8.8-41", "EodResendCount"),
    ("sender-outgoing-transfer-info-resend-time-high", "MQQB-3.1.5.8.8-42", "EodResendTime"),
):
    add(
        _name,
        _breaks,
        f"The sender sets {_path} of OutgoingTransferInfo to a value that is one too high.",
        _increment_outgoing_transfer_element(_path),
    )


def _clear_transfer_info_on_forwarding(element: str) -> Install:
    """Make the queue manager set an element of OutgoingTransferInfo to 0 when it forwards a message."""

    class TransferInfoElementCleared(MessageRouting):
        def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
            super().forward_message(position, packet, now)
            queue = position.QueueReference
            assert isinstance(queue, OutgoingQueue)
            if queue.OutgoingTransferInfoReference is not None:
                queue.OutgoingTransferInfoReference = set_fields(queue.OutgoingTransferInfoReference, {element: 0})

    return replace_part(TransferInfoElementCleared)


for _name, _rule, _element in (
    ("sender-outgoing-transfer-info-last-ack-time-0-on-forwarding", "MQQB-3.1.5.8.8-29", "EodLastAckTime"),
    ("sender-outgoing-transfer-info-last-ack-count-0-on-forwarding", "MQQB-3.1.5.8.8-30", "EodLastAckCount"),
    ("sender-outgoing-transfer-info-resend-interval-0-on-forwarding", "MQQB-3.1.5.8.8-32", "EodResendInterval"),
    ("sender-forwarding-sets-eod-no-read-count-0", "MQQB-3.1.5.8.8-40", "EodNoReadCount"),
    ("sender-outgoing-transfer-info-resend-time-0-on-forwarding", "MQQB-3.1.5.8.8-42", "EodResendTime"),
):
    add(
        _name,
        _rule,
        f"The sender sets {_element} of OutgoingTransferInfo to 0 when it forwards a transactional message.",
        _clear_transfer_info_on_forwarding(_element),
    )


@fault("router-eod-no-read-count-counts-messages-of-all-sequences", breaks="MQQB-3.1.5.8.8-40", blind=True)
class RouterEodNoReadCountCountsMessagesOfAllSequences(MessageRouting):
    """When the router forwards a transactional message, it sets EodNoReadCount to the number of messages of all its
    sequences that await a FinalAck, instead of one sequence.
    """

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        queue = position.QueueReference
        if packet.UserHeader.TH and isinstance(queue, OutgoingQueue):
            sessions = [one.session for one in self.qm.adm.OutgoingQueues.values()]
            count = sum(len(session.AwaitingFinalACKTable) for session in sessions)
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodNoReadCount=count)
