"""Faults in the acknowledgment of local messages: MQDMPR-3.1.1.12-38."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.surface.clock import Now


class _LocalArrivalAckOmitter(AdminAcks):
    """Do not acknowledge the arrival of some messages of local applications; a subclass selects which."""

    def is_arrival_ack_omitted(self, message: Message) -> bool:
        """Return whether the arrival of a local message is not acknowledged."""
        raise NotImplementedError

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        local = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if not (local and self.is_arrival_ack_omitted(message)):
            super().acknowledge_arrival(position, now)


@fault("queue-manager-arrival-of-local-transactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-38")
class QueueManagerArrivalOfLocalTransactionalMessageNotAcknowledged(_LocalArrivalAckOmitter):
    """The queue manager does not acknowledge the arrival of a local message when the transaction of the message
    commits.
    """

    def is_arrival_ack_omitted(self, message: Message) -> bool:
        return message.TransactionIdentifier is not None


@fault("queue-manager-arrival-of-local-nontransactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-38")
class QueueManagerArrivalOfLocalNontransactionalMessageNotAcknowledged(_LocalArrivalAckOmitter):
    """The queue manager does not acknowledge the arrival of a nontransactional local message."""

    def is_arrival_ack_omitted(self, message: Message) -> bool:
        return message.TransactionIdentifier is None
