"""Second faults of sending, by an author who had read the rules and not the checks.

Spec: MS-MQQB 3.1.5.6, 3.1.5.7, 3.1.6.5, 3.1.7.1, 3.1.7.6 to 3.1.7.9, 3.1.7.14.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.events import after_events
from harness.faults.parts import fault, replaced
from harness.faults.primitives import at_restart, both, during
from harness.faults.registry import add
from reference_qm.codec import MessageClass, OrderAckBody, PingPacket, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.sessions.ping import Ping
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.timers import TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint

# -- order and final acknowledgments that come ------------------------------------------------------------------------


@fault("order-ack-deletes-the-named-message-alone", breaks="MQQB-3.1.5.6-13")
class OrderAckDeletesTheNamedMessageAlone(OrderAcks):
    """An OrderAck deletes the message with its number, and not those before it."""

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        kept = [one for one in session.OutgoingMessageTable if 0 < one.TxSequenceNumber < body.TxSequenceNumber]
        numbers = [one.TxSequenceNumber for one in kept]
        for one in kept:
            one.TxSequenceNumber = 0
        super().delete_order_acknowledged(session, body)
        for one, number in zip(kept, numbers, strict=True):
            one.TxSequenceNumber = number


@fault("order-ack-of-the-last-number-ignored", breaks=("MQQB-3.1.1.5-03", "MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"))
class OrderAckOfTheLastNumberIgnored(OrderAcks):
    """An OrderAck for the number that was sent last deletes all but that one."""

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        last = body.TxSequenceNumber == session.OutgoingTxSequenceNumber - 1
        number = body.TxSequenceNumber - 1 if last and body.TxSequenceNumber > 1 else body.TxSequenceNumber
        super().delete_order_acknowledged(session, replace(body, TxSequenceNumber=number))


def _journaled(change: dict[MessageClass, MessageClass]) -> type[FinalAcks]:
    class Journaled(FinalAcks):
        def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
            super().journal_final(position, change.get(MessageClass(message_class), message_class))

    return Journaled


for reason in (
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
):
    word = reason.name.removeprefix("MQMSG_CLASS_NACK_").lower().replace("_", "-")
    add(
        f"final-ack-{word}-counts-as-received",
        "MQQB-3.1.5.7-05",
        f"A FinalAck of class {reason.name}, which says that the message had arrived, counts as one of its reception.",
        replaced(_journaled({reason: MessageClass.MQMSG_CLASS_ACK_RECEIVE})),
    )


@fault("message-with-both-journals-loses-one", breaks="MQQB-3.1.5.7-05")
class MessageWithBothJournalsLosesOne(Journaling):
    """A message with JP and JN never becomes a dead letter."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed(position)


@fault("message-with-both-journals-not-in-the-journal", breaks="MQQB-3.1.5.5.4-01")
class MessageWithBothJournalsNotInTheJournal(Journaling):
    """A message with JP and JN never comes into the journal."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested:
            position.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().journal_delivered(position)


@fault("named-dead-letter-queue-only-for-the-first", breaks="MQQB-3.1.5.7-07")
class NamedDeadLetterQueueOnlyForTheFirst(Journaling):
    """Once a dead letter is in a queue that its message named, the others go to that of the system."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._had: set[str] = set()

    def dead_letter_queue(self, message: Message) -> Queue:
        if message.ApplicationDeadletterQueue in self._had:
            message = replace(message, ApplicationDeadletterQueue="")
        self._had.add(message.ApplicationDeadletterQueue)
        return super().dead_letter_queue(message)


# -- sequences --------------------------------------------------------------------------------------------------------


@fault("gap-not-bridged-when-sent-again", breaks="MQQB-3.1.7.1.3-10")
class GapNotBridgedWhenSentAgain(TransactionalSending):
    """A message sent again names the number before its own, whether that message is still there or not."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or not position.Transmitted:
            return packet
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1))


@fault("sent-again-only-once", breaks="MQQB-3.1.6.5-01")
class SentAgainOnlyOnce(TransactionalSending):
    """Once messages were sent again the Transactional Ack Wait Timer does not run any more."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_ack_wait_timer(session, now)
        after_events(self.qm, lambda: self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT))


