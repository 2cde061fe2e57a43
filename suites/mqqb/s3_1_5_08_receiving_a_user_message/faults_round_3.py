"""Faults that break rules of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("router-duplicate-hop-count-checked-first", breaks="MQQB-3.1.5.8-03", blind=True)
class RouterDuplicateHopCountCheckedFirst(Routing):
    """The router checks RC of a message before it looks for a duplicate, and refuses a duplicate with too many hops
    with a negative acknowledgment.
    """

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        known = not packet.UserHeader.TH and self.qm.history.find_duplicate(packet) is not None
        if known and self.is_routable(packet) and self.count_hop(packet) is None:
            receipt.done = True
            self.qm.admission.refuse_message(session, packet, MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED, now)
        else:
            super().route_message(session, packet, receipt, now)
