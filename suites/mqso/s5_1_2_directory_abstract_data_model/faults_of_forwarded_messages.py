"""Faults of a routing server that forwards only messages of one kind: MQSO-5.1.2-01."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.model.adm import MessagePosition
from reference_qm.surface.clock import Now


@fault("router-transactional-message-not-forwarded", breaks="MQSO-5.1.2-01")
class RouterTransactionalMessageNotForwarded(MessageRouting):
    """The router accepts a transactional message for another queue manager, but does not forward it."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if not packet.UserHeader.TH:
            super().forward_message(position, packet, now)
