"""Faults of MS-MQQB 3.1.1.5 Transactional Message Sequence that occur only in the third sequence or in forwarded
messages.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import TransactionHeader, UserMessagePacket
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-third-sequence-with-ordinal-of-second", breaks="MQQB-3.1.1.5-03")
class SenderThirdSequenceWithOrdinalOfSecond(TransactionalSending):
    """The sender begins the third sequence with the Ordinal of the second sequence."""

    def begin_sequence(self, session: Session) -> None:
        super().begin_sequence(session)
        if session.OutgoingTxSequenceID.Ordinal > 2:
            session.OutgoingTxSequenceID = replace(session.OutgoingTxSequenceID, Ordinal=2)


@fault("router-last-message-flag-cleared", breaks="MQQB-3.1.1.5-07")
class RouterLastMessageFlagCleared(Routing):
    """The router clears LM of the TransactionHeader of a forwarded message."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            flags = header.Flags & ~TransactionHeader.flags(LM=1)
            packet = replace(packet, TransactionHeader=replace(header, Flags=flags))
        super().forward_message(position, packet, now)
