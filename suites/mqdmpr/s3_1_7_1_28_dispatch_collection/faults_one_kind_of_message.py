"""Faults that break rules of MS-MQDMPR 3.1.7.1.28 and 3.1.7.1.29 for one kind of message or state of a session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 1_000


def list_messages_waiting_to_be_sent(session: Session) -> list[OutgoingMessagePosition]:
    """Return the messages of a session that wait to be sent."""
    orders = {order for _, order in session.OutgoingMessageTable._unsent}
    return [one for one in session.OutgoingMessageTable if one.order in orders]


@fault("queue-manager-message-to-second-queue-not-dispatched", breaks="MQDMPR-3.1.7.1.28-03", blind=True)
class QueueManagerMessageToSecondQueueNotDispatched(DispatchCollection):
    """The queue manager creates no DispatchEntry for a message while a message to another queue waits to be sent."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        others = (queue.session for queue in self.qm.adm.OutgoingQueues.values() if queue.session is not session)
        if not any(list_messages_waiting_to_be_sent(one) for one in others):
            super().add(session, position)


@fault("queue-manager-ninth-waiting-message-not-dispatched", breaks="MQDMPR-3.1.7.1.28-03", blind=True)
class QueueManagerNinthWaitingMessageNotDispatched(DispatchCollection):
    """The queue manager creates no DispatchEntry for a message if eight messages of its session wait."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if len(list_messages_waiting_to_be_sent(session)) < 8:
            super().add(session, position)


@fault("queue-manager-waiting-messages-with-equal-body-share-entry", breaks="MQDMPR-3.1.7.1.28-03", blind=True)
class QueueManagerWaitingMessagesWithEqualBodyShareEntry(DispatchCollection):
    """The queue manager creates no DispatchEntry for a message if a message with the same body already waits."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        body = position.UserMessage.MessagePropertiesHeader.MessageBody
        if all(
            one.UserMessage.MessagePropertiesHeader.MessageBody != body
            for one in list_messages_waiting_to_be_sent(session)
        ):
            super().add(session, position)


@fault("queue-manager-waiting-recoverable-messages-sent-with-latest-body", breaks="MQDMPR-3.1.7.1.28-04", blind=True)
class QueueManagerWaitingRecoverableMessagesSentWithLatestBody(DispatchCollection):
    """The DispatchEntries of all waiting recoverable messages refer to the recoverable message that was added last."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable:
            for one in list_messages_waiting_to_be_sent(session):
                if one.recoverable:
                    properties = position.UserMessage.MessagePropertiesHeader
                    one.UserMessage = replace(one.UserMessage, MessagePropertiesHeader=properties)
        super().add(session, position)


@fault("queue-manager-dispatch-entry-has-contents-of-message-to-other-queue", breaks="MQDMPR-3.1.7.1.28-04", blind=True)
class QueueManagerDispatchEntryHasContentsOfMessageToOtherQueue(DispatchCollection):
    """The DispatchEntry of a message has the contents of a message that waits for another queue."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        others = (queue.session for queue in self.qm.adm.OutgoingQueues.values() if queue.session is not session)
        waiting = [one for other in others for one in list_messages_waiting_to_be_sent(other)]
        if waiting:
            properties = waiting[0].UserMessage.MessagePropertiesHeader
            position.UserMessage = replace(position.UserMessage, MessagePropertiesHeader=properties)
        super().add(session, position)


@fault("queue-manager-large-waiting-message-sent-with-earlier-body", breaks="MQDMPR-3.1.7.1.28-04", blind=True)
class QueueManagerLargeWaitingMessageSentWithEarlierBody(DispatchCollection):
    """The DispatchEntry of a message with a body of more than 1,000 bytes refers to the message that waits first."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        waiting = list_messages_waiting_to_be_sent(session)
        if waiting and len(position.UserMessage.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES:
            properties = waiting[0].UserMessage.MessagePropertiesHeader
            position.UserMessage = replace(position.UserMessage, MessagePropertiesHeader=properties)
        super().add(session, position)


@fault("queue-manager-waiting-message-loses-label-and-extension", breaks="MQDMPR-3.1.7.1.28-05", blind=True)
class QueueManagerWaitingMessageLosesLabelAndExtension(DispatchCollection):
    """The DispatchEntry of a message that waits behind another message does not store its label and extension."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if list_messages_waiting_to_be_sent(session):
            lost = {"MessagePropertiesHeader.Label": None, "MessagePropertiesHeader.ExtensionData": b""}
            position.UserMessage = set_fields(position.UserMessage, lost)
        super().add(session, position)


