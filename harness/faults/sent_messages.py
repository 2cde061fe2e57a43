"""Helpers of faults of the messages that are sent: which messages are meant, PacketSize as it then is."""

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
    return data[:8] + len(data).to_bytes(4, "little") + data[12:]
