"""Faults of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet: in some kinds of messages and in later messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID, BaseHeader, MessageIdentifier, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import (
    Message,
    MessageIDHistoryEntry,
    MessagePosition,
    Queue,
    RecoverableReceipt,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x1000

# -- duplicates -------------------------------------------------------------------------------------------------------


@fault("receiver-duplicate-on-second-session-accepted", breaks=("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01"))
class ReceiverDuplicateOnSecondSessionAccepted(MessageReceiving):
    """The receiver finds duplicates only among the messages of the same session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sessions: dict[MessageIdentifier, int] = {}

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        key = MessageIdentifier(packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)
        entry = self.qm.message_history.find_duplicate(packet)
        if entry is not None and self._sessions.get(key, session.number) != session.number:
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        self._sessions[key] = session.number
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-duplicate-of-received-message-accepted", breaks=("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01"))
class ReceiverDuplicateOfReceivedMessageAccepted(MessageHistory):
    """The receiver does not recognize a duplicate when the first message has left its queue."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        entry = super().find_duplicate(packet)
        kept = any(
            position.MessageReference.Identifier.Ordinal == packet.UserHeader.MessageID
            for queue in self.qm.adm.QueueCollection.values()
            for position in queue.MessagePositionList
        )
        return entry if kept else None


@fault("receiver-recognizes-only-repetition-of-last-message", breaks=("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01"))
class ReceiverRecognizesOnlyRepetitionOfLastMessage(MessageHistory):
    """The receiver recognizes only a repetition of the message that arrived last."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._last: MessageIdentifier | None = None

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        entry = super().find_duplicate(packet)
        last, self._last = (
            self._last,
            MessageIdentifier(packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID),
        )
        return entry if entry is not None and last == self._last else None


# -- the order of the steps -------------------------------------------------------------------------------------------


@fault("receiver-security-error-reported-before-missing-transaction", breaks="MQQB-3.1.5.8-05")
class ReceiverSecurityErrorReportedBeforeMissingTransaction(MessageAdmission):
    """If a transactional queue must refuse a nontransactional message that also has a security error, the receiver
    reports the security error.
    """

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        outcome = self.qm.security_on_receipt.check_security(session, packet, queue, now)
        if not isinstance(outcome, UserMessagePacket):
            return outcome
        return super().check_nontransactional_queue(session, packet, queue, now)


class _IgnoredSessionHeaderFault(MessageReceiving):
    def is_session_header_ignored(self, session: Session, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None and self.is_session_header_ignored(session, packet):
            flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
            packet = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=None)
        super().receive_user_message(session, packet, now)


RULES_OF_SESSION_HEADER = ("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01")


@fault("receiver-session-header-of-recoverable-message-ignored", breaks=RULES_OF_SESSION_HEADER)
class ReceiverSessionHeaderOfRecoverableMessageIgnored(_IgnoredSessionHeaderFault):
    """The receiver ignores the SessionHeader of a recoverable message."""

    def is_session_header_ignored(self, session: Session, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.DM)


@fault("receiver-session-header-of-duplicate-ignored", breaks=RULES_OF_SESSION_HEADER)
class ReceiverSessionHeaderOfDuplicateIgnored(_IgnoredSessionHeaderFault):
    """The receiver ignores the SessionHeader of a duplicate."""

    def is_session_header_ignored(self, session: Session, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None


@fault("receiver-session-header-of-refused-message-ignored", breaks=RULES_OF_SESSION_HEADER)
class ReceiverSessionHeaderOfRefusedMessageIgnored(_IgnoredSessionHeaderFault):
    """The receiver ignores the SessionHeader of a message to a queue that does not exist."""

    def is_session_header_ignored(self, session: Session, packet: UserMessagePacket) -> bool:
        return self.qm.message_arrival.find_destination(packet) is None


@fault("receiver-second-session-header-of-session-ignored", breaks=RULES_OF_SESSION_HEADER)
class ReceiverSecondSessionHeaderOfSessionIgnored(_IgnoredSessionHeaderFault):
    """The receiver processes only the first SessionHeader in the messages of a session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._seen: set[int] = set()

    def is_session_header_ignored(self, session: Session, packet: UserMessagePacket) -> bool:
        known = session.number in self._seen
        self._seen.add(session.number)
        return known


@fault("receiver-session-header-of-message-flags-above-bit-0-ignored", breaks="MQQB-3.1.5.8.4-01")
class ReceiverSessionHeaderOfMessageFlagsAboveBit0Ignored(MessageReceiving):
    """The receiver ignores RecoverableMsgAckFlags above bit 0 in the SessionHeader of a message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SessionHeader
        if header is not None:
            packet = replace(
                packet, SessionHeader=replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)
            )
        super().receive_user_message(session, packet, now)


# -- expiration -------------------------------------------------------------------------------------------------------