@fault("queue-manager-waiting-recoverable-message-sent-as-express", breaks="MQDMPR-3.1.7.1.28-05", blind=True)
class QueueManagerWaitingRecoverableMessageSentAsExpress(DispatchCollection):
    """The DispatchEntry of a recoverable message that waits behind another message is that of an express message."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if list_messages_waiting_to_be_sent(session):
            position.UserMessage = set_fields(position.UserMessage, {"UserHeader.Flags": lambda flags: flags & ~0x60})
        super().add(session, position)


@fault("queue-manager-dispatch-entry-has-times-of-first-waiting-message", breaks="MQDMPR-3.1.7.1.28-05", blind=True)
class QueueManagerDispatchEntryHasTimesOfFirstWaitingMessage(DispatchCollection):
    """The DispatchEntry of a message that waits has the times of the message that waits first."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        waiting = list_messages_waiting_to_be_sent(session)
        if waiting:
            first = waiting[0].UserMessage
            position.UserMessage = set_fields(
                position.UserMessage,
                {
                    "BaseHeader.TimeToReachQueue": first.BaseHeader.TimeToReachQueue,
                    "UserHeader.TimeToBeReceived": first.UserHeader.TimeToBeReceived,
                },
            )
        super().add(session, position)


@fault("queue-manager-marks-entry-as-sending-beside-unacknowledged-message", breaks="MQDMPR-3.1.7.1.28-07", blind=True)
class QueueManagerMarksEntryAsSendingBesideUnacknowledgedMessage(DispatchCollection):
    """A new DispatchEntry is marked as being sent if a sent message of its session is not acknowledged."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if not session.OutgoingMessageTable.awaiting_ack:
            super().add(session, position)


@fault("queue-manager-marks-new-entry-of-recoverable-message-as-sending", breaks="MQDMPR-3.1.7.1.28-07", blind=True)
class QueueManagerMarksNewEntryOfRecoverableMessageAsSending(DispatchCollection):
    """A new DispatchEntry of a recoverable message is marked as being sent if another message waits."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if not (position.recoverable and list_messages_waiting_to_be_sent(session)):
            super().add(session, position)


@fault("queue-manager-marks-new-entry-as-sending-while-window-is-full", breaks="MQDMPR-3.1.7.1.28-07", blind=True)
class QueueManagerMarksNewEntryAsSendingWhileWindowIsFull(DispatchCollection):
    """A new DispatchEntry is marked as being sent if the window of its session is full."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if self.qm.message_sending.is_window_open(session):
            super().add(session, position)


class _MessageResender(MessageSending):
    """Send some messages a second time; a subclass selects which."""

    def is_message_sent_again(self, session: Session, position: OutgoingMessagePosition) -> bool:
        """Return whether a message is sent a second time."""
        return False

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        if self.is_message_sent_again(session, position):
            super().transmit(session, position, packet)


@fault("queue-manager-transactional-message-sent-twice", breaks="MQDMPR-3.1.7.1.29-03", blind=True)
class QueueManagerTransactionalMessageSentTwice(_MessageResender):
    """The queue manager does not remove the DispatchEntry of a transactional message, and sends the message twice."""

    def is_message_sent_again(self, session: Session, position: OutgoingMessagePosition) -> bool:
        return position.UserMessage.TransactionHeader is not None


@fault("queue-manager-large-message-sent-twice", breaks="MQDMPR-3.1.7.1.29-03", blind=True)
class QueueManagerLargeMessageSentTwice(_MessageResender):
    """The queue manager sends a message with a body of more than 1,000 bytes twice."""

    def is_message_sent_again(self, session: Session, position: OutgoingMessagePosition) -> bool:
        return len(position.UserMessage.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES


@fault("queue-manager-urgent-message-replaces-waiting-messages", breaks="MQDMPR-3.1.7.1.28-08", blind=True)
class QueueManagerUrgentMessageReplacesWaitingMessages(DispatchCollection):
    """When a message of priority 7 is added, the queue manager removes the DispatchEntries of lower priorities."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.priority == 7:
            unsent = session.OutgoingMessageTable._unsent
            unsent[:] = [entry for entry in unsent if entry[0] == -7]
        super().add(session, position)


@fault("queue-manager-large-message-delays-next-message", breaks="MQDMPR-3.1.7.1.29-04", blind=True)
class QueueManagerLargeMessageDelaysNextMessage(MessageSending):
    """After a message with a body of more than 1,000 bytes, the queue manager waits for its acknowledgment."""

    def may_send(self, session: Session) -> bool:
        sent = session.OutgoingMessageTable.awaiting_ack
        large = bool(sent) and len(sent[-1].UserMessage.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES
        return not large and super().may_send(session)


DispatchEntryAdder = Callable[[QueueManager, Session, OutgoingMessagePosition], None]


def _refer_entries_to_newest_message(
    original: DispatchEntryAdder, qm: QueueManager, queue: OutgoingQueue, now: Now
) -> DispatchEntryAdder:
    def add_entry_of_newest_message(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        original(qm, session, list(session.OutgoingMessageTable)[-1])

    return add_entry_of_newest_message


add(
    "sender-entries-of-resumed-queue-refer-to-newest-message",
    "MQDMPR-3.1.7.1.28-04",
    "When a paused outgoing queue with several messages is resumed, every DispatchEntry refers to the newest message.",
    replace_method_during(TransferAdministering.resume_queue, DispatchCollection.add, _refer_entries_to_newest_message),
    blind=True,
)
