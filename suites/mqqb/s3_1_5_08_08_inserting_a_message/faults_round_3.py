"""Faults that break rules of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.surface.clock import Now


@fault("router-eod-no-read-count-of-all-sequences", breaks="MQQB-3.1.5.8.8-40", blind=True)
class RouterEodNoReadCountOfAllSequences(Routing):
    """The router counts the messages of all its sequences that await a FinalAck in EodNoReadCount when it forwards a
    transactional message.
    """

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        queue = position.QueueReference
        if packet.UserHeader.TH and isinstance(queue, OutgoingQueue):
            sessions = [one.session for one in self.qm.adm.OutgoingQueues.values()]
            count = sum(len(session.AwaitingFinalACKTable) for session in sessions)
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodNoReadCount=count)
