from __future__ import annotations

from reference_qm.codec import MessageClass
from reference_qm.core.events import LifetimesChanged
from reference_qm.core.part import Part
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

DISK_RETRY_S = 10
"""Time for which an expired message stays that the disk would not let go."""


class Expiring(Part):
    """Messages whose time is over while they wait. Spec: MS-MQDMPR 3.1.2.4, 3.1.7.2.7, MS-MQQB 3.1.7.1.2.

    One timer runs for the earliest of all messages, not one for each.
    """

    __slots__ = ()

    def on_expiration_timer(self, now: Now) -> None:
        """Delete what has expired. Spec: MS-MQDMPR 3.1.7.2.7, MS-MQQB 3.1.7.1.2.

        A message that was sent and is not acknowledged may have arrived: it is looked at before it is sent again, as is
        one whose session was not tried yet since the start.
        """
        self.qm.post(LifetimesChanged())
        self.delete_not_received(list(self.qm.to_be_received.take_due(now.utc_s)), now)
        for session, position in self.qm.to_be_sent.take_due(now.utc_s):
            may_have_arrived = position.AwaitingAck or position.ReceivedSessionAck
            if not may_have_arrived and session.TxOutgoingSequence is not None:
                self.qm.sending.delete_expired(session, position, now)

    def delete_not_received(self, positions: list[MessagePosition], now: Now) -> None:
        """Delete messages that were not received in time. Spec: MS-MQDMPR 3.1.7.2.7.

        Printed is to put the deletion of a transactional message into the transaction with its TransactionIdentifier:
        that is the transaction that it was sent in, which is over, and mostly another queue manager's. So it is deleted
        at once.
        """
        reason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        expired = [position for position in positions if position.State is MessagePositionState.AVAILABLE]

        for position in expired:
            position.State = MessagePositionState.LOCKED

        def delete() -> Result:
            for position in expired:
                self.qm.positions.delete_message(position, reason)
            return Result()

        def try_again_later() -> None:
            for position in expired:
                self.qm.to_be_received.add(position, now.utc_s + DISK_RETRY_S)
                self.qm.positions.unlock_message(position)

        self.qm.disk.commit(self.qm.durability.build_removal(expired, reason), None, delete, try_again_later)
