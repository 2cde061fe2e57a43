"""Faults that break rules of MS-MQQB 3.1.1.5 for a later message or sequence, or at a forwarding queue manager."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import Message, OutgoingMessagePosition, OutgoingTransferSequence, Session
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_1_6_2_transactional_acknowledgment.faults_of_later_messages import (
    acknowledge_arrival_of_forwarded_message,
    acknowledge_forwarded_messages,
    send_final_ack_of_forwarded_message,
)


@fault("sender-resent-message-twice-in-unacked-sequence", breaks="MQQB-3.1.1.5-02", blind=True)
class SenderResentMessageTwiceInUnackedSequence(TransactionalSending):
    """The sender adds the SEQUENCE_INFO of a resent message to UnackedSequence again."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        unacked = get_outgoing_sequence(session).UnackedSequence
        known = [one for one in unacked if one.SeqNo == position.TxSequenceNumber]
        packet = super().update_transaction_header(session, position, now)
        unacked.extend(known[:1])
        return packet


@fault("sender-second-sequence-not-in-unacked-sequence", breaks="MQQB-3.1.1.5-02", blind=True)
class SenderSecondSequenceNotInUnackedSequence(TransactionalSending):
    """The sender does not add the messages of its second sequence to a destination to UnackedSequence."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        if session.OutgoingTxSequenceID.Ordinal > 1:
            get_outgoing_sequence(session).UnackedSequence.clear()
        return packet


@fault("sender-third-message-not-in-unacked-sequence", breaks="MQQB-3.1.1.5-02", blind=True)
class SenderThirdMessageNotInUnackedSequence(TransactionalSending):
    """The sender does not add a message to UnackedSequence while two earlier messages are unacknowledged."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        del get_outgoing_sequence(session).UnackedSequence[2:]
        return packet


for _name, _rule, _says, _acknowledge in (
    (
        "router-final-ack-sent",
        "MQQB-3.1.1.5-06",
        "A queue manager between source and destination sends a FinalAck for a message that it forwards.",
        send_final_ack_of_forwarded_message,
    ),
    (
        "router-arrival-of-transactional-message-acknowledged",
        "MQQB-3.1.1.5-06",
        "A queue manager between source and destination acknowledges the arrival of a message that it forwards.",
        acknowledge_arrival_of_forwarded_message,
    ),
):
    add(_name, _rule, _says, acknowledge_forwarded_messages(_acknowledge), blind=True)


@fault("sender-unacked-sequence-later-messages-of-transaction-missing", breaks="MQQB-3.1.1.5-02", blind=True)
class SenderUnackedSequenceLaterMessagesOfTransactionMissing(TransactionalSending):
    """The sender adds only the first message of each transaction to UnackedSequence."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        unacked = get_outgoing_sequence(session).UnackedSequence
        known = {entry.SeqNo for entry in unacked}
        updated = super().update_transaction_header(session, position, now)
        header = updated.TransactionHeader
        if header is not None and not header.FM and unacked and unacked[-1].SeqNo not in known:
            unacked.pop()
        return updated


@fault("sender-new-sequence-has-identifier-of-previous-after-reconnect", breaks="MQQB-3.1.1.5-04", blind=True)
class SenderNewSequenceHasIdentifierOfPreviousAfterReconnect(TransactionalSending):
    """When the sender begins a new sequence after a lost session, its messages contain the TxSequenceID of the previous
    sequence.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.begun: dict[int, OutgoingTransferSequence | None] = {}

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        if numbered.TransactionSequenceNumber == 1:
            self.begun[session.number] = session.TxOutgoingSequence
        begun = self.begun.get(session.number)
        if begun is None or begun is session.TxOutgoingSequence:
            return numbered
        identifier = session.OutgoingTxSequenceID
        before = TxSequenceID(max(identifier.Ordinal - 1, 1), identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=before)
