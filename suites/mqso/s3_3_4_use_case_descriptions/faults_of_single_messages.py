"""Faults of messages of one kind that an application sends to a local queue or to another queue manager."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.surface.clock import Now


@fault("sender-puts-message-to-own-private-name-into-outgoing-queue", breaks="MQSO-3.3.4.3-D02")
class SenderPutsMessageToOwnPrivateNameIntoOutgoingQueue(DestinationResolving):
    """The queue manager puts a message for one of its own queues into an outgoing queue if the name is private."""

    def find_local_queue(self, text: str) -> Queue | None:
        return None if text.upper().startswith("PRIVATE=") else super().find_local_queue(text)


@fault("sender-stores-every-local-message-in-queue-of-first", breaks="MQSO-3.3.4.3-D02")
class SenderStoresEveryLocalMessageInQueueOfFirst(DestinationResolving):
    """The queue manager stores every message for its own queues in the queue of the first message."""

    def find_local_queue(self, text: str) -> Queue | None:
        found = super().find_local_queue(text)
        return found if found is None else self.__dict__.setdefault("first", found)


@fault("sender-large-message-to-own-queue-not-stored", breaks="MQSO-3.3.4.3-D02")
class SenderLargeMessageToOwnQueueNotStored(MessagePositions):
    """The queue manager stores no message with a body above 4,096 bytes in one of its own queues."""

    def on_message_available(self, position: MessagePosition) -> None:
        super().on_message_available(position)
        if len(position.MessageReference.Body) > 4096:
            position.QueueReference.MessagePositionList.remove(position)


@fault("sender-messages-of-second-outgoing-queue-not-transferred", breaks="MQSO-3.3.4.3-D03")
class SenderMessagesOfSecondOutgoingQueueNotTransferred(MessageSending):
    """The queue manager transfers only the messages of the outgoing queue that it created first."""

    def dispatch_messages(self, session: Any, now: Now) -> None:
        if session.OutgoingQueueReference is not None:
            first = self.__dict__.setdefault("first", session.number)
            if first != session.number:
                return
        super().dispatch_messages(session, now)
