"""Faults that break rules of MS-MQSO 3.3.4.5 Transfer Message."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import combine_installers, omit_step, replace_method_during
from harness.faults.refusal_acks import omit_nack
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.directory import QueueManager
from reference_qm.model.adm import MessageIDHistoryEntry, MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("routed-message-sent-directly-to-destination", breaks=("MQSO-3.3.4.5-01", "MQSO-5.1.1.3-D03", "MQSO-5.1.2-01"))
class RoutedMessageSentDirectlyToDestination(NextHops):
    """The sender sends a message directly to the queue manager of the destination queue, instead of along the route in
    the directory.
    """

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        if not self.qm.enterprise.state.DirectoryIntegrated:
            return super().get_next_hops(guid)
        found = self.qm.enterprise.find_queue_manager("Identifier", guid)
        return () if found is None else (found,)


add(
    "router-keeps-messages",
    "MQSO-3.3.4.5-01",
    "The router accepts messages to other queue managers but does not forward them.",
    omit_step(MessageRouting.forward_message),
)


@fault("router-express-message-not-forwarded", breaks=("MQSO-3.3.4.5-01", "MQSO-5.1.2-01"), blind=True)
class RouterExpressMessageNotForwarded(MessageRouting):
    """A router forwards recoverable messages, but discards express messages."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.UserHeader.DM:
            super().forward_message(position, packet, now)


add(
    "router-duplicate-message-forwarded",
    "MQSO-3.3.4.5-D01",
    "A router forwards a repeated message although its identifier is in the message history.",
    replace_method_during(
        MessageRouting.route_message,
        MessageHistory.find_duplicate,
        lambda original, *_: lambda *arguments, **named: None,
    ),
    blind=True,
)


@fault("receiver-stores-duplicate-of-message-already-received", breaks="MQSO-3.3.4.5-D01", blind=True)
class ReceiverStoresDuplicateOfMessageAlreadyReceived(MessageHistory):
    """The receiver stores a repeated message if an application has received the original message in the meantime."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        entry = super().find_duplicate(packet)
        queue = self.qm.message_arrival.find_destination(packet)
        if entry is not None and queue is not None:
            known = {one.MessageReference.Identifier for one in queue.MessagePositionList}
            return entry if entry.MessageIdentifier in known else None
        return entry


@fault("receiver-stores-duplicate-that-follows-three-other-messages", breaks="MQSO-3.3.4.5-D01")
class ReceiverStoresDuplicateThatFollowsThreeOtherMessages(MessageHistory):
    """The receiver stores a repeated message if more than three other messages arrived in between."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        user = packet.UserHeader
        found = super().find_duplicate(packet)
        recent = getattr(self, "recent", ())
        self.recent = (*recent[-3:], (user.SourceQueueManager, user.MessageID))
        return found if (user.SourceQueueManager, user.MessageID) in recent else None


add(
    "receiver-sends-no-nack-for-refused-message",
    "MQSO-3.3.4.5-D02",
    "The receiver sends no negative acknowledgment for a nontransactional message to a transactional queue.",
    omit_nack(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG),
)


add(
    "receiver-over-quota-nack-not-sent",
    "MQSO-3.3.4.5-D02",
    "The receiver sends no negative acknowledgment for a message that exceeds the quota of its queue.",
    omit_nack(MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA),
    blind=True,
)


@fault("receiver-refuses-second-message-without-nack", breaks="MQSO-3.3.4.5-D02")
class ReceiverRefusesSecondMessageWithoutNack(MessageAdmission):
    """The receiver sends a negative acknowledgment only for the first of several messages that it refuses for the same
    reason.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        known = getattr(self, "known", ())
        self.known = (*known, message_class)
        if message_class not in known or packet.TransactionHeader is not None:
            super().refuse_message(session, packet, message_class, now)


add(
    "receiver-session-ack-not-sent",
    "MQSO-3.3.4.5-D03",
    "The receiver never sends a separate SessionAck packet.",
    omit_step(SessionAcks.send),
)


add(
    "sender-does-not-reconnect-after-outage",
    ("MQSO-3.3.4.5-D04", "MQSO-5.5.2-D01"),
    "The sender does not reestablish a lost session.",
    omit_step(SessionEstablishing.on_session_retry_connect_timer),
)


@fault("sender-repeats-transactional-message-only-once", breaks="MQSO-3.3.4.5-D04", blind=True)
class SenderRepeatsTransactionalMessageOnlyOnce(TransactionalSending):
    """The sender repeats a transactional message only once."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        self.expired = getattr(self, "expired", 0) + 1
        if self.expired < 2:
            super().on_ack_wait_timer(session, now)


@fault("sender-after-reconnect-repeats-only-first-message", breaks="MQSO-3.3.4.5-D04", blind=True)
class SenderAfterReconnectRepeatsOnlyFirstMessage(SessionClosing):
    """After the loss of a session, the sender repeats only the first of its unacknowledged messages."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable.awaiting_ack[1:]:
            session.OutgoingMessageTable.remove(position)
        super().on_transport_lost(session, reason, now)


@fault("sender-does-not-reconnect-after-second-lost-connection", breaks="MQSO-3.3.4.5-D04")
class SenderDoesNotReconnectAfterSecondLostConnection(SessionClosing):
    """The sender establishes a session again after its first loss, but not after its second loss."""

    @faulty_only_if(lambda self, session, now: session.initiator)
    def await_reconnect(self, session: Session, now: Now) -> None:
        losses = getattr(self, "losses", {})
        self.losses = {**losses, session.number: losses.get(session.number, 0) + 1}
        if self.losses[session.number] < 2:
            super().await_reconnect(session, now)


class _MessageInTransitRecorder(SessionAddressResolving):
    def resolve_host_address(self, session: Session, now: Now) -> None:
        waiting = [one.UserMessage for one in session.OutgoingMessageTable]
        in_transit = bool(waiting) and not any(
            self.qm.message_sending.is_from_this_queue_manager(packet) for packet in waiting
        )
        vars(self.qm.next_hops)["in_transit"] = in_transit
        super().resolve_host_address(session, now)


class _NextHopsThatSendTransitMessagesDirectly(NextHops):
    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,) if self.__dict__.get("in_transit") else super().get_next_hop_identifiers(guid)


add(
    "queue-manager-message-in-transit-sent-directly",
    "MQSO-3.3.4.5-01",
    "A queue manager on the route sends a message of another queue manager directly to its destination, not to the "
    "next hop.",
    combine_installers(replace_part(_MessageInTransitRecorder), replace_part(_NextHopsThatSendTransitMessagesDirectly)),
    blind=True,
)
