"""Alternative readings of errata about the receipt, the counts and the refusal of messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import faulty_only_if, follows_reading_of_erratum, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import register_variant_of_reading
from reference_qm.codec import MessageClass, OrderAckBody, TxSequenceID, UserHeader, UserMessagePacket
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import (
    NO_INCOMING_SEQUENCE,
    IncomingTransactionalTransferInfo,
    IncomingTransferKey,
    Message,
    MessageIDHistoryEntry,
    MessagePosition,
    Queue,
    RecoverableReceipt,
    Session,
)
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

HOP_COUNT_EXCEEDED_CLASS = MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED
HIGHEST_FORWARDED_HOP_COUNT = 0x1D
REACH_QUEUE_TIMEOUT_CLASS = MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT


@follows_reading_of_erratum("E18.2")
class DuplicatesAreDetectedByOrdinal(MessageHistory):
    """The receiver treats a message as a duplicate if an earlier message from any sender had the same ordinal."""

    @faulty_only_if(lambda part, packet: _find_entry_with_same_ordinal(part, packet) is not None)
    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return _find_entry_with_same_ordinal(self, packet)


def _find_entry_with_same_ordinal(part: MessageHistory, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
    ordinal = packet.UserHeader.MessageID
    return next((one for one in part.qm.adm.MessageIDHistoryTable if one.MessageIdentifier.Ordinal == ordinal), None)


@follows_reading_of_erratum("E220.2")
class MessagesToOtherHostNamesAreDropped(MessageReceiving):
    """The receiver drops a message whose direct name names a different host."""

    def is_misdirected(self, packet: UserMessagePacket) -> bool:
        return not self.is_for_own_host(packet)


@follows_reading_of_erratum("E19.2")
class RefusedMessagesAreNotCounted(MessageAdmission):
    """The receiver does not count refused recoverable messages. Therefore, the sender's next SessionHeader makes the
    receiver close the session.
    """

    @faulty_only_if(lambda part, session, packet, *_: packet.UserHeader.DM)
    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if session.unacknowledged_receipts:
            session.unacknowledged_receipts.pop()
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount - 1 & 0xFFFF


@follows_reading_of_erratum("E20.2")
class SessionHeaderCountsAreComparedBeforeMessageIsCounted(MessageReceiving):
    """The receiver compares the counts in the SessionHeader of a recoverable message before it counts that message."""

    @faulty_only_if(lambda part, session, packet: packet.SessionHeader is not None and packet.UserHeader.DM)
    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount - 1 & 0xFFFF

    @faulty_only_if(lambda part, session, packet, *_: packet.SessionHeader is not None and packet.UserHeader.DM)
    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount + 1 & 0xFFFF
        super().put_received_message_into_queue(session, packet, receipt, now)


@follows_reading_of_erratum("E29.2")
class HopCountIsRefusedWhenItOverflowsFiveBits(MessageRouting):
    """The receiver refuses a message when RC, which has five bits, overflows after the increment."""

    @faulty_only_if(lambda part, packet: packet.UserHeader.RC >= HIGHEST_FORWARDED_HOP_COUNT)
    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        user = packet.UserHeader
        if user.RC == 0x1F:
            return None
        flags = user.Flags & ~UserHeader.flags(RC=0x1F) | UserHeader.flags(RC=user.RC + 1)
        return replace(packet, UserHeader=replace(user, Flags=flags))


class _FinalAcksOnlyOfListedClasses(FinalAcks):
    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class not in (
            HOP_COUNT_EXCEEDED_CLASS,
            REACH_QUEUE_TIMEOUT_CLASS,
            MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG,
        ):
            super().send_negative_final_ack(session, packet, message_class, now)


class _AdminAcksOnlyOfListedClasses(AdminAcks):
    def may_send_nack(self, message_class: MessageClass) -> bool:
        return message_class is not HOP_COUNT_EXCEEDED_CLASS and super().may_send_nack(message_class)


register_variant_of_reading(
    "E30.2",
    "The receiver sends no acknowledgment whose class is missing from the list of 2.2.5 or from the table of 3.1.7.15.",
    combine_installers(replace_part(_FinalAcksOnlyOfListedClasses), replace_part(_AdminAcksOnlyOfListedClasses)),
)


@follows_reading_of_erratum("E34.1")
class ExpiredMessageIsDiscardedWithoutAck(MessageAdmission):
    """The receiver discards an expired message and sends no acknowledgment."""

    _is_message_expiring = False

    @faulty_only_if(lambda part, session, packet, message_class, now: message_class is REACH_QUEUE_TIMEOUT_CLASS)
    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        """Send no acknowledgment."""

    @faulty_only_if(
        lambda part, session, packet, queue, now: part.qm.message_lifetimes.has_message_expired(packet, now)
    )
    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        self._is_message_expiring = True
        outcome = super().check_expiration(session, packet, queue, now)
        self._is_message_expiring = False
        return outcome

    @faulty_only_if(lambda part, message: getattr(part, "_is_message_expiring", False))
    def journal_refused_message(self, message: Message) -> None:
        """Do not put the refused message into a journal."""


@follows_reading_of_erratum("E39.2")
class OrderAckSentBeforeFirstMessage(OrderAcks):
    """The receiver sends an OrderAck with TxSequenceNumber 0 before it has accepted any message."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        nothing = session.SessionState is SessionState.OPEN and not any(
            transfer.saved_sequence_number for transfer in session.order_acks_due
        )
        super().on_order_ack_send_timer(session, now)
        if nothing:
            name = self.build_order_queue_name(session, session.RemoteQMGuid)
            body = OrderAckBody(TxSequenceID(0, 0), 0, 0)
            self.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)


