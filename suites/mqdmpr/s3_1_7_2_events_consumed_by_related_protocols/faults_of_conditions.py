"""Faults that break the rule MQDMPR-3.1.7.2-01 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.model.adm import MessagePosition


class _ReceivedMessageKeeper(MessagePositions):
    """Make some received messages available again instead of deleting them; a subclass selects which."""

    def is_received_message_kept(self, position: MessagePosition) -> bool:
        """Return whether a received message stays in its queue."""
        return False

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE and self.is_received_message_kept(position):
            self.unlock_message(position)
        else:
            super().delete_message(position, reason)


@fault("queue-manager-does-not-delete-message-received-from-subqueue", breaks="MQDMPR-3.1.7.2-01", blind=True)
class QueueManagerDoesNotDeleteMessageReceivedFromSubqueue(_ReceivedMessageKeeper):
    """A message that is received from a subqueue stays in the subqueue."""

    def is_received_message_kept(self, position: MessagePosition) -> bool:
        return ";" in position.QueueReference.Pathname and not position.QueueReference.Pathname.endswith("JOURNAL")


@fault("queue-manager-does-not-delete-message-received-from-journal", breaks="MQDMPR-3.1.7.2-01", blind=True)
class QueueManagerDoesNotDeleteMessageReceivedFromJournal(_ReceivedMessageKeeper):
    """A message that is received from a journal stays in the journal."""

    def is_received_message_kept(self, position: MessagePosition) -> bool:
        return position.QueueReference.Pathname.upper().endswith(";JOURNAL")


@fault("queue-manager-does-not-delete-received-large-message", breaks="MQDMPR-3.1.7.2-01", blind=True)
class QueueManagerDoesNotDeleteReceivedLargeMessage(_ReceivedMessageKeeper):
    """A message with a body of more than 4,096 bytes stays in its queue after it is received."""

    def is_received_message_kept(self, position: MessagePosition) -> bool:
        return len(position.MessageReference.Body) > 4_096
