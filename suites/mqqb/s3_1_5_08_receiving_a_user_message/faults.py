"""Faults that break rules of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet and of 3.1.5.8.4 and 3.1.5.8.10."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install, add
from harness.faults.session_states import ignore_packets_in_wrong_state
from reference_qm.codec import MessageClass, MessagePropertiesHeader, Packet, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.admin_acks import NEGATIVE_ARRIVAL_FLAG, AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_arrival import MessageArrival, UnsavedArrival
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import Message, MessageIDHistoryEntry, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.model.states import SessionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.security import ReceivedMessageRefused
from reference_qm.surface.clock import Now


@fault("receiver-ignores-user-message-before-session-is-open", breaks="MQQB-3.1.5.8-01")
class ReceiverIgnoresUserMessageBeforeSessionIsOpen(SessionClosing):
    """The receiver ignores a user message on a session that is not open, instead of closing the session."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, UserMessagePacket):
            super().close_session_after_unexpected_packet(session, packet, now)


add(
    "initiator-message-before-parameters-response-ignored",
    "MQQB-3.1.5.8-01",
    "The initiator ignores a user message while it waits for the ConnectionParameters response.",
    ignore_packets_in_wrong_state(UserMessagePacket, SessionState.WAITING_CPR_MSG, initiator=True),
    blind=True,
)


@fault("receiver-user-message-before-open-closes-every-session", breaks="MQQB-3.1.5.8-01", blind=True)
class ReceiverUserMessageBeforeOpenClosesEverySession(SessionClosing):
    """The receiver closes all sessions when a user message arrives on a session that is not open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        super().close_session_after_unexpected_packet(session, packet, now)
        if isinstance(packet, UserMessagePacket):
            for other in list(self.qm.sessions.values()):
                if other.SessionState is SessionState.OPEN:
                    self.close(other, "a fault", now)


@fault(
    "receiver-duplicate-accepted",
    breaks=("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQSO-3.3.4.5-D01"),
)
class ReceiverDuplicateAccepted(MessageHistory):
    """The receiver accepts every duplicate of a user message."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None


@fault("receiver-expiration-checked-before-duplicate-detection", breaks="MQQB-3.1.5.8-03", blind=True)
class ReceiverExpirationCheckedBeforeDuplicateDetection(MessageReceiving):
    """The receiver refuses an expired message before it checks whether the message is a duplicate."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        known = packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None
        if (
            known
            and self.is_for_this_queue_manager(packet)
            and self.qm.message_lifetimes.has_message_expired(packet, now)
        ):
            message = self.qm.message_admission.build_message(packet, now)
            self.qm.admin_acks.acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT, now)
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-quota-checked-before-duplicate-detection", breaks="MQQB-3.1.5.8-03", blind=True)
class ReceiverQuotaCheckedBeforeDuplicateDetection(MessageReceiving):
    """The receiver refuses a duplicate if the queue has become full since the original message arrived."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        known = packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None
        queue = self.qm.message_arrival.find_destination(packet)
        if known and queue is not None and self.is_for_this_queue_manager(packet):
            message = self.qm.message_admission.build_message(packet, now)
            if self.qm.queue_quotas.check_room_for_message(queue, message) is not EnqueueStatus.NO_ERROR:
                self.qm.admin_acks.acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA, now)
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-session-header-of-user-message-ignored", breaks=("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"))
class ReceiverSessionHeaderOfUserMessageIgnored(MessageReceiving):
    """The receiver ignores the SessionHeader of a user message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().receive_user_message(session, replace(packet, SessionHeader=None), now)


def _ignore_session_header(condition: Callable[[QM, UserMessagePacket], bool]) -> Install:
    """Ignore the SessionHeaders of messages that meet a condition."""

    def omit_header_processing(
        original: Callable[..., None], qm: QM, session: Session, packet: UserMessagePacket, now: Now
    ) -> Callable[..., None]:
        return (lambda *arguments: None) if condition(qm, packet) else original

    return replace_method_during(
        MessageReceiving.receive_user_message, SessionAcks.process_session_header, omit_header_processing
    )


add(
    "receiver-session-header-of-transactional-message-ignored",
    ("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"),
    "The receiver ignores the SessionHeader of a transactional message.",
    _ignore_session_header(lambda qm, packet: packet.TransactionHeader is not None),
    blind=True,
)


add(
    "receiver-session-header-of-routed-message-ignored",
    ("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"),
    "The receiver ignores the SessionHeader of a message to another queue manager.",
    _ignore_session_header(lambda qm, packet: not qm.message_receiving.is_for_this_queue_manager(packet)),
    blind=True,
)


add(
    "receiver-session-header-of-repeated-message-ignored",
    ("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"),
    "The receiver ignores the SessionHeader of a duplicate.",
    _ignore_session_header(lambda qm, packet: qm.message_history.find_duplicate(packet) is not None),
    blind=True,
)


@fault("receiver-expired-message-accepted", breaks="MQQB-3.1.5.8-07")
class ReceiverExpiredMessageAccepted(MessageAdmission):
    """The receiver accepts an expired user message."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet


