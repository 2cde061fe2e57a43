"""Faults of MS-MQQB 3.1.1.5 Transactional Message Sequence, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID, SequenceInfo, UserMessagePacket
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import Message, OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("sender-third-message-of-new-sequence-in-old-sequence", breaks="MQQB-3.1.1.5-04", blind=True)
class SenderThirdMessageOfNewSequenceInOldSequence(TransactionalSending):
    """The sender gives the third message of a second sequence the Ordinal of the first sequence."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        identifier = numbered.TransactionalMessageSequenceIdentifier
        if identifier.Ordinal > 1 and numbered.TransactionSequenceNumber == 3:
            old = replace(identifier, Ordinal=identifier.Ordinal - 1)
            return replace(numbered, TransactionalMessageSequenceIdentifier=old)
        return numbered


@fault("router-transaction-header-with-flags-cleared", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterTransactionHeaderWithFlagsCleared(Routing):
    """A router clears the flags FM and LM of the TransactionHeader of a message that it forwards."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            packet = replace(packet, TransactionHeader=replace(header, Flags=header.Flags & ~0xC))
        super().route_message(session, packet, receipt, now)


@fault("router-previous-number-of-forwarded-message-one-less", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterPreviousNumberOfForwardedMessageOneLess(Routing):
    """A router sets PreviousTxSequenceNumber of a message that it forwards to TxSequenceNumber minus one."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            previous = header.TxSequenceNumber - 1
            packet = replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=previous))
        super().route_message(session, packet, receipt, now)


@fault("sender-sequence-info-of-later-sequence-with-ordinal-1", breaks="MQQB-3.1.1.5-D01", blind=True)
class SenderSequenceInfoOfLaterSequenceWithOrdinal1(TransactionalSending):
    """The sender puts a SeqID with Ordinal 1 into the SEQUENCE_INFO of each message of a sequence whose Ordinal is
    above 1.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        unacked = outgoing_sequence(session).UnackedSequence
        if unacked and unacked[-1].SeqID & 0xFFFFFFFF > 1:
            last = unacked[-1]
            unacked[-1] = SequenceInfo(last.SeqID & ~0xFFFFFFFF | 1, last.SeqNo, last.PrevNo)
        return packet


@fault("router-connector-guid-cleared", breaks="MQQB-3.1.1.5-07", blind=True)
class RouterConnectorGuidCleared(Routing):
    """A router sets ConnectorQMGuid to zero in a message that it forwards."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None and header.ConnectorQMGuid is not None:
            header = replace(header, ConnectorQMGuid=NULL_GUID)
            packet = replace(packet, TransactionHeader=header)
        super().route_message(session, packet, receipt, now)
