"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable

from reference_qm.codec import TransactionHeader, UserMessagePacket

LARGE_BODY = 4096


def is_large(packet: UserMessagePacket) -> bool:
    """Return whether the body of a message is longer than 4096 bytes."""
    return len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY


def change_id(flags: int, change: Callable[[int], int]) -> int:
    """Return TransactionHeader.Flags with a changed ID."""
    return flags & ~0x00FF_FFF0 | (change(flags >> 4 & 0xFFFFF) & 0xFFFFF) << 4


FM = TransactionHeader.flags(FM=1)


LM = TransactionHeader.flags(LM=1)
