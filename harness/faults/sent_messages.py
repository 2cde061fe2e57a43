"""Helpers of faults of the packets that are sent: which messages are meant, the BaseHeader as it then is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_qm.codec import UserMessagePacket


def carries(header: str) -> Callable[[UserMessagePacket], bool]:
    """Choose messages that have a header: ``TransactionHeader``."""
    return lambda packet: getattr(packet, header) is not None


def secured_with(item: str) -> Callable[[UserMessagePacket], bool]:
    """Choose messages that have an item of SecurityData: ``Signature``."""

    def chosen(packet: Any) -> bool:
        return packet.SecurityHeader is not None and bool(getattr(packet.SecurityHeader.SecurityData, item))

    return chosen


def resized(data: bytes) -> bytes:
    """Let PacketSize be the bytes that there are."""
    return with_size(data, len(data))


def with_size(data: bytes, size: int) -> bytes:
    """Let PacketSize be a number."""
    return data[:8] + size.to_bytes(4, "little") + data[12:]


def size_off_by(by: int) -> Callable[[bytes], bytes]:
    """Let PacketSize be some more, or less, than it should be."""
    return lambda data: with_size(data, int.from_bytes(data[8:12], "little") + by)
