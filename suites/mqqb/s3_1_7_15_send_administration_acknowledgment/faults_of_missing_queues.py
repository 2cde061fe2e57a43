"""Faults in acknowledgments for messages without an administration queue, or with a queue on another host. Spec:
MS-MQQB 3.1.7.15.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-nack-without-admin-queue-sent-to-response-queue", breaks="MQQB-3.1.7.15-03", blind=True)
class ReceiverNackWithoutAdminQueueSentToResponseQueue(AdminAcks):
    """When a message without an administration queue leaves its queue unreceived, the receiver sends the acknowledgment
    to the response queue.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE and not message.AdministrationQueueFormatName:
            message = replace(message, AdministrationQueueFormatName=message.ResponseQueueFormatName)
        super().acknowledge_receive(message, reason, now)


@fault("receiver-ack-without-admin-queue-sent-to-earlier-queue", breaks="MQQB-3.1.7.15-03", blind=True)
class ReceiverAckWithoutAdminQueueSentToEarlierQueue(AdminAcks):
    """When a message without an administration queue leaves its queue, the receiver sends the acknowledgment to the
    administration queue of an earlier message.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        known = message.AdministrationQueueFormatName or self.__dict__.get("known")
        self.__dict__["known"] = known
        super().acknowledge_receive(replace(message, AdministrationQueueFormatName=known), reason, now)


@fault("receiver-nack-to-direct-name-sent-to-address-of-sender", breaks="MQQB-3.1.7.15-15", blind=True)
class ReceiverNackToDirectNameSentToAddressOfSender(AdminAcks):
    """The receiver replaces the address in the direct format name of the administration queue of a refused message with
    the address of the sender.
    """

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        name = message.AdministrationQueueFormatName or ""
        for session in self.qm.sessions.values():
            if session.RemoteQMGuid == message.Identifier.QueueManagerGuid and name.upper().startswith("DIRECT=TCP:"):
                name = f"DIRECT=TCP:{session.RemoteQMAddress}{name[name.index(chr(92)) :]}"
                message = replace(message, AdministrationQueueFormatName=name)
                break
        super().acknowledge_failure(message, message_class, now)


@fault("receiver-ack-to-second-direct-name-sent-to-first-direct-name", breaks="MQQB-3.1.7.15-15", blind=True)
class ReceiverAckToSecondDirectNameSentToFirstDirectName(AdminAcks):
    """The receiver addresses the acknowledgment of a packet with AQ 7 to the first direct format name that the sender
    used.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        name = message.AdministrationQueueFormatName or ""
        if name.upper().startswith("DIRECT="):
            source = message.Identifier.QueueManagerGuid
            name = self.__dict__.setdefault("names", {}).setdefault(source, name)
            message = replace(message, AdministrationQueueFormatName=name)
        super().send(message, message_class, now)