@fault("only-the-oldest-sent-again", breaks="MQQB-3.1.6.5-01")
class OnlyTheOldestSentAgain(TransactionalSending):
    """When the timer expires only the oldest message without OrderAck is sent again."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for one in waiting[1:]:
            one.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for one in waiting[1:]:
            one.ReceivedOrderAck = False


@fault("messages-beyond-a-window-not-sent-again", breaks="MQQB-3.1.6.5-01")
class MessagesBeyondTenNotSentAgain(TransactionalSending):
    """At most ten messages are sent again."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for one in waiting[10:]:
            one.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for one in waiting[10:]:
            one.ReceivedOrderAck = False


@fault("transactional-not-counted-as-recoverable-when-sent", breaks="MQQB-3.1.1.4-D01")
class TransactionalNotCountedAsRecoverableWhenSent(Sending):
    """RecoverableMessageSentCount does not count transactional messages."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.UserHeader.TH:
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
        return packet


@fault("transaction-numbered-anew-for-its-second-queue", breaks="MQMQ-2.2.20.5-06")
class TransactionNumberedAnewForItsSecondQueue(TransactionOperations):
    """The messages of a transaction to its second queue have another ID than those to the first."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        before = transaction.TransactionalOperationCollection
        first = before[0].MessagePositionReference.QueueReference if before else queue
        if first is not queue and transaction.number:
            transaction.number += 1
        return super().enqueue_in_transaction(transaction, queue, message)


def _begin_transactions_anew(qm: QueueManager) -> None:
    qm.adm.last_transaction = 0


add(
    "transaction-ids-used-again-after-a-restart",
    "MQMQ-2.2.20.5-07",
    "After a restart transactions have the IDs that were used before.",
    at_restart(_begin_transactions_anew),
)

# -- expiry -----------------------------------------------------------------------------------------------------------


