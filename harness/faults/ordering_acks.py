"""Faults that send wrong OrderAcks and FinalAcks. MS-MQQB 2.2.4 and 2.2.5 specify both acknowledgments in the same
way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.faults.fields import clear_bits, set_bits, set_field_value
from harness.faults.parts import replace_part
from harness.faults.primitives import send_wrong_field_values, set_fields
from harness.faults.registry import Install
from harness.faults.session_packets import SessionCondition
from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.transfer.order_acks import is_final_ack, is_order_ack
from reference_qm.model.adm import Session

MessageCondition = Callable[[UserMessagePacket], bool]
PROPERTIES_HEADER_NAME = "MessagePropertiesHeader"
MESSAGE_BODY_FIELD_PATH = f"{PROPERTIES_HEADER_NAME}.MessageBody"
PRIVATE_QUEUE_NUMBER_PATH = "UserHeader.DestinationQueue.PrivateQueueIdentifier"
DIRECT_NAME_PATH = "UserHeader.DestinationQueue.DirectFormatName"
PRIVATE_NAME_QUEUE_TYPE, DIRECT_NAME_QUEUE_TYPE = 3, 7
"""The values of the field DQ for a private queue that is identified by its number, and for a direct name."""
FOREIGN_ADDRESS = "TCP:127.0.0.77"
VT_UI1 = 17


def _match_destination(kind: int, meant: MessageCondition) -> MessageCondition:
    return lambda packet: kind == packet.UserHeader.DQ and meant(packet)


def _replace_address(name: str) -> str:
    return FOREIGN_ADDRESS + name[name.index("\\") :]


def _put_sequence_numbers_first(body: bytes) -> bytes:
    """Put TxSequenceID after the sequence numbers."""
    return body[8:16] + body[:8] + body[16:]


def _increment_number(at: int) -> Callable[[bytes], bytes]:
    """Return a function that increments the u32 at an offset of the body."""

    def increment_in_body(body: bytes) -> bytes:
        value = int.from_bytes(body[at : at + 4], "little") + 1 & 0xFFFFFFFF
        return body[:at] + value.to_bytes(4, "little") + body[at + 4 :]

    return increment_in_body


WRONG_HEADER_FAULTS: Mapping[str, Callable[[MessageCondition], Install]] = {
    "has priority 3": lambda meant: set_field_value(UserMessagePacket, "BaseHeader.PR", 3, meant),
    "has MP clear": lambda meant: clear_bits(UserMessagePacket, "UserHeader.MP", meant),
    "has JN set": lambda meant: set_bits(UserMessagePacket, "UserHeader.JN", meant),
    "has private queue 5 as destination": lambda meant: send_wrong_field_values(
        UserMessagePacket, {PRIVATE_QUEUE_NUMBER_PATH: 5}, _match_destination(PRIVATE_NAME_QUEUE_TYPE, meant)
    ),
    "has a computer name instead of an address in its destination": lambda meant: send_wrong_field_values(
        UserMessagePacket,
        {DIRECT_NAME_PATH: lambda old: old.replace("TCP:", "OS:")},
        _match_destination(DIRECT_NAME_QUEUE_TYPE, meant),
    ),
    "has a wrong address in its destination": lambda meant: send_wrong_field_values(
        UserMessagePacket, {DIRECT_NAME_PATH: _replace_address}, _match_destination(DIRECT_NAME_QUEUE_TYPE, meant)
    ),
    "has a wrong label": lambda meant: send_wrong_field_values(
        UserMessagePacket, {f"{PROPERTIES_HEADER_NAME}.Label": "QM Order"}, meant
    ),
    "has a body of 40 bytes": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: lambda old: old + bytes(4)}, meant
    ),
    "requests an acknowledgment": lambda meant: set_bits(UserMessagePacket, f"{PROPERTIES_HEADER_NAME}.PA", meant),
    "has BodyType VT_UI1": lambda meant: set_field_value(
        UserMessagePacket, f"{PROPERTIES_HEADER_NAME}.BodyType", VT_UI1, meant
    ),
    "has its sequence numbers before TxSequenceID": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: _put_sequence_numbers_first}, meant
    ),
    "has a TxSequenceID that is one too high": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: _increment_number(0)}, meant
    ),
    "has a TxSequenceNumber that is one too high": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: _increment_number(8)}, meant
    ),
    "has no reserved bytes": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: lambda old: old[:16]}, meant
    ),
    "has MessageID before SourceGUID": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: lambda old: old[:16] + old[32:] + old[16:32]}, meant
    ),
    "has a TxSequenceNumber without its highest bit": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: lambda old: old[:11] + bytes([old[11] & 0x7F]) + old[12:]}, meant
    ),
    "has a TxSequenceNumber of 0": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: lambda old: old[:8] + bytes(4) + old[12:]}, meant
    ),
    "has a TxPreviousSequenceNumber that is one too high": lambda meant: send_wrong_field_values(
        UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: _increment_number(12)}, meant
    ),
}
"""The functions that create a fault, by the wrong property of the acknowledgment. The argument
of each function is a condition that selects the packets.
"""


def change_order_ack(changes: Mapping[str, Any], when: SessionCondition) -> Install:
    """Return an installer of a fault that changes fields of those OrderAcks for which a condition is true."""
    return _change_acknowledgment(is_order_ack, changes, when)


def change_final_ack(changes: Mapping[str, Any], when: SessionCondition) -> Install:
    """Return an installer of a fault that changes fields of those FinalAcks for which a condition is true."""
    return _change_acknowledgment(is_final_ack, changes, when)


def _change_acknowledgment(meant: MessageCondition, changes: Mapping[str, Any], when: SessionCondition) -> Install:
    class AcknowledgmentChanged(SessionConnecting):
        def send(self, session: Session, packet: bytes) -> None:
            parsed = parse_packet(packet)
            if isinstance(parsed, UserMessagePacket) and meant(parsed) and when(self.qm, session, parsed):
                packet = set_fields(parsed, {"BaseHeader.PacketSize": 0, **changes}).build()
            super().send(session, packet)

    return replace_part(AcknowledgmentChanged)


def is_later_message(qm: QueueManager, session: Session, packet: object) -> bool:
    """Return whether the message that is being handled is not the first message of its session."""
    return session.MessageSentCount > 1


def is_sent_to_private_queue(qm: QueueManager, session: Session, packet: Any) -> bool:
    """Return whether the destination of an acknowledgment is a private queue that is identified by its number."""
    return bool(packet.UserHeader.DQ == PRIVATE_NAME_QUEUE_TYPE)


def is_sent_to_direct_name(qm: QueueManager, session: Session, packet: Any) -> bool:
    """Return whether the destination of an acknowledgment is a direct format name."""
    return bool(packet.UserHeader.DQ == DIRECT_NAME_QUEUE_TYPE)
