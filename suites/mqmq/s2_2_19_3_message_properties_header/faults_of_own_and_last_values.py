"""Faults in the MessagePropertiesHeader of acknowledgments, forwarded messages and messages with the longest label
(MS-MQMQ 2.2.19.3).
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_bytes, send_wrong_field_values, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet, correct_packet_size
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message

_SHA1_ALGORITHM = 0x8004
_LONGEST_LABEL = 249


def _is_ack(packet: Any) -> bool:
    return packet.MessagePropertiesHeader.MessageClass in (
        MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE,
        MessageClass.MQMSG_CLASS_ACK_RECEIVE,
    )


add(
    "sender-longest-label-length-without-null",
    "MQMQ-2.2.19.3-11",
    "The sender does not count the terminating null in LabelLength of a label of 249 characters, and omits the null.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MessagePropertiesHeader.LabelTerminated": False, "MessagePropertiesHeader.Padding": None},
        lambda packet: len(packet.MessagePropertiesHeader.Label or "") == _LONGEST_LABEL,
    ),
    blind=True,
)


@fault("sender-default-hash-algorithm-of-encrypted-message-sha-1", breaks="MQMQ-2.2.19.3-23", blind=True)
class SenderDefaultHashAlgorithmOfEncryptedMessageSha1(MessageSecuring):
    """The sender signs a message that is also encrypted with SHA-1 when the application requested no algorithm."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        security = message.security
        if security is not None and security.PrivacyLevel and security.HashAlgorithm == 0x800E:
            packet = set_fields(packet, {"MessagePropertiesHeader.HashAlgorithm": _SHA1_ALGORITHM})
        return super().sign_packet(message, packet)


add(
    "sender-label-of-transactional-message-truncated-to-248-characters",
    "MQMQ-2.2.19.3-29",
    "The sender truncates the label of a transactional message to 248 characters.",
    change_constructed_packet(
        lambda packet, message: (
            set_fields(packet, {"MessagePropertiesHeader.Label": lambda label: label and label[: _LONGEST_LABEL - 1]})
            if packet.TransactionHeader is not None
            else packet
        )
    ),
    blind=True,
)
add(
    "receiver-acknowledgment-label-with-inner-null",
    "MQMQ-2.2.19.3-30",
    "The receiver sends an acknowledgment whose label contains a second null at its end.",
    send_wrong_field_values(
        UserMessagePacket,
        {
            "MessagePropertiesHeader.Label": lambda label: None if label is None else f"{label}\0",
            "MessagePropertiesHeader.Padding": None,
        },
        _is_ack,
    ),
    blind=True,
)
add(
    "router-label-of-forwarded-message-without-null",
    "MQMQ-2.2.19.3-30",
    "The router replaces the null at the end of the label of a forwarded message by a space.",
    send_wrong_field_values(
        UserMessagePacket,
        {
            "MessagePropertiesHeader.Label": lambda label: f"{label} ",
            "MessagePropertiesHeader.LabelTerminated": False,
        },
        lambda packet: bool(packet.UserHeader.RC) and packet.MessagePropertiesHeader.Label is not None,
    ),
    blind=True,
)
add(
    "receiver-acknowledgment-message-size-0-with-body",
    "MQMQ-2.2.19.3-33",
    "The receiver sends an acknowledgment with MessageSize 0 and 4 bytes of a body.",
    send_wrong_bytes(
        UserMessagePacket,
        lambda data: correct_packet_size(data + b"\0\0\0\1"),
        lambda packet: (
            _is_ack(packet)
            and not packet.MessagePropertiesHeader.MessageBody
            and packet.SessionHeader is None
            and packet.DebugHeader is None
        ),
    ),
    blind=True,
)