@follows_reading_of_erratum("E40.1")
class SequenceAdvancesForMessageOverQuota(MessageAdmission):
    """The receiver advances the sequence and sends an OrderAck for a message, and then refuses the message because a
    quota is exceeded.
    """

    @faulty_only_if(lambda part, session, packet, *_: packet.UserHeader.TH)
    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        room = super().has_queue_room_for_message(session, packet, queue, message, now)
        if not room and packet.UserHeader.TH and session.SessionState is SessionState.OPEN:
            _advance_incoming_sequence(self, session, packet, queue, message, now)
        return room


@follows_reading_of_erratum("E40.2")
class SequenceAdvancesForEveryRefusedMessage(MessageAdmission):
    """The receiver advances the sequence for every refused message."""

    @faulty_only_if(lambda part, session, packet, *_: packet.UserHeader.TH)
    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        if admitted is None and queue is not None:
            message = self.build_message(packet, now)
            transfer = queue.IncomingTransactionalTransferInfoCollection.get(_get_sequence_key(packet, message))
            session.IncomingTxSequenceID = NO_INCOMING_SEQUENCE if transfer is None else transfer.SequenceIdentifier
            session.IncomingTxSequenceNumber = 0 if transfer is None else transfer.SequenceNumber
            if self.qm.transactional_receiving.is_in_sequence(session, packet):
                _advance_incoming_sequence(self, session, packet, queue, message, now)
        return admitted

    @faulty_only_if(lambda part, session, packet, *_: packet.UserHeader.TH)
    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        room = super().has_queue_room_for_message(session, packet, queue, message, now)
        if not room and packet.UserHeader.TH and session.SessionState is SessionState.OPEN:
            _advance_incoming_sequence(self, session, packet, queue, message, now)
        return room


def _get_sequence_key(packet: UserMessagePacket, message: Message) -> IncomingTransferKey:
    return packet.UserHeader.SourceQueueManager, message.DestinationQueueFormatName.lower()


def _advance_incoming_sequence(
    part: MessageAdmission, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
) -> None:
    """Advance a sequence for a message that the receiver does not put into its queue."""
    source, name = packet.UserHeader.SourceQueueManager, message.DestinationQueueFormatName
    key = (source, name.lower())
    transfer = queue.IncomingTransactionalTransferInfoCollection.get(key)
    if transfer is None:
        transfer = IncomingTransactionalTransferInfo(queue, name, source)
        queue.IncomingTransactionalTransferInfoCollection[key] = transfer
    part.qm.transactional_receiving.accept_in_sequence_message(session, transfer, packet, now)
    if not transfer.unsaved_messages:
        transfer.saved_sequence_identifier, transfer.saved_sequence_number = (
            transfer.SequenceIdentifier,
            transfer.SequenceNumber,
        )
    session.order_acks_due[transfer] = None
    part.qm.order_acks.start_order_ack_timer(session, now)


