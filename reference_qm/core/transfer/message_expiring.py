from __future__ import annotations

from reference_qm.codec import MessageClass
from reference_qm.core.events import MessageDeadlinesChanged
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

REMOVAL_RETRY_INTERVAL_S = 10
"""The time in s after which a failed attempt to remove an expired message from the disk is repeated."""


class MessageExpiring(QueueManagerPart):
    """Deletes messages that have expired. Spec: MS-MQDMPR 3.1.2.4, 3.1.7.2.7, MS-MQQB 3.1.7.1.2.

    A single timer is used, which runs until the first message expires.
    """

    __slots__ = ()

    def on_expiration_timer(self, now: Now) -> None:
        """Delete the expired messages. Spec: MS-MQDMPR 3.1.7.2.7, MS-MQQB 3.1.7.1.2.

        A message that was sent and not acknowledged may have arrived. Therefore such a message is checked only
        before it is sent again. A message whose session has not been initialized since the start is checked only
        before it is sent.
        """
        self.qm.post_event(MessageDeadlinesChanged())
        self.delete_messages_not_received_in_time(list(self.qm.to_be_received.take_due_items(now.utc_s)), now)
        for session, position in self.qm.to_be_sent.take_due_items(now.utc_s):
            may_have_arrived = position.AwaitingAck or position.ReceivedSessionAck
            if not may_have_arrived and session.TxOutgoingSequence is not None:
                self.qm.message_sending.delete_expired_message(session, position, now)

    def delete_messages_not_received_in_time(self, positions: list[MessagePosition], now: Now) -> None:
        """Delete messages that were not received in time. Spec: MS-MQDMPR 3.1.7.2.7.

        In the document, the deletion of a transactional message becomes part of the transaction that its
        TransactionIdentifier names. However, that is the sender's transaction, which has already ended, usually in
        another queue manager. This method therefore deletes the message at once.
        """
        reason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        expired = [position for position in positions if position.State is MessagePositionState.AVAILABLE]

        for position in expired:
            position.State = MessagePositionState.LOCKED

        def delete_expired_messages() -> Result:
            for position in expired:
                self.qm.message_positions.delete_message(position, reason)
            return Result()

        def try_again_later() -> None:
            for position in expired:
                self.qm.to_be_received.add(position, now.utc_s + REMOVAL_RETRY_INTERVAL_S)
                self.qm.message_positions.unlock_message(position)

        self.qm.disk.commit(
            self.qm.durable_records.build_message_removal(expired, reason),
            None,
            delete_expired_messages,
            try_again_later,
        )