@fault("receiver-expired-recoverable-message-accepted", breaks="MQQB-3.1.5.8-07", blind=True)
class ReceiverExpiredRecoverableMessageAccepted(MessageAdmission):
    """The receiver accepts an expired recoverable message."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.DM and not packet.UserHeader.TH:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("receiver-expired-message-with-time-to-be-received-accepted", breaks="MQQB-3.1.5.8-07", blind=True)
class ReceiverExpiredMessageWithTimeToBeReceivedAccepted(MessageAdmission):
    """The receiver does not check the expiration of a message that has a TimeToBeReceived."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.TimeToBeReceived != 0xFFFFFFFF:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("receiver-expired-recoverable-message-put-into-queue", breaks="MQQB-3.1.5.8-07", blind=True)
class ReceiverExpiredRecoverableMessagePutIntoQueue(MessageAdmission):
    """The receiver puts an expired message into its queue if the message is recoverable."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet if packet.UserHeader.DM else super().check_expiration(session, packet, queue, now)


@fault("receiver-transactional-message-out-of-sequence-accepted", breaks=("MQQB-3.1.5.8-08", "MQSO-3.2.1-D03"))
class ReceiverTransactionalMessageOutOfSequenceAccepted(TransactionalReceiving):
    """The receiver accepts a transactional message out of sequence."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return True


@fault("receiver-does-not-store-recoverable-message-with-large-body", breaks="MQQB-3.1.5.8-09", blind=True)
class ReceiverDoesNotStoreRecoverableMessageWithLargeBody(MessageArrival):
    """The receiver acknowledges a recoverable message whose body is larger than 64 KB, but does not store it."""

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        super().save_message(saving, packet)
        if len(packet.MessagePropertiesHeader.MessageBody) > 0x10000:
            self.qm.disk.save(build_removal_change([saving.position]))


@fault("receiver-second-traced-message-not-reported", breaks="MQQB-3.1.5.8-11", blind=True)
class ReceiverSecondTracedMessageNotReported(MessageTracing):
    """The receiver sends a report only on the first traced message of each sender."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.reported: set[object] = set()

    def trace_received_message(self, message: Message, now: Now) -> None:
        source = message.Identifier.QueueManagerGuid
        if message.TracingRequested and source not in self.reported:
            self.reported.add(source)
            super().trace_received_message(message, now)


@fault(
    "receiver-ack-reach-queue-omitted-if-na-is-also-set",
    breaks=("MQQB-3.1.5.8-12", "MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02"),
    blind=True,
)
class ReceiverAckReachQueueOmittedIfNaIsAlsoSet(AdminAcks):
    """The receiver sends no ACK_REACH_QUEUE for a message that has both PA and NA set."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if not position.MessageReference.AcknowledgementsRequested & NEGATIVE_ARRIVAL_FLAG:
            super().acknowledge_arrival(position, now)


@fault(
    "receiver-ack-reach-queue-of-transactional-message-omitted",
    breaks=("MQQB-3.1.5.8-12", "MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-D07"),
    blind=True,
)
class ReceiverAckReachQueueOfTransactionalMessageOmitted(AdminAcks):
    """The receiver sends no ACK_REACH_QUEUE for a transactional message."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().acknowledge_arrival(position, now)


@fault("receiver-sends-arrival-ack-to-admin-queue-of-first-message", breaks="MQQB-3.1.5.8-12", blind=True)
class ReceiverSendsArrivalAckToAdminQueueOfFirstMessage(AdminAcks):
    """The receiver sends each acknowledgment to the administration queue that the first message of the sender named."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[object, str | None] = {}

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        name = message.AdministrationQueueFormatName
        if name:
            first = self.first.setdefault(message.Identifier.QueueManagerGuid, name)
            position.MessageReference = replace(message, AdministrationQueueFormatName=first)
        super().acknowledge_arrival(position, now)
        position.MessageReference = message


