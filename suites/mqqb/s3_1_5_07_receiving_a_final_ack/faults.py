"""Faults that break rules of MS-MQQB 3.1.5.7 Receiving a FinalAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.codec import FinalAckBody, MessageClass, Packet, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("queue-manager-final-ack-before-open-session-ignored", breaks="MQQB-3.1.5.7-01")
class QueueManagerFinalAckBeforeOpenSessionIgnored(SessionClosing):
    """A queue manager ignores a FinalAck before the session is open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_final_ack(packet)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("initiator-final-ack-before-open-session-ignored", breaks="MQQB-3.1.5.7-01", blind=True)
class InitiatorFinalAckBeforeOpenSessionIgnored(SessionClosing):
    """An initiator that waits for a ConnectionParameters response ignores a FinalAck, and keeps the session open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (waiting and isinstance(packet, UserMessagePacket) and is_final_ack(packet)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("acceptor-final-ack-before-parameters-ignored", breaks="MQQB-3.1.5.7-01", blind=True)
class AcceptorFinalAckBeforeParametersIgnored(SessionClosing):
    """An acceptor that waits for a ConnectionParameters request ignores a FinalAck, and keeps the session open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_CP_MSG
        if not (waiting and isinstance(packet, UserMessagePacket) and is_final_ack(packet)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("sender-message-with-jp-journaled-for-any-final-ack-class", breaks="MQQB-3.1.5.7-02")
class SenderMessageWithJpJournaledForAnyFinalAckClass(FinalAcks):
    """The sender journals a message with JP when its FinalAck arrives, regardless of the class of the FinalAck."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        wants = position.UserMessage.UserHeader.JP
        super().journal_completed_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if wants else message_class)


@fault("sender-every-final-ack-applied-to-first-waiting-message", breaks=("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-05"))
class SenderEveryFinalAckAppliedToFirstWaitingMessage(FinalAcks):
    """The sender treats each FinalAck as the FinalAck of the first waiting message."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        waiting = [one for queue in self.qm.adm.OutgoingQueues.values() for one in queue.session.OutgoingMessageTable]
        for queue in self.qm.adm.OutgoingQueues.values():
            waiting += queue.session.AwaitingFinalACKTable.values()
        super().journal_completed_message(waiting[0] if waiting else position, message_class)


@fault("sender-message-with-jp-journaled-after-receive-timeout", breaks="MQQB-3.1.5.7-02")
class SenderMessageWithJpJournaledAfterReceiveTimeout(FinalAcks):
    """The sender copies a message with JP to the journal when its FinalAck has the class NACK_RECEIVE_TIMEOUT."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            message_class = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        super().journal_completed_message(position, message_class)


@fault("sender-message-with-jp-journaled-after-purge", breaks="MQQB-3.1.5.7-02", blind=True)
class SenderMessageWithJpJournaledAfterPurge(FinalAcks):
    """The sender copies a message with JP to the journal when its FinalAck has the class NACK_Q_PURGED."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_NACK_Q_PURGED and position.UserMessage.UserHeader.JP:
            self.qm.message_journaling.put_into_system_queue(
                self.qm.adm.SystemJournalQueue, position.MessagePosition.MessageReference
            )
        super().journal_completed_message(position, message_class)


@fault("sender-message-not-journaled-if-final-ack-precedes-order-ack", breaks="MQQB-3.1.5.7-02", blind=True)
class SenderMessageNotJournaledIfFinalAckPrecedesOrderAck(FinalAcks):
    """The sender does not copy a message with JP to the journal when its FinalAck arrives before its OrderAck."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        body = FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        for queue in self.qm.adm.OutgoingQueues.values():
            position = queue.session.OutgoingMessageTable.find(body.SourceGUID, body.MessageID)
            if position is not None:
                message = position.MessagePosition.MessageReference
                position.MessagePosition.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().receive(session, packet, now)


@fault("sender-final-ack-journals-next-message-too", breaks="MQQB-3.1.5.7-02", blind=True)
class SenderFinalAckJournalsNextMessageToo(FinalAcks):
    """When the FinalAck of a message with JP arrives, the sender also journals and completes the next message."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().receive(session, packet, now)
        properties = packet.MessagePropertiesHeader
        body = FinalAckBody.parse(properties.MessageBody)
        for queue in self.qm.adm.OutgoingQueues.values():
            position = queue.session.AwaitingFinalACKTable.pop(body.MessageID + 1, None)
            if position is not None:
                self.journal_completed_message(position, properties.MessageClass)


@fault("sender-final-ack-on-session-of-receiver-ignored", breaks="MQQB-3.1.5.7-02", blind=True)
class SenderFinalAckOnSessionOfReceiverIgnored(FinalAcks):
    """The sender ignores a FinalAck that arrives on a session that the receiver opened."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if session.initiator:
            super().receive(session, packet, now)


@fault("sender-second-final-ack-journals-message-again", breaks="MQQB-3.1.5.7-02", blind=True)
class SenderSecondFinalAckJournalsMessageAgain(FinalAcks):
    """When a second FinalAck of the same message arrives, the sender puts a second copy of the message into the
    journal.
    """

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        body = FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        done = self.__dict__.setdefault("done", {})
        if packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            if body.MessageID in done:
                self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemJournalQueue, done[body.MessageID])
            for queue in self.qm.adm.OutgoingQueues.values():
                position = queue.session.AwaitingFinalACKTable.get(body.MessageID)
                if position is not None and position.UserMessage.UserHeader.JP:
                    done[body.MessageID] = position.MessagePosition.MessageReference
        super().receive(session, packet, now)


@fault("sender-journaled-transactional-message-without-label", breaks="MQQB-3.1.5.7-02", blind=True)
class SenderJournaledTransactionalMessageWithoutLabel(MessageJournaling):
    """The sender copies a message to the journal without its label."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, Label="")
        super().journal_delivered_message(position)


@fault(
    "sender-final-ack-completes-oldest-message-instead-of-its-own",
    breaks=("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-05"),
    blind=True,
)
class SenderFinalAckCompletesOldestMessageInsteadOfItsOwn(FinalAcks):
    """When a FinalAck arrives, the sender completes the oldest message that awaits a FinalAck,
    regardless of MessageID.
    """

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            table = queue.session.AwaitingFinalACKTable
            if len(table) > 1:
                keys, positions = list(table), list(table.values())
                named = int.from_bytes(packet.MessagePropertiesHeader.MessageBody[-4:], "little")
                if named in table and keys[0] != named:
                    table[named] = positions[0]
                    table[keys[0]] = positions[keys.index(named)]
        super().receive(session, packet, now)


@fault("sender-final-ack-before-order-ack-ignored", breaks=("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-05"), blind=True)
class SenderFinalAckBeforeOrderAckIgnored(FinalAcks):
    """The sender ignores a FinalAck for a message whose OrderAck has not arrived."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        named = int.from_bytes(packet.MessagePropertiesHeader.MessageBody[-4:], "little")
        if any(named in one.session.AwaitingFinalACKTable for one in self.qm.adm.OutgoingQueues.values()):
            super().receive(session, packet, now)


@fault("sender-message-with-jp-and-jn-journaled-for-nack", breaks=("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-05"), blind=True)
class SenderMessageWithJpAndJnJournaledForNack(FinalAcks):
    """The sender puts a message with JP and JN set into the system journal when its FinalAck is negative."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        header = position.UserMessage.UserHeader
        if header.JP and header.JN:
            message_class = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        super().journal_completed_message(position, message_class)


@fault("sender-makes-dead-letter-of-message-with-jp-after-receipt", breaks="MQQB-3.1.5.7-04")
class SenderMakesDeadLetterOfMessageWithJpAfterReceipt(FinalAcks):
    """The sender moves a received message with JP to the transactional dead-letter queue."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE and position.UserMessage.UserHeader.JP:
            self.qm.message_positions.move_message(
                position.MessagePosition, self.qm.adm.SystemTransactionalDeadletterQueue
            )
        else:
            super().journal_completed_message(position, message_class)


@fault("sender-no-message-made-dead-letter-by-final-ack", breaks="MQQB-3.1.5.7-05")
class SenderNoMessageMadeDeadLetterByFinalAck(FinalAcks):
    """The sender moves no message to a dead-letter queue."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        super().journal_completed_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("sender-only-messages-refused-at-arrival-become-dead-letters", breaks="MQQB-3.1.5.7-05")
class SenderOnlyMessagesRefusedAtArrivalBecomeDeadLetters(FinalAcks):
    """The sender puts a message into a dead-letter queue only if it was refused before it reached its queue."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        before = message_class < MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().journal_completed_message(position, message_class if before else MessageClass.MQMSG_CLASS_ACK_RECEIVE)


def _change_final_ack_class_for_journal(change: dict[MessageClass, MessageClass]) -> type[FinalAcks]:
    class JournaledWithOtherClass(FinalAcks):
        def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
            super().journal_completed_message(position, change.get(MessageClass(message_class), message_class))

    return JournaledWithOtherClass


for reason in (
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
):
    word = reason.name.removeprefix("MQMSG_CLASS_NACK_").lower().replace("_", "-")
    add(
        f"sender-final-ack-{word}-counted-as-received",
        "MQQB-3.1.5.7-05",
        f"The sender treats a FinalAck of class {reason.name} as ACK_RECEIVE.",
        replace_part(_change_final_ack_class_for_journal({reason: MessageClass.MQMSG_CLASS_ACK_RECEIVE})),
        blind=True,
    )


@fault("sender-message-with-jp-and-jn-never-dead-letter", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderMessageWithJpAndJnNeverDeadLetter(MessageJournaling):
    """The sender never puts a message with JP and JN into a dead-letter queue."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed_message(position)


@fault("sender-message-not-dead-letter-if-final-ack-precedes-order-ack", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderMessageNotDeadLetterIfFinalAckPrecedesOrderAck(FinalAcks):
    """The sender does not put a message with JN into a dead-letter queue if its FinalAck arrives before
    its OrderAck.
    """

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        body = FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        for queue in self.qm.adm.OutgoingQueues.values():
            position = queue.session.OutgoingMessageTable.find(body.SourceGUID, body.MessageID)
            if position is not None:
                message = position.MessagePosition.MessageReference
                position.MessagePosition.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().receive(session, packet, now)


@fault("sender-no-dead-letter-if-final-ack-class-is-0xc000-or-higher", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderNoDeadLetterIfFinalAckClassIs0xc000OrHigher(FinalAcks):
    """The sender puts no message into a dead-letter queue when the class of the FinalAck is 0xC000 or higher."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class >= 0xC000:
            place = position.MessagePosition
            place.MessageReference = replace(place.MessageReference, NegativeJournalingRequested=False)
        super().journal_completed_message(position, message_class)


@fault("sender-no-dead-letter-for-class-unsupported-crypto-provider", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderNoDeadLetterForClassUnsupportedCryptoProvider(FinalAcks):
    """The sender puts no message into a dead-letter queue when the class of the FinalAck is
    NACK_UNSUPPORTED_CRYPTO_PROVIDER.
    """

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER:
            place = position.MessagePosition
            place.MessageReference = replace(place.MessageReference, NegativeJournalingRequested=False)
        super().journal_completed_message(position, message_class)


@fault("sender-makes-journaled-message-with-jp-and-jn-also-dead-letter", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderMakesJournaledMessageWithJpAndJnAlsoDeadLetter(FinalAcks):
    """When an application received a message with JN and JP set, the sender puts the message into the journal and into
    the dead-letter queue.
    """

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        header, message = position.UserMessage.UserHeader, position.MessagePosition.MessageReference
        super().journal_completed_message(position, message_class)
        if message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE and header.JN and header.JP:
            self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemTransactionalDeadletterQueue, message)


@fault("sender-final-ack-of-second-queue-ignored", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderFinalAckOfSecondQueueIgnored(FinalAcks):
    """The sender finds the message of a FinalAck only in its first outgoing queue."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        body = FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        for queue in list(self.qm.adm.OutgoingQueues.values())[1:]:
            table = queue.session.OutgoingMessageTable.find(body.SourceGUID, body.MessageID)
            if table is not None or body.MessageID in queue.session.AwaitingFinalACKTable:
                return
        super().receive(session, packet, now)


@fault("sender-dead-letter-without-its-body", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderDeadLetterWithoutItsBody(MessageJournaling):
    """The sender moves a message to the dead-letter queue without its body."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, Body=b"")
        super().journal_failed_message(position)


@fault("sender-message-refused-at-arrival-not-made-dead-letter", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderMessageRefusedAtArrivalNotMadeDeadLetter(FinalAcks):
    """The sender moves a message with JN to a dead-letter queue only for FinalAck classes of 0xC000 and above."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if 0x8000 <= message_class < 0xC000:
            place = position.MessagePosition
            place.MessageReference = replace(place.MessageReference, NegativeJournalingRequested=False)
        super().journal_completed_message(position, message_class)


@fault("sender-large-dead-letter-truncated", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderLargeDeadLetterTruncated(FinalAcks):
    """The sender moves at most the first 4,096 bytes of the body of a message to the transactional
    dead-letter queue.
    """

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        place = position.MessagePosition
        place.MessageReference = replace(place.MessageReference, Body=place.MessageReference.Body[:4_096])
        super().journal_completed_message(position, message_class)


@fault("sender-dead-letter-queue-named-in-message-ignored", breaks=("MQQB-3.1.5.7-07", "MQDMPR-3.1.1.12-02"))
class SenderDeadLetterQueueNamedInMessageIgnored(MessageJournaling):
    """The sender ignores the dead-letter queue that a message names."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        return super().find_dead_letter_queue(replace(message, ApplicationDeadletterQueue=""))


@fault("sender-dead-letter-in-non-transactional-queue", breaks=("MQQB-3.1.5.7-07", "MQDMPR-3.1.1.12-02"))
class SenderDeadLetterInNonTransactionalQueue(FinalAcks):
    """The sender moves a transactional dead letter to the nontransactional dead-letter queue."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        message = position.MessagePosition.MessageReference
        received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if message.NegativeJournalingRequested and not received and not message.ApplicationDeadletterQueue:
            self.qm.message_positions.move_message(position.MessagePosition, self.qm.adm.SystemDeadletterQueue)
        else:
            super().journal_completed_message(position, message_class)


@fault("sender-named-dead-letter-queue-used-only-for-first-message", breaks="MQQB-3.1.5.7-07", blind=True)
class SenderNamedDeadLetterQueueUsedOnlyForFirstMessage(MessageJournaling):
    """The sender uses a named dead-letter queue only for the first message that names a dead-letter queue."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._had: set[str] = set()

    def find_dead_letter_queue(self, message: Message) -> Queue:
        if message.ApplicationDeadletterQueue in self._had:
            message = replace(message, ApplicationDeadletterQueue="")
        self._had.add(message.ApplicationDeadletterQueue)
        return super().find_dead_letter_queue(message)


def _clear_dead_letter_queue_names(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        session = queue.session
        for position in [*session.OutgoingMessageTable, *session.AwaitingFinalACKTable.values()]:
            place = position.MessagePosition
            place.MessageReference = replace(place.MessageReference, ApplicationDeadletterQueue="")


add(
    "sender-application-dead-letter-queue-forgotten-at-restart",
    "MQQB-3.1.5.7-07",
    "After a restart, the sender moves refused messages to the system queue, even if they name a dead-letter queue.",
    change_core_at_restart(_clear_dead_letter_queue_names),
    blind=True,
)


@fault("sender-message-moved-to-first-nonempty-named-dead-letter-queue", breaks="MQQB-3.1.5.7-07", blind=True)
class SenderMessageMovedToFirstNonemptyNamedDeadLetterQueue(MessageJournaling):
    """If a message names a dead-letter queue, the sender moves the message to the first nonempty queue of the same kind
    (transactional or nontransactional) instead.
    """

    def find_dead_letter_queue(self, message: Message) -> Queue:
        found = super().find_dead_letter_queue(message)
        if found in self.qm.adm.system_queues:
            return found
        for queue in self.qm.adm.QueueCollection.values():
            if queue.Transactional is found.Transactional and len(queue.MessagePositionList):
                return queue
        return found


@fault("sender-second-message-not-moved-to-named-dead-letter-queue", breaks="MQQB-3.1.5.7-07", blind=True)
class SenderSecondMessageNotMovedToNamedDeadLetterQueue(MessageJournaling):
    """The sender moves only the first refused message to the dead-letter queue that the messages name."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        queue = super().find_dead_letter_queue(message)
        named = self.find_application_queue(message.ApplicationDeadletterQueue)
        if named is queue and named is not None and len(named.MessagePositionList):
            return self.qm.adm.SystemTransactionalDeadletterQueue
        return queue


@fault("sender-final-ack-of-message-with-jp-and-jn-not-journaled", breaks="MQQB-3.1.5.7-04", blind=True)
class SenderFinalAckOfMessageWithJpAndJnNotJournaled(FinalAcks):
    """The sender does not copy a received message with JP and JN to the system journal."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if not (received and position.UserMessage.UserHeader.JN):
            super().journal_completed_message(position, message_class)


@fault("sender-only-one-transactional-message-journaled", breaks="MQQB-3.1.5.7-04", blind=True)
class SenderOnlyOneTransactionalMessageJournaled(FinalAcks):
    """The sender does not copy a received message to the system journal if the journal contains another message."""

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if not (received and len(self.qm.adm.SystemJournalQueue.MessagePositionList)):
            super().journal_completed_message(position, message_class)
