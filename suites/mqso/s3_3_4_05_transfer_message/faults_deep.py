"""Faults of MS-MQSO 3.3.4.5 that only special cases reveal: other causes, other roles and second instances."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.refusal_acks import omit_nack
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import MessageIDHistoryEntry, MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("router-express-message-not-forwarded", breaks="MQSO-3.3.4.5-01", blind=True)
class RouterExpressMessageNotForwarded(Routing):
    """A router forwards recoverable messages, but discards express messages."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.UserHeader.DM:
            super().forward_message(position, packet, now)


@fault("receiver-duplicate-of-received-message-stored", breaks="MQSO-3.3.4.5-D01", blind=True)
class ReceiverDuplicateOfReceivedMessageStored(History):
    """The receiver stores a repeated message if an application has received the first one in the meantime."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        entry = super().find_duplicate(packet)
        queue = self.qm.arrival.find_destination(packet)
        if entry is not None and queue is not None:
            known = {one.MessageReference.Identifier for one in queue.MessagePositionList}
            return entry if entry.MessageIdentifier in known else None
        return entry


add(
    "receiver-over-quota-nack-not-sent",
    "MQSO-3.3.4.5-D02",
    "The receiver sends no negative acknowledgment for a message that exceeds the quota of its queue.",
    omit_nack(MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA),
    blind=True,
)


@fault("receiver-order-ack-only-for-first-sequence-of-session", breaks="MQSO-3.3.4.5-D03", blind=True)
class ReceiverOrderAckOnlyForFirstSequenceOfSession(OrderAcks):
    """If two queues get transactional messages on one session, the receiver acknowledges only the messages to the first
    queue.
    """

    def on_send_timer(self, session: Session, now: Now) -> None:
        for transfer in list(session.order_acks_due)[1:]:
            del session.order_acks_due[transfer]
        super().on_send_timer(session, now)


@fault("sender-repeats-transactional-message-only-once", breaks="MQSO-3.3.4.5-D04", blind=True)
class SenderRepeatsTransactionalMessageOnlyOnce(TransactionalSending):
    """The sender repeats a transactional message only once."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        self.expired = getattr(self, "expired", 0) + 1
        if self.expired < 2:
            super().on_ack_wait_timer(session, now)


@fault("sender-after-reconnect-repeats-only-first-message", breaks="MQSO-3.3.4.5-D04", blind=True)
class SenderAfterReconnectRepeatsOnlyFirstMessage(Closing):
    """After the loss of a session, the sender repeats only the first of its unacknowledged messages."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable.awaiting_ack[1:]:
            session.OutgoingMessageTable.remove(position)
        super().on_transport_lost(session, reason, now)