def _accept_any_message_counts(original: Any, *_: Any) -> Any:
    def process_with_correct_counts(qm: QM, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(
            header,
            UserMsgSequenceNumber=session.MessageReceivedCount,
            RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount,
        )
        original(qm, session, right, now)

    return process_with_correct_counts


add(
    "receiver-message-session-header-counts-not-validated",
    "MQQB-3.1.5.8.4-01",
    "The receiver does not validate the counts in the SessionHeader of a user message.",
    replace_method_during(
        MessageReceiving.receive_user_message, SessionAcks.validate_message_counts, _accept_any_message_counts
    ),
    blind=True,
)


@fault("receiver-recoverable-ack-in-session-header-of-message-ignored", breaks="MQQB-3.1.5.8.4-01", blind=True)
class ReceiverRecoverableAckInSessionHeaderOfMessageIgnored(MessageReceiving):
    """The receiver ignores RecoverableMsgAckSeqNumber and RecoverableMsgAckFlags in the SessionHeader of a message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None:
            header = replace(packet.SessionHeader, RecoverableMsgAckSeqNumber=0, RecoverableMsgAckFlags=0)
            packet = replace(packet, SessionHeader=header)
        super().receive_user_message(session, packet, now)


@fault("receiver-counts-in-session-header-of-message-not-validated", breaks="MQQB-3.1.5.8.4-01", blind=True)
class ReceiverCountsInSessionHeaderOfMessageNotValidated(MessageReceiving):
    """The receiver does not compare the message counts in the SessionHeader of a message with the receiver's own
    counts.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None:
            header = replace(
                packet.SessionHeader,
                UserMsgSequenceNumber=session.MessageReceivedCount + 1 & 0xFFFF,
                RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount + int(packet.UserHeader.DM) & 0xFFFF,
            )
            packet = replace(packet, SessionHeader=header)
        super().receive_user_message(session, packet, now)


@fault(
    "receiver-ack-reach-queue-omitted-if-pr-is-also-set",
    breaks=("MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-35"),
    blind=True,
)
class ReceiverAckReachQueueOmittedIfPrIsAlsoSet(AdminAcks):
    """The receiver sends no ACK_REACH_QUEUE for a message that has both PA and PR set."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if not position.MessageReference.AcknowledgementsRequested & MessagePropertiesHeader.flags(PR=1):
            super().acknowledge_arrival(position, now)


@fault("router-hop-count-checked-before-duplicate-detection", breaks="MQQB-3.1.5.8-03", blind=True)
class RouterHopCountCheckedBeforeDuplicateDetection(MessageRouting):
    """The router checks RC of a message before it looks for a duplicate, and refuses a duplicate with too many hops
    with a negative acknowledgment.
    """

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        known = not packet.UserHeader.TH and self.qm.message_history.find_duplicate(packet) is not None
        if known and self.is_message_routable(packet) and self.increment_hop_count(packet) is None:
            receipt.is_on_disk = True
            self.qm.message_admission.refuse_message(
                session, packet, MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED, now
            )
        else:
            super().route_message(session, packet, receipt, now)


INFINITE_LIFETIME_S = 0xFFFFFFFF


@fault("receiver-message-with-time-to-reach-queue-0-never-expires", breaks="MQQB-3.1.5.8-07", blind=True)
class ReceiverMessageWithTimeToReachQueue0NeverExpires(MessageAdmission):
    """The receiver puts an expired message into its queue if TimeToReachQueue of the message is 0."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.BaseHeader.TimeToReachQueue:
            return super().check_expiration(session, packet, queue, now)
        endless = replace(packet, BaseHeader=replace(packet.BaseHeader, TimeToReachQueue=INFINITE_LIFETIME_S))
        outcome = super().check_expiration(session, endless, queue, now)
        return outcome if isinstance(outcome, MessageClass) else packet


@fault("receiver-access-checked-before-transactionality-of-queue", breaks="MQQB-3.1.5.8-05", blind=True)
class ReceiverAccessCheckedBeforeTransactionalityOfQueue(MessageAdmission):
    """The receiver checks whether the sender of a transactional message may write to the queue before it checks
    whether the queue is transactional.
    """

    def check_transactional_queue(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        outcome = super().check_transactional_queue(session, packet, queue, now)
        if isinstance(outcome, MessageClass) and packet.SecurityHeader is not None:
            try:
                self.qm.security_on_receipt.authorize_sender(packet, queue)
            except ReceivedMessageRefused as refused:
                return refused.message_class
        return outcome
