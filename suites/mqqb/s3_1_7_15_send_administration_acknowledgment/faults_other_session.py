"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment that need two sessions."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.message import Message
from reference_qm.surface.clock import Now

_first_messages: WeakKeyDictionary[QueueManager, Message] = WeakKeyDictionary()
"""The first message that each queue manager acknowledged."""


class _AckOfFirst(AdminAcks):
    """Change the acknowledgments of all messages after the first acknowledged message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        first = _first_messages.setdefault(self.qm, message)
        return self.change_ack(super().build(message, message_class, now), first)

    def change_ack(self, ack: Message, first: Message) -> Message:
        """Return the changed acknowledgment; ``first``: the message that was acknowledged first."""
        raise NotImplementedError


@fault(
    "receiver-acknowledgment-addressed-to-first-administration-queue", breaks=("MQQB-3.1.7.15-10", "MQQB-3.1.7.15-15")
)
class ReceiverAcknowledgmentAddressedToFirstAdministrationQueue(_AckOfFirst):
    """The receiver addresses every acknowledgment to the administration queue of the first acknowledged message."""

    def change_ack(self, ack: Message, first: Message) -> Message:
        assert first.AdministrationQueueFormatName is not None
        return replace(ack, DestinationQueueFormatName=first.AdministrationQueueFormatName)


@fault("receiver-acknowledgment-correlation-of-first-source", breaks=("MQQB-3.1.7.15-17", "MQQB-3.1.7.15-18"))
class ReceiverAcknowledgmentCorrelationOfFirstSource(_AckOfFirst):
    """CorrelationID of every acknowledgment has the SourceQueueManager of the first acknowledged message."""

    def change_ack(self, ack: Message, first: Message) -> Message:
        own = ack.CorrelationIdentifier
        return replace(ack, CorrelationIdentifier=first.Identifier.build()[:16] + own[16:])


class _AcksOfFirstSource(AdminAcks):
    """Send acknowledgments only of messages from the source of the first acknowledged message."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        first = _first_messages.setdefault(self.qm, message)
        if first.Identifier.QueueManagerGuid == message.Identifier.QueueManagerGuid:
            super().send(message, message_class, now)


@fault("receiver-acknowledgments-of-one-source-only", breaks=("MQQB-3.1.7.15-06", "MQQB-3.1.7.15-34"))
class ReceiverAcknowledgmentsOfOneSourceOnly(_AcksOfFirstSource):
    """The receiver sends acknowledgments only of messages from the first source that requested an acknowledgment."""