class _IgnoredExpirationFault(MessageAdmission):
    def is_expiration_ignored(self, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet if self.is_expiration_ignored(packet) else super().check_expiration(session, packet, queue, now)


@fault("receiver-expired-transactional-message-stored", breaks="MQQB-3.1.5.8-07")
class ReceiverExpiredTransactionalMessageStored(_IgnoredExpirationFault):
    """The receiver puts an expired transactional message into its queue."""

    def is_expiration_ignored(self, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None


@fault("receiver-expired-message-with-priority-7-stored", breaks="MQQB-3.1.5.8-07")
class ReceiverExpiredMessageWithPriority7Stored(_IgnoredExpirationFault):
    """The receiver puts an expired message of priority 7 into its queue."""

    def is_expiration_ignored(self, packet: UserMessagePacket) -> bool:
        return packet.BaseHeader.PR == 7


@fault("receiver-expired-message-with-jn-stored", breaks="MQQB-3.1.5.8-07")
class ReceiverExpiredMessageWithJnStored(_IgnoredExpirationFault):
    """The receiver puts an expired message with JN into its queue."""

    def is_expiration_ignored(self, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.JN)


@fault("receiver-expired-message-to-private-name-stored", breaks="MQQB-3.1.5.8-07")
class ReceiverExpiredMessageToPrivateNameStored(_IgnoredExpirationFault):
    """The receiver puts an expired message to a private format name into its queue."""

    def is_expiration_ignored(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.QueueManagerAddress != NULL_GUID


# -- later steps ------------------------------------------------------------------------------------------------------


@fault("receiver-transactional-order-of-second-queue-not-checked", breaks="MQQB-3.1.5.8-08")
class ReceiverTransactionalOrderOfSecondQueueNotChecked(TransactionalReceiving):
    """The receiver accepts a transactional message in any order if another queue received a transactional message
    before.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        target = self.qm.message_arrival.find_destination(packet)
        other = any(
            queue.IncomingTransactionalTransferInfoCollection and queue is not target
            for queue in self.qm.adm.QueueCollection.values()
        )
        return other or super().is_in_sequence(session, packet)


@fault("receiver-recoverable-message-behind-express-not-acknowledged", breaks="MQQB-3.1.5.8-09")
class ReceiverRecoverableMessageBehindExpressNotAcknowledged(SessionAcks):
    """The receiver sets no acknowledgment flag for a recoverable message that follows an express message."""

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        if session.MessageReceivedCount == session.RecoverableMessageReceivedCount:
            super().set_acknowledgment_flag(session, now)


@fault("receiver-traced-message-to-private-name-not-reported", breaks="MQQB-3.1.5.8-11")
class ReceiverTracedMessageToPrivateNameNotReported(MessageTracing):
    """The receiver sends no report on a traced message to a private format name."""

    def trace_received_message(self, message: Message, now: Now) -> None:
        if message.DestinationQueueManagerIdentifier == NULL_GUID:
            super().trace_received_message(message, now)


@fault("receiver-traced-express-message-not-reported", breaks="MQQB-3.1.5.8-11")
class ReceiverTracedExpressMessageNotReported(MessageTracing):
    """The receiver sends no report on a traced express message."""

    def trace_received_message(self, message: Message, now: Now) -> None:
        if message.DeliveryGuarantee is not DeliveryGuarantee.EXPRESS:
            super().trace_received_message(message, now)


RULES_OF_ARRIVAL_ACKS = ("MQQB-3.1.5.8-12", "MQQB-3.1.5.8.10-02")


class _ReachQueueAckOmissionFault(AdminAcks):
    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        raise NotImplementedError

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if not self.is_reach_queue_ack_omitted(position):
            super().acknowledge_arrival(position, now)


@fault("receiver-ack-reach-queue-omitted-if-jn-is-set", breaks=RULES_OF_ARRIVAL_ACKS)
class ReceiverAckReachQueueOmittedIfJnIsSet(_ReachQueueAckOmissionFault):
    """The receiver sends no ACK_REACH_QUEUE for a message with JN."""

    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        return position.MessageReference.NegativeJournalingRequested


@fault("receiver-ack-reach-queue-omitted-if-pr-is-set", breaks=RULES_OF_ARRIVAL_ACKS)
class ReceiverAckReachQueueOmittedIfPrIsSet(_ReachQueueAckOmissionFault):
    """The receiver sends no ACK_REACH_QUEUE for a message with PA and PR."""

    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        return bool(position.MessageReference.AcknowledgementsRequested & 2)


@fault("receiver-ack-reach-queue-omitted-if-na-is-set", breaks=RULES_OF_ARRIVAL_ACKS)
class ReceiverAckReachQueueOmittedIfNaIsSet(_ReachQueueAckOmissionFault):
    """The receiver sends no ACK_REACH_QUEUE for a message with PA and NA."""

    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        return bool(position.MessageReference.AcknowledgementsRequested & 4)


@fault("receiver-ack-reach-queue-omitted-while-queue-has-messages", breaks=RULES_OF_ARRIVAL_ACKS)
class ReceiverAckReachQueueOmittedWhileQueueHasMessages(_ReachQueueAckOmissionFault):
    """The receiver sends no ACK_REACH_QUEUE if the queue already had a message."""

    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        return len(list(position.QueueReference.MessagePositionList)) > 1


@fault("receiver-ack-reach-queue-of-large-message-omitted", breaks=RULES_OF_ARRIVAL_ACKS)
class ReceiverAckReachQueueOfLargeMessageOmitted(_ReachQueueAckOmissionFault):
    """The receiver sends no ACK_REACH_QUEUE for a message with more than 4,096 bytes of body."""

    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        return len(position.MessageReference.Body) > LARGE_BODY_BYTES


@fault("receiver-ack-reach-queue-omitted-for-message-to-private-name", breaks="MQQB-3.1.5.8.10-01")
class ReceiverAckReachQueueOmittedForMessageToPrivateName(_ReachQueueAckOmissionFault):
    """The receiver sends no ACK_REACH_QUEUE for a message whose QueueManagerAddress is not zero."""

    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        return position.MessageReference.DestinationQueueManagerIdentifier != NULL_GUID


@fault("receiver-no-ack-reach-queue-for-transactional-message", breaks=(*RULES_OF_ARRIVAL_ACKS, "MQQB-3.1.5.8.10-01"))
class ReceiverNoAckReachQueueForTransactionalMessage(_ReachQueueAckOmissionFault):
    """The receiver sends no ACK_REACH_QUEUE for a transactional message."""

    def is_reach_queue_ack_omitted(self, position: MessagePosition) -> bool:
        return position.MessageReference.TransactionIdentifier is not None
