"""Faults in which a message takes the content or the queue of its predecessor (MS-MQQB 3.1.5.8.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now


@fault("receiver-stores-content-of-other-sender-for-same-message-id", breaks="MQQB-3.1.5.8.8-02", blind=True)
class ReceiverStoresContentOfOtherSenderForSameMessageId(MessageAdmission):
    """The receiver creates a message with the content of an earlier packet that has the same MessageID and another
    SourceQueueManager.
    """

    contents: Mapping[int, Any] = MappingProxyType({})

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        if admitted is None:
            return None
        header = admitted.UserHeader
        source, content = self.contents.get(header.MessageID, (header.SourceQueueManager, None))
        self.contents = {header.MessageID: (header.SourceQueueManager, admitted.MessagePropertiesHeader)}
        if source == header.SourceQueueManager:
            return admitted
        base = replace(admitted.BaseHeader, PacketSize=0)
        return replace(admitted, BaseHeader=base, MessagePropertiesHeader=content)


@fault("receiver-stores-body-of-preceding-message-with-same-label", breaks="MQQB-3.1.5.8.8-02", blind=True)
class ReceiverStoresBodyOfPrecedingMessageWithSameLabel(MessageAdmission):
    """The receiver creates a message with the body of the previous packet if both packets arrived within the same
    second on the same session, and have the same label and size.
    """

    previous: tuple[Any, ...] = ()
    body: bytes = b""

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        if admitted is None:
            return None
        properties = admitted.MessagePropertiesHeader
        present = (session.number, now.utc_s, properties.Label, len(properties.MessageBody))
        body, self.body = self.body, properties.MessageBody
        same, self.previous = present == self.previous, present
        if not same:
            return admitted
        base = replace(admitted.BaseHeader, PacketSize=0)
        return replace(
            admitted, BaseHeader=base, MessagePropertiesHeader=replace(properties, MessageBody=body, Padding=None)
        )


@fault("receiver-message-to-private-queue-put-into-queue-of-predecessor", breaks="MQQB-3.1.5.8.8-04", blind=True)
class ReceiverMessageToPrivateQueuePutIntoQueueOfPredecessor(MessageArrival):
    """The receiver puts a message with a private format name into the queue of the previous message with a private
    format name if the identifiers of the queues differ only by 1.
    """

    number: int = 0

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        found = super().find_destination(packet)
        name = packet.UserHeader.DestinationQueue
        if not isinstance(name, PrivateQueueFormatNameId) or found is None:
            return found
        number, self.number = self.number, name.PrivateQueueIdentifier
        if abs(number - name.PrivateQueueIdentifier) != 1:
            return found
        return self.qm.adm.QueueCollection.find_private_queue(number) or found


@fault("receiver-transactional-message-put-into-queue-of-predecessor", breaks="MQQB-3.1.5.8.8-04", blind=True)
class ReceiverTransactionalMessagePutIntoQueueOfPredecessor(MessageArrival):
    """The receiver puts a transactional message into the queue of the previous transactional message."""

    previous: Queue | None = None

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        found = super().find_destination(packet)
        if packet.TransactionHeader is None or found is None:
            return found
        previous, self.previous = self.previous, found
        deleted = previous is not None and previous not in self.qm.adm.QueueCollection.values()
        return found if previous is None or deleted else previous
