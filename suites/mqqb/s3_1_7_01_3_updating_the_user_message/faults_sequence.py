"""Faults that break rules of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet about the sequence position of a
message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.codec import SequenceInfo, TxSequenceID, UserMessagePacket
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

# -- TxSequenceNumber ------------------------------------------------------------------------------------------------


@fault("sender-transactional-messages-renumbered-on-new-session", breaks="MQQB-3.1.7.1.3-01")
class SenderTransactionalMessagesRenumberedOnNewSession(SessionInitialization):
    """The sender assigns new numbers to its transactional messages on each session."""

    def initialize_session(self, session: Session, now: Now) -> None:
        super().initialize_session(session, now)
        for position in session.OutgoingMessageTable:
            header = position.UserMessage.TransactionHeader
            if header is not None:
                number = session.OutgoingTxSequenceNumber
                session.OutgoingTxSequenceNumber += 1
                position.TxSequenceNumber = number
                header = replace(header, TxSequenceNumber=number)
                position.UserMessage = replace(position.UserMessage, TransactionHeader=header)


@fault("sender-tx-sequence-id-differs-in-one-sequence", breaks="MQQB-3.1.7.1.3-02")
class SenderTxSequenceIdDiffersInOneSequence(TransactionalSending):
    """The sender assigns a different TxSequenceID to each transactional message."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        message = super().number_message_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        other = TxSequenceID(identifier.Ordinal + message.TransactionSequenceNumber - 1, identifier.TimeStamp)
        return replace(message, TransactionalMessageSequenceIdentifier=other)


@fault("sender-tx-sequence-number-starts-at-2", breaks="MQQB-3.1.7.1.3-04")
class SenderTxSequenceNumberStartsAt2(TransactionalSending):
    """The sender starts TxSequenceNumber at 2."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        message = super().number_message_in_sequence(session, message)
        return replace(message, TransactionSequenceNumber=message.TransactionSequenceNumber + 1)


@fault("sender-tx-sequence-number-grows-by-2", breaks="MQQB-3.1.7.1.3-08")
class SenderTxSequenceNumberGrowsBy2(TransactionalSending):
    """The sender increments OutgoingTxSequenceNumber by two for each transactional message."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        message = super().number_message_in_sequence(session, message)
        session.OutgoingTxSequenceNumber += 1
        return message


@fault("sender-tx-sequence-number-of-outgoing-entry-stays-0-after-sending", breaks="MQQB-3.1.7.1.3-05")
class SenderTxSequenceNumberOfOutgoingEntryStays0AfterSending(MessageSending):
    """The sender leaves TxSequenceNumber of a sent OutgoingMessagePosition at 0."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        position.TxSequenceNumber = 0


# -- PreviousTxSequenceNumber ----------------------------------------------------------------------------------------


def _change_previous_tx_sequence_number(number: Callable[[OutgoingMessagePosition], int]) -> Install:
    """Make the sender change PreviousTxSequenceNumber of each message."""

    class Previous(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            header = packet.TransactionHeader
            if header is None:
                return packet
            return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=number(position)))

    return replace_part(Previous)


add(
    "sender-previous-number-is-own-number",
    "MQQB-3.1.7.1.3-03",
    "The sender sets PreviousTxSequenceNumber of a message to the message's own number.",
    _change_previous_tx_sequence_number(lambda position: position.TxSequenceNumber),
)
add(
    "sender-previous-number-unchanged-at-resend",
    "MQQB-3.1.7.1.3-10",
    "The sender does not update PreviousTxSequenceNumber of a resent message.",
    _change_previous_tx_sequence_number(lambda position: position.TxSequenceNumber - 1),
)

# -- records about sent messages -------------------------------------------------------------------------------------


def _change_unacked_sequence(change: Callable[[list[SequenceInfo]], None]) -> Install:
    """Make the sender change UnackedSequence when it has sent a message."""

    class ChangedUnackedSequence(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            change(get_outgoing_sequence(session).UnackedSequence)
            return packet

    return replace_part(ChangedUnackedSequence)


def _clear_previous_number_of_sequence_info(unacked: list[SequenceInfo]) -> None:
    unacked[-1] = replace(unacked[-1], PrevNo=0)


add(
    "sender-transfer-info-unacked-sequence-empty",
    "MQQB-3.1.7.1.3-06",
    "The sender does not add sent messages to UnackedSequence.",
    _change_unacked_sequence(lambda unacked: unacked.clear()),
)
add(
    "sender-sequence-info-prev-no-0",
    "MQQB-3.1.7.1.3-07",
    "The sender sets PrevNo of every SEQUENCE_INFO to 0.",
    _change_unacked_sequence(_clear_previous_number_of_sequence_info),
)
add(
    "sender-resend-timer-not-started",
    "MQQB-3.1.7.1.3-09",
    "The sender does not start the Transactional Ack Wait Timer when it sends a transactional message.",
    omit_step(TransactionalSending.start_ack_wait_timer),
)
