"""Faults of MS-MQMQ 2.2.18 that affect only one kind of message or one value."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import wrong_fields
from harness.faults.registry import add
from reference_qm.codec import DirectQueueFormatName, MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_admin_ack

MESSAGE, PROPERTIES = UserMessagePacket, "MessagePropertiesHeader"


for _name, _rule, _says, _install in (
    (
        "admin-ack-correlation-id-number-reversed",
        "MQMQ-2.2.18-D01",
        "A queue manager sends an administration acknowledgment with a big-endian number in CorrelationID.",
        wrong_fields(MESSAGE, {f"{PROPERTIES}.CorrelationID": lambda old: old[:16] + old[:15:-1]}, is_admin_ack),
    ),
    (
        "response-queue-direct-name-of-odd-length-extended",
        "MQMQ-2.2.18.1.5.2-D02",
        "The sender appends a character to a direct name with an odd number of characters in ResponseQueue.",
        wrong_fields(
            MESSAGE,
            {"UserHeader.ResponseQueue": lambda old: DirectQueueFormatName(old.DirectFormatName + "x")},
            lambda p: (
                isinstance(p.UserHeader.ResponseQueue, DirectQueueFormatName)
                and len(p.UserHeader.ResponseQueue.DirectFormatName) % 2 == 1
            ),
        ),
    ),
):
    add(f"narrow-{_name}", _rule, _says, _install, blind=True)


@fault("narrow-receive-of-express-message-acknowledged-as-arrival", breaks="MQMQ-2.2.18.1.6-D01", blind=True)
class NarrowReceiveOfExpressMessageAcknowledgedAsArrival(AdminAcks):
    """The receiver acknowledges the receive of an express message with the class ACK_REACH_QUEUE."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is MessageClass.MQMSG_CLASS_ACK_RECEIVE and message.DeliveryGuarantee.name == "EXPRESS":
            message_class = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        super().send(message, message_class, now)
