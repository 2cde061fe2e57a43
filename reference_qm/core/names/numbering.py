from __future__ import annotations

from reference_qm.core.part import Part

TRANSACTION_BITS = 0xFFFFF


class Numbering(Part):
    """Assigns numbers to messages and transactions. Spec: MS-MQQB 3.1.1.3, 3.1.7.1.1, MS-MQMQ 2.2.20.5."""

    __slots__ = ()

    def assign_identifier(self) -> int:
        """Assign the next message's ordinal and return it. Spec: MS-MQQB 3.1.7.1.1, 3.1.1.3 (MessageIdOrdinal).

        The ordinal is incremented before use and is never 0, because 0 means a message without an identifier. A first
        message with ordinal 0 would get a new identifier when it is sent again, and would pass duplicate detection.
        """
        self.qm.adm.MessageIdOrdinal = self.next_identifier()
        return self.qm.adm.MessageIdOrdinal

    def next_identifier(self) -> int:
        """Return the ordinal that the next message will get."""
        return self.qm.adm.MessageIdOrdinal + 1 & 0xFFFFFFFF or 1

    def assign_transaction(self) -> int:
        """Assign the next transaction's identifier, 20 bits, never 0. Spec: MS-MQMQ 2.2.20.5 (Flags.ID)."""
        self.qm.adm.last_transaction = self.qm.adm.last_transaction + 1 & TRANSACTION_BITS or 1
        return self.qm.adm.last_transaction
