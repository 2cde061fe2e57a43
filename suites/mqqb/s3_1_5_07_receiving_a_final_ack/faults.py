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


@fault("early-final-ack-tolerated", breaks="MQQB-3.1.5.7-01")
class EarlyFinalAckTolerated(Closing):
    """A FinalAck before the session is open is ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_final_ack(packet)):
            super().refuse_out_of_state(session, packet, now)


@fault("final-ack-class-unread", breaks="MQQB-3.1.5.7-02")
class FinalAckClassUnread(FinalAcks):
    """A message with JP is journaled whatever the class of its FinalAck is."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        wants = position.UserMessage.UserHeader.JP
        super().journal_final(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if wants else message_class)


@fault("final-ack-never-dead", breaks="MQQB-3.1.5.7-05")
class FinalAckNeverDead(FinalAcks):
    """No message becomes a dead letter."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        super().journal_final(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("final-ack-dead-of-bad-queue-alone", breaks="MQQB-3.1.5.7-05")
class FinalAckDeadOfBadQueueAlone(FinalAcks):
    """A message becomes a dead letter only when it was refused before it was in its queue."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        before = message_class < MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().journal_final(position, message_class if before else MessageClass.MQMSG_CLASS_ACK_RECEIVE)


@fault("final-ack-of-the-first-message", breaks=("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-05"))
class FinalAckOfTheFirstMessage(FinalAcks):
    """A FinalAck is taken for that of the first message that awaits one."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        waiting = [one for queue in self.qm.adm.OutgoingQueues.values() for one in queue.session.OutgoingMessageTable]
        for queue in self.qm.adm.OutgoingQueues.values():
            waiting += queue.session.AwaitingFinalACKTable.values()
        super().journal_final(waiting[0] if waiting else position, message_class)


@fault("own-dead-letter-queue-unread", breaks=("MQQB-3.1.5.7-07", "MQDMPR-3.1.1.12-02"))
class OwnDeadLetterQueueUnread(Journaling):
    """A queue that a message names for its dead letters is not looked at."""

    def dead_letter_queue(self, message: Message) -> Queue:
        return super().dead_letter_queue(replace(message, ApplicationDeadletterQueue=""))


@fault("final-ack-journaled-with-the-dead", breaks="MQQB-3.1.5.7-04")
class FinalAckJournaledWithTheDead(FinalAcks):
    """A message that was received and wants journaling goes to the transactional dead letters."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE and position.UserMessage.UserHeader.JP:
            self.qm.positions.move_message(position.MessagePosition, self.qm.adm.SystemTransactionalDeadletterQueue)
        else:
            super().journal_final(position, message_class)


@fault("final-ack-dead-without-transaction", breaks=("MQQB-3.1.5.7-07", "MQDMPR-3.1.1.12-02"))
class FinalAckDeadWithoutTransaction(FinalAcks):
    """A dead letter that names no queue goes to those of messages without transaction."""

    def journal_final(self, position: OutgoingMessagePosition, message_class: int) -> None:
        message = position.MessagePosition.MessageReference
        received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if message.NegativeJournalingRequested and not received and not message.ApplicationDeadletterQueue:
            self.qm.positions.move_message(position.MessagePosition, self.qm.adm.SystemDeadletterQueue)
        else:
            super().journal_final(position, message_class)


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
        replace_part(_journaled({reason: MessageClass.MQMSG_CLASS_ACK_RECEIVE})),
        blind=True,
    )


@fault("message-with-both-journals-loses-one", breaks="MQQB-3.1.5.7-05", blind=True)
class MessageWithBothJournalsLosesOne(Journaling):
    """A message with JP and JN never becomes a dead letter."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed(position)


@fault("named-dead-letter-queue-only-for-the-first", breaks="MQQB-3.1.5.7-07", blind=True)
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
