"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable

from reference_qm.codec import TransactionHeader


def change_transaction_id_in_flags(flags: int, change: Callable[[int], int]) -> int:
    """Return TransactionHeader.Flags with a changed ID."""
    return flags & ~0x00FF_FFF0 | (change(flags >> 4 & 0xFFFFF) & 0xFFFFF) << 4


FIRST_IN_TRANSACTION_FLAG = TransactionHeader.flags(FM=1)


LAST_IN_TRANSACTION_FLAG = TransactionHeader.flags(LM=1)
