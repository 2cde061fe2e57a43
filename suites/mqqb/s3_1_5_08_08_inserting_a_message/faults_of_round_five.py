"""Blind violations of round five: MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.surface.clock import Now


@fault("intermediate-eodnextseq-seqno-one-after-own-messages", breaks="MQQB-3.1.5.8.8-38", blind=True)
class IntermediateEodnextseqSeqnoOneAfterOwnMessages(MessageRouting):
    """The queue manager that forwards a transactional message sets SeqNo of EodNextSeq to 1, even if it has itself sent
    transactional messages to the same destination.
    """

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        queue = position.QueueReference
        if packet.UserHeader.TH and isinstance(queue, OutgoingQueue):
            info = queue.OutgoingTransferInfoReference
            queue.OutgoingTransferInfoReference = replace(info, EodNextSeq=replace(info.EodNextSeq, SeqNo=1))
