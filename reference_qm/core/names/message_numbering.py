from __future__ import annotations

from reference_qm.core.part import QueueManagerPart

TRANSACTION_IDENTIFIER_MASK = 0xFFFFF


class MessageNumbering(QueueManagerPart):
    """Numbers messages and transactions. Spec: MS-MQQB 3.1.1.3, 3.1.7.1.1, MS-MQMQ 2.2.20.5."""

    __slots__ = ()

    def assign_message_ordinal(self) -> int:
        """Assign and return the ordinal of the next message. Spec: MS-MQQB 3.1.7.1.1, 3.1.1.3 (MessageIdOrdinal).

        The ordinal is incremented before it is used. It is never 0, because 0 means that a message has no identifier
        yet. A message with the ordinal 0 would get a new identifier whenever it is sent again, so the receiver would
        not detect the duplicate.
        """
        self.qm.adm.MessageIdOrdinal = self.predict_next_message_ordinal()
        return self.qm.adm.MessageIdOrdinal

    def predict_next_message_ordinal(self) -> int:
        """Return the ordinal that the next message will get, without assigning it."""
        return self.qm.adm.MessageIdOrdinal + 1 & 0xFFFFFFFF or 1

    def assign_transaction_identifier(self) -> int:
        """Assign and return the identifier of the next transaction: 20 bits, never 0. Spec: MS-MQMQ 2.2.20.5
        (Flags.ID).
        """
        self.qm.adm.last_transaction_number = self.qm.adm.last_transaction_number + 1 & TRANSACTION_IDENTIFIER_MASK or 1
        return self.qm.adm.last_transaction_number
