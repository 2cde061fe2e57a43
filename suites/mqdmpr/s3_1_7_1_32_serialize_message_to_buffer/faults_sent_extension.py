"""Faults that break the rules about the extension and the CorrelationID of messages that the queue manager itself sends
(MS-MQMQ 2.2.19.3, MS-MQDMPR 3.1.1.12, 3.1.7.1.32).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage

EXTENSION_DATA_FIELD, CORRELATION_ID_FIELD = (
    "MessagePropertiesHeader.ExtensionData",
    "MessagePropertiesHeader.CorrelationID",
)
EXTENSION_SIZE_OFFSET = 52
SENT_EXTENSION_RULES = ("MQDMPR-3.1.7.1.32-D02", "MQDMPR-3.1.7.1.32-03")


def _truncate_extension_size_to_low_byte(packet: UserMessagePacket) -> bytes:
    """Return a message whose ExtensionSize has only its low byte."""
    data, fixed = packet.build(), packet.MessagePropertiesHeader.build()[:EXTENSION_SIZE_OFFSET]
    at = data.index(fixed) + EXTENSION_SIZE_OFFSET
    return data[: at + 1] + bytes(3) + data[at + 4 :]


def _change_sent_message(change: Callable[[Message], Message]) -> Install:
    """Build a fault that changes the messages which applications send, to local queues and to other queue managers."""

    class BuiltMessageChanger(HigherLayerCommands):
        def _build_message(self, request: SendMessage, security: Any, now: Now, *rest: Any, **named: Any) -> Message:
            return change(super()._build_message(request, security, now, *rest, **named))

    return replace_part(BuiltMessageChanger)


def _repeat_extension_of_first_message(core: FaultyCore) -> None:
    """Give a message without an extension the extension of the first message that had an extension."""
    kept: list[bytes] = []

    def copy_first_extension(message: Message) -> Message:
        if message.Extension:
            kept.append(message.Extension)
        return replace(message, Extension=message.Extension or kept[0]) if kept else message

    _change_sent_message(copy_first_extension)(core)


def _repeat_first_correlation_identifier(core: FaultyCore) -> None:
    """Give a message without a correlation identifier the first correlation identifier of an earlier message."""
    kept: list[bytes] = []

    def copy_first_correlation_identifier(message: Message) -> Message:
        if any(message.CorrelationIdentifier):
            kept.append(message.CorrelationIdentifier)
            return message
        return replace(message, CorrelationIdentifier=kept[0]) if kept else message

    _change_sent_message(copy_first_correlation_identifier)(core)


for _name, _rules, _says, _install in (
    (
        "sender-size-of-long-extension-low-byte-only",
        ("MQMQ-2.2.19.3-27", "MQDMPR-3.1.7.1.32-D02"),
        "The sender writes only the low byte of ExtensionSize.",
        change_packets_of_kind(UserMessagePacket, _truncate_extension_size_to_low_byte),
    ),
    (
        "sender-extension-of-application-cut-at-255-bytes",
        (*SENT_EXTENSION_RULES[:1], "MQMQ-2.2.19.3-27", "MQMQ-2.2.19.3-D05"),
        "The sender sends only the first 255 bytes of the extension that the application gave.",
        send_wrong_field_values(UserMessagePacket, {EXTENSION_DATA_FIELD: lambda old: old[:255]}),
    ),
    (
        "sender-extension-of-transactional-message-dropped",
        (*SENT_EXTENSION_RULES[:1], "MQMQ-2.2.19.3-27", "MQMQ-2.2.19.3-D05"),
        "The sender sends a transactional message without the extension that the application gave.",
        send_wrong_field_values(
            UserMessagePacket, {EXTENSION_DATA_FIELD: b""}, lambda packet: packet.TransactionHeader is not None
        ),
    ),
    (
        "sender-correlation-identifier-of-application-dropped",
        (*SENT_EXTENSION_RULES, "MQDMPR-3.1.7.1.32-06"),
        "The sender sets CorrelationID to 0 in a message for which the application gave a correlation identifier.",
        send_wrong_field_values(
            UserMessagePacket,
            {CORRELATION_ID_FIELD: bytes(20)},
            lambda packet: not packet.MessagePropertiesHeader.MessageClass,
        ),
    ),
    (
        "sender-correlation-number-of-two-bytes",
        (*SENT_EXTENSION_RULES, "MQDMPR-3.1.7.1.32-06"),
        "The sender sets the last two bytes of CorrelationID to 0.",
        send_wrong_field_values(UserMessagePacket, {CORRELATION_ID_FIELD: lambda old: old[:18] + bytes(2)}),
    ),
    (
        "sender-extension-of-first-message-kept",
        ("MQMQ-2.2.19.3-32", "MQMQ-2.2.19.3-27", "MQDMPR-3.1.1.12-D44", "MQDMPR-3.1.7.1.32-D02"),
        "The sender gives a message without an extension the extension of an earlier message.",
        _repeat_extension_of_first_message,
    ),
    (
        "sender-correlation-identifier-of-first-message-kept",
        ("MQDMPR-3.1.7.1.32-06", "MQDMPR-3.1.1.12-D47"),
        "The sender gives a message without a correlation identifier the correlation identifier of an earlier message.",
        _repeat_first_correlation_identifier,
    ),
):
    add(_name, _rules, _says, _install)


@fault("sender-sent-time-is-time-of-transmission", breaks="MQDMPR-3.1.7.1.32-03", blind=True)
class SenderSentTimeIsTimeOfTransmission(MessageSending):
    """If a message has waited to be sent, the sender sets UserHeader.SentTime to the time of the transmission instead
    of Message.SentTime.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if not self.is_from_this_queue_manager(packet):
            return packet
        return replace(packet, UserHeader=replace(packet.UserHeader, SentTime=now.utc_s))
