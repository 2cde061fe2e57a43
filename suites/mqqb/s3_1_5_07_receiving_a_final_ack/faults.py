"""Faults of MS-MQQB 3.1.5.7 Receiving a FinalAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from reference_qm.codec import MessageClass, Packet, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.surface.clock import Now


@fault("any-final-ack-before-open-session-ignored", breaks="MQQB-3.1.5.7-01")
class AnyFinalAckBeforeOpenSessionIgnored(Closing):
    """A queue manager ignores a FinalAck before the session is open."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_final_ack(packet)):
            super().refuse_out_of_state(session, packet, now)


@fault("sender-final-ack-class-not-read-for-jp", breaks="MQQB-3.1.5.7-02")
class SenderFinalAckClassNotReadForJp(FinalAcks):
    """The sender journals a message with JP when its FinalAck arrives, regardless of the class of the FinalAck."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        wants = position.UserMessage.UserHeader.JP
        super().journal_completed(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if wants else message_class)


@fault("sender-final-ack-dead-letter-missing", breaks="MQQB-3.1.5.7-05")
class SenderFinalAckDeadLetterMissing(FinalAcks):
    """The sender moves no message to a dead-letter queue."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        super().journal_completed(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("sender-final-ack-dead-letters-message-only-if-it-was-never-queued", breaks="MQQB-3.1.5.7-05")
class SenderFinalAckDeadLettersMessageOnlyIfItWasNeverQueued(FinalAcks):
    """The sender puts a message into a dead-letter queue only if it was refused before it reached its queue."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        before = message_class < MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().journal_completed(position, message_class if before else MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("sender-final-ack-taken-for-first-message", breaks=("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-05"))
class SenderFinalAckTakenForFirstMessage(FinalAcks):
    """The sender treats each FinalAck as the FinalAck of the first waiting message."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        waiting = [one for queue in self.qm.adm.OutgoingQueues.values() for one in queue.session.OutgoingMessageTable]
        for queue in self.qm.adm.OutgoingQueues.values():
            waiting += queue.session.AwaitingFinalACKTable.values()
        super().journal_completed(waiting[0] if waiting else position, message_class)


@fault("sender-dead-letter-queue-of-message-ignored", breaks=("MQQB-3.1.5.7-07", "MQDMPR-3.1.1.12-02"))
class SenderDeadLetterQueueOfMessageIgnored(Journaling):
    """The sender ignores the dead-letter queue that a message names."""

    def dead_letter_queue(self, message: Message) -> Queue:
        return super().dead_letter_queue(replace(message, ApplicationDeadletterQueue=""))


@fault("sender-received-message-journaled-as-dead-letter", breaks="MQQB-3.1.5.7-04")
class SenderReceivedMessageJournaledAsDeadLetter(FinalAcks):
    """The sender moves a received message with JP to the transactional dead-letter queue."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE and position.UserMessage.UserHeader.JP:
            self.qm.positions.move_message(position.MessagePosition, self.qm.adm.SystemTransactionalDeadletterQueue)
        else:
            super().journal_completed(position, message_class)


@fault("sender-dead-letter-in-non-transactional-queue", breaks=("MQQB-3.1.5.7-07", "MQDMPR-3.1.1.12-02"))
class SenderDeadLetterInNonTransactionalQueue(FinalAcks):
    """The sender moves a transactional dead letter to the nontransactional dead-letter queue."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        message = position.MessagePosition.MessageReference
        received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if message.NegativeJournalingRequested and not received and not message.ApplicationDeadletterQueue:
            self.qm.positions.move_message(position.MessagePosition, self.qm.adm.SystemDeadletterQueue)
        else:
            super().journal_completed(position, message_class)


def _change_final_class(change: dict[MessageClass, MessageClass]) -> type[FinalAcks]:
    class Journaled(FinalAcks):
        def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
            super().journal_completed(position, change.get(MessageClass(message_class), message_class))

    return Journaled


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
        replace_part(_change_final_class({reason: MessageClass.MQMSG_CLASS_ACK_RECEIVE})),
        blind=True,
    )


@fault("sender-message-with-jp-and-jn-never-dead-letter", breaks="MQQB-3.1.5.7-05", blind=True)
class SenderMessageWithJpAndJnNeverDeadLetter(Journaling):
    """The sender never puts a message with JP and JN into a dead-letter queue."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed(position)


@fault("sender-dead-letter-queue-of-message-used-once", breaks="MQQB-3.1.5.7-07", blind=True)
class SenderDeadLetterQueueOfMessageUsedOnce(Journaling):
    """The sender uses a named dead-letter queue only for the first message that names a dead-letter queue."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._had: set[str] = set()

    def dead_letter_queue(self, message: Message) -> Queue:
        if message.ApplicationDeadletterQueue in self._had:
            message = replace(message, ApplicationDeadletterQueue="")
        self._had.add(message.ApplicationDeadletterQueue)
        return super().dead_letter_queue(message)


@fault("sender-final-ack-of-receive-timeout-journaled-as-received", breaks="MQQB-3.1.5.7-02")
class SenderFinalAckOfReceiveTimeoutJournaledAsReceived(FinalAcks):
    """The sender copies a message with JP to the journal when its FinalAck has the class NACK_RECEIVE_TIMEOUT."""

    def journal_completed(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            message_class = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        super().journal_completed(position, message_class)