class _ExpiredOnlyUnsent(Sending):
    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent: set[int] = set()

    def delete_expired(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if not self.was_sent(position.UserMessage):
            super().delete_expired(session, position, now)

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        self._sent.add(packet.UserHeader.MessageID)

    def was_sent(self, packet: UserMessagePacket) -> bool:
        return self.is_own(packet) and packet.UserHeader.MessageID in self._sent


class _SentBeforeNotExpired(Lifetimes):
    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        sending = self.qm.sending
        assert isinstance(sending, _ExpiredOnlyUnsent)
        return not sending.was_sent(packet) and super().has_expired(packet, now)


add(
    "time-not-looked-at-when-sent-again",
    "MQQB-3.1.7.1-06",
    "Whether a message has expired is looked at when it is sent for the first time only.",
    both(replaced(_ExpiredOnlyUnsent), replaced(_SentBeforeNotExpired)),
)


@fault("expired-recoverable-message-not-nacked", breaks=("MQQB-3.1.7.1.2-03", "MQDMPR-3.1.1.12-D12"))
class ExpiredRecoverableMessageNotNacked(AdminAcks):
    """Only for express messages that expire before they are sent there is a negative acknowledgment."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if not own or message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().acknowledge_failure(message, message_class, now)


# -- what a message carries -------------------------------------------------------------------------------------------


@fault("secured-message-sent-again-in-clear", breaks=("MQQB-3.1.7.1.5-01", "MQQB-3.1.7.1-08"))
class SecuredMessageSentAgainInClear(Securing):
    """A message that is sent again is not encrypted."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._done: set[int] = set()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        ordinal = packet.UserHeader.MessageID
        again = ordinal in self._done
        self._done.add(ordinal)
        return packet if again else super().encrypt_body(session, message, packet, now)


@fault("transactional-message-not-signed", breaks=("MQQB-3.1.7.1.4-01", "MQDMPR-3.1.1.12-09"))
class TransactionalMessageNotSigned(Securing):
    """A transactional message is not signed."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return packet if message.TransactionIdentifier is not None else super().sign_packet(message, packet)


@fault("transactional-message-not-encrypted", breaks=("MQQB-3.1.7.1.5-01"))
class TransactionalMessageNotEncrypted(Securing):
    """The body of a transactional message is sent in clear."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if message.TransactionIdentifier is not None:
            return packet
        return super().encrypt_body(session, message, packet, now)


# -- pings ------------------------------------------------------------------------------------------------------------


@fault("cookie-loses-its-highest-bit", breaks="MQQB-2.2.7-22")
class CookieLosesItsHighestBit(Ping):
    """A Cookie is kept as a signed number: its highest bit is lost."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=response.Cookie & 0x7FFFFFFF)


@fault("cookie-zero-not-answered", breaks="MQQB-3.1.7.7-01")
class CookieZeroNotAnswered(Ping):
    """A Ping Request with the Cookie 0 is taken for one without any."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if data[4:8] != bytes(4):
            super().receive_request(remote, data)


@fault("repeated-ping-not-answered", breaks="MQQB-3.1.7.7-01")
class RepeatedPingNotAnswered(Ping):
    """A Ping Request that is the same as the one before is not answered."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: tuple[Endpoint, bytes] | None = None

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        same = (remote, data) == self._before
        self._before = (remote, data)
        if not same:
            super().receive_request(remote, data)


@fault("refusal-foretold-for-ever", breaks=("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"))
class RefusalForetoldForEver(Ping):
    """Once a Ping Response had RF set, all after it have."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._flags = 0

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        self._flags |= response.Flags & PingPacket.flags(RF=1)
        return replace(response, Flags=response.Flags | self._flags)


@fault("cookie-compared-by-its-low-half", breaks="MQQB-3.1.7.8-04")
class CookieComparedByItsLowHalf(Ping):
    """Of the Cookie of a Ping Response the lower two bytes are compared."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        super().receive_response(data[:6] + cookie[2:] + data[8:] if data[4:6] == cookie[:2] else data, now)


@fault("late-ping-response-opens-a-session", breaks="MQQB-3.1.7.8-06")
class LatePingResponseOpensASession(Ping):
    """A Ping Response that comes when its time is over opens the session that was given up."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in list(self.qm.sessions.values()):
            late = data[4:8] == session.ping_cookie.to_bytes(4, "little") and session.ping_cookie
            if late and session.pinged and session.transport is None and not session.retrying:
                session.ping_cookie = 0
                self.qm.connecting.connect_transport(session)


# -- queues on hold ---------------------------------------------------------------------------------------------------

add(
    "resumed-queue-keeps-express-messages",
    "MQQB-3.1.7.14-04",
    "After the resumption of a queue only its recoverable messages are sent.",
    during(
        Administering.resume_queue,
        DispatchCollection.add,
        lambda original, *_: (
            lambda qm, session, position: original(qm, session, position) if position.recoverable else None
        ),
    ),
)


@fault("queue-on-hold-sends-what-comes-next", breaks="MQQB-3.1.7.12-04")
class QueueOnHoldSendsWhatComesNext(Sending):
    """The second message for a queue on hold is sent."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().put_outgoing(session, position, now)
        if len(session.OutgoingMessageTable) == 2 and session.OutgoingQueueReference is not None:
            self.qm.administering.resume_queue(session.OutgoingQueueReference, now)


@fault("window-in-a-message-is-that-of-the-peer", breaks=("MQQB-3.1.7.1.3-22", "MQQB-3.1.7.11-10"))
class WindowInAMessageIsThatOfThePeer(Sending):
    """A SessionHeader in a message has the WindowSize of the other side."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return replace(packet, SessionHeader=replace(packet.SessionHeader, WindowSize=session.ReceivedWindowSize))


@fault("no-acknowledgment-in-transactional-messages", breaks="MQQB-3.1.7.11-03")
class NoAcknowledgmentInTransactionalMessages(Sending):
    """A transactional message carries no SessionHeader, whenever it is sent."""

    is_transactional = False

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        self.is_transactional = position.UserMessage.TransactionHeader is not None
        return super().update_user_message(session, position, now)

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return not self.is_transactional and super().is_acknowledgment_due(session, now)
