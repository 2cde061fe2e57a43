"""Faults that break MQQB-3.1.1.5-D03: PrevNo of a SEQUENCE_INFO is wrong in some states only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import SequenceInfo
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import OutgoingTransferInfo, Session


def _change_outgoing_transfer_info(change: Callable[[Session, OutgoingTransferInfo], OutgoingTransferInfo]) -> Install:
    """Return an installer of a fault that changes OutgoingTransferInfo after each update."""

    class TransferChanged(OrderAcks):
        def update_outgoing_transfer_info(self, session: Session) -> None:
            super().update_outgoing_transfer_info(session)
            queue = session.OutgoingQueueReference
            if queue is not None:
                queue.OutgoingTransferInfoReference = change(session, queue.OutgoingTransferInfoReference)

    return replace_part(TransferChanged)


def _increment_previous_number_of_next_message(
    session: Session, transfer: OutgoingTransferInfo
) -> OutgoingTransferInfo:
    following = transfer.EodNextSeq
    if session.OutgoingTxSequenceID.Ordinal < 2:
        return transfer
    return replace(transfer, EodNextSeq=replace(following, PrevNo=following.SeqNo))


def _clear_previous_number_of_first_unacknowledged_message(
    session: Session, transfer: OutgoingTransferInfo
) -> OutgoingTransferInfo:
    return replace(transfer, EodFirstNonAck=replace(transfer.EodFirstNonAck, PrevNo=0))


def _set_previous_number_to_last_acknowledged_number(
    session: Session, transfer: OutgoingTransferInfo
) -> OutgoingTransferInfo:
    last: SequenceInfo = transfer.EodLastNonAck
    if not last.SeqNo:
        return transfer
    return replace(transfer, EodLastNonAck=replace(last, PrevNo=transfer.EodLastAck.SeqNo))


for _name, _says, _change in (
    (
        "sender-next-message-of-later-sequence-prev-no-as-seq-no",
        "PrevNo of EodNextSeq is equal to SeqNo in every sequence of the sender except the first.",
        _increment_previous_number_of_next_message,
    ),
    (
        "sender-first-unacknowledged-message-prev-no-0",
        "PrevNo of EodFirstNonAck is always 0.",
        _clear_previous_number_of_first_unacknowledged_message,
    ),
    (
        "sender-last-unacknowledged-message-prev-no-of-last-order-ack",
        "PrevNo of EodLastNonAck is the number of the last OrderAck.",
        _set_previous_number_to_last_acknowledged_number,
    ),
):
    add(_name, "MQQB-3.1.1.5-D03", _says, _change_outgoing_transfer_info(_change), blind=True)
