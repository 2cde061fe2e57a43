"""Faults of MS-MQQB 3.1.7.15, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import (
    MessageClass,
    PrivateName,
)
from reference_qm.core.names.destinations import parse_name
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-q-deleted-ack-without-body", breaks="MQQB-3.1.7.15-28", blind=True)
class ReceiverQDeletedAckWithoutBody(AdminAcks):
    """The receiver sends the acknowledgment of a message that was deleted with its queue without the
    body of the message.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, Body=b"") if message_class is MessageClass.MQMSG_CLASS_NACK_Q_DELETED else ack


@fault("receiver-admin-queue-of-third-computer-taken-as-senders", breaks="MQQB-3.1.7.15-14", blind=True)
class ReceiverAdminQueueOfThirdComputerTakenAsSenders(AdminAcks):
    """The receiver sends the acknowledgment to the computer that sent the message, although the private name of the
    administration queue has the GUID of a third computer.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        name = parse_name(message.AdministrationQueueFormatName) if message.AdministrationQueueFormatName else None
        if isinstance(name, PrivateName):
            name = replace(name, ComputerGuid=message.Identifier.QueueManagerGuid)
            message = replace(message, AdministrationQueueFormatName=str(name))
        super().send(message, message_class, now)