@follows_reading_of_erratum("E41.2")
class OneIncomingSequenceForEachSender(TransactionalReceiving):
    """The receiver keeps one incoming sequence for each sender, for all of the receiver's queues together."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        queue = self.qm.message_arrival.find_destination(packet)
        newest = self._find_newest_transfer_of_sender(packet)
        if queue is not None and newest is not None:
            name = self.qm.message_admission.build_message(packet, now).DestinationQueueFormatName
            known = queue.IncomingTransactionalTransferInfoCollection
            key = (packet.UserHeader.SourceQueueManager, name.lower())
            transfer = known.setdefault(key, IncomingTransactionalTransferInfo(queue, name, key[0]))
            for element in (
                "SequenceIdentifier",
                "SequenceNumber",
                "saved_sequence_identifier",
                "saved_sequence_number",
            ):
                setattr(transfer, element, getattr(newest, element))
        super().receive_transactional_message(session, packet, receipt, now)

    def _find_newest_transfer_of_sender(self, packet: UserMessagePacket) -> IncomingTransactionalTransferInfo | None:
        of_sender = [
            transfer
            for queue in self.qm.queue_names.list_every_queue()
            for (source, _), transfer in queue.IncomingTransactionalTransferInfoCollection.items()
            if source == packet.UserHeader.SourceQueueManager
        ]
        return max(of_sender, key=lambda one: (int(one.SequenceIdentifier), one.SequenceNumber), default=None)


def _list_queues(part: SessionClosing) -> Iterable[Queue]:
    return part.qm.queue_names.list_every_queue()


@follows_reading_of_erratum("E41.3")
class IncomingSequenceEndsWithSession(SessionClosing):
    """The receiver ends the incoming sequence when the session ends."""

    @faulty_only_if(lambda part, *_: any(one.IncomingTransactionalTransferInfoCollection for one in _list_queues(part)))
    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        for queue in _list_queues(self):
            known = queue.IncomingTransactionalTransferInfoCollection
            for key in [key for key in known if key[0] == session.RemoteQMGuid and not known[key].unsaved_messages]:
                del known[key]


@follows_reading_of_erratum("E49.2")
class UnlistedPrivacyLevelIsRefusedAsBadSignature(SecurityOnReceipt):
    """The receiver refuses, with the class BAD_SIGNATURE, a message whose PrivacyLevel is not one of the defined
    values, regardless of EB.
    """

    @faulty_only_if(lambda part, session, packet, *_: packet.MessagePropertiesHeader.PrivacyLevel not in (0, 1, 3, 5))
    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE


def _does_packet_request_journaling(packet: UserMessagePacket) -> bool:
    return bool(packet.UserHeader.JP or packet.UserHeader.JN)


def _does_message_request_journaling(message: Message) -> bool:
    return message.PositiveJournalingRequested or message.NegativeJournalingRequested


def _has_arrived_on_session(part: QueueManagerPart, position: MessagePosition) -> bool:
    """Return whether a message arrived on a session. A message of a local application has no sender to which an
    acknowledgment could be sent.
    """
    return position.MessageReference.Identifier.QueueManagerGuid != part.qm.adm.Identifier


class _FinalAckForEveryRemovedMessage(MessageArrival):
    """The receiver sends a FinalAck for every message with a journaling request that leaves its queue."""

    session: Session

    @faulty_only_if(
        lambda part, position, now: (
            _does_message_request_journaling(position.MessageReference) and _has_arrived_on_session(part, position)
        )
    )
    def message_arrived(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if position.order_queue is None:
            source = message.Identifier.QueueManagerGuid
            position.order_queue = self.qm.order_acks.build_order_queue_name(self.session, source)
        super().message_arrived(position, now)


class _ArrivalSessionRecorder(MessageReceiving):
    """The receiver addresses the sender's order queue by a direct or a private name; the session on which the message
    arrived determines the kind of name.
    """

    @faulty_only_if(lambda part, session, packet, *_: _does_packet_request_journaling(packet))
    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        assert isinstance(self.qm.message_arrival, _FinalAckForEveryRemovedMessage)
        self.qm.message_arrival.session = session
        super().put_received_message_into_queue(session, packet, receipt, now)


register_variant_of_reading(
    "E47.2",
    "The receiver sends a FinalAck for every message with a journaling request that leaves its queue.",
    combine_installers(replace_part(_FinalAckForEveryRemovedMessage), replace_part(_ArrivalSessionRecorder)),
)
