"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue, written without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.surface.clock import Now


@fault("sender-transfer-info-resend-time-is-interval-on-forwarding", breaks="MQQB-3.1.5.8.8-42", blind=True)
class SenderTransferInfoResendTimeIsIntervalOnForwarding(Routing):
    """The queue manager that forwards a transactional message sets EodResendTime of OutgoingTransferInfo to
    ResendInterval of TxOutgoingSequence instead of ResendTime.
    """

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        queue = position.QueueReference
        if not packet.UserHeader.TH or not isinstance(queue, OutgoingQueue):
            return
        sequence, info = queue.session.TxOutgoingSequence, queue.OutgoingTransferInfoReference
        if sequence is not None:
            queue.OutgoingTransferInfoReference = replace(info, EodResendTime=sequence.ResendInterval)
