"""Helper functions for faults in messages. They select packets, correct PacketSize, and change the construction of
messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import override_method, replace_part
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition


def has_header(header: str) -> Callable[[UserMessagePacket], bool]:
    """Return a condition that selects messages with a given header, such as ``TransactionHeader``."""
    return lambda packet: getattr(packet, header) is not None


def has_security_item(item: str) -> Callable[[UserMessagePacket], bool]:
    """Return a condition that selects messages with a given item of SecurityData, such as ``Signature``."""

    def has_item(packet: Any) -> bool:
        return packet.SecurityHeader is not None and bool(getattr(packet.SecurityHeader.SecurityData, item))

    return has_item


def correct_packet_size(data: bytes) -> bytes:
    """Return a packet with PacketSize set to the actual size of the packet."""
    return set_packet_size(data, len(data))


def set_packet_size(data: bytes, size: int) -> bytes:
    """Return a packet with PacketSize set to a given number."""
    return data[:8] + size.to_bytes(4, "little") + data[12:]


def add_to_packet_size(by: int) -> Callable[[bytes], bytes]:
    """Return a function that adds a number to PacketSize."""
    return lambda data: set_packet_size(data, int.from_bytes(data[8:12], "little") + by)


def reverse_number_bytes(at: int, size: int) -> Callable[[UserMessagePacket], bytes]:
    """Return a function that reverses the bytes of an integer in a message."""

    def turn_bytes(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        return data[:at] + data[at : at + size][::-1] + data[at + size :]

    return turn_bytes


def change_constructed_packet(change: Callable[[UserMessagePacket, Message], UserMessagePacket]) -> Install:
    """Return an installer of a fault that changes each packet after its construction from a message. ``change`` is
    called with the packet and the message.
    """

    def make_changed_construction(original: Any) -> Any:
        def construct_changed_packet(qm: QM, position: MessagePosition) -> UserMessagePacket:
            return change(original(qm, position), position.MessageReference)

        return construct_changed_packet

    return replace_part(override_method(MessageSending.construct_user_message, make_changed_construction))


def change_inserted_message(change: Callable[[Message], Message]) -> Install:
    """Return an installer of a fault that changes each message inserted into a queue."""

    def make_changed_insertion(original: Any) -> Any:
        return lambda qm, queue, message: original(qm, queue, change(message))

    return replace_part(override_method(MessagePositions.insert_message, make_changed_insertion))
