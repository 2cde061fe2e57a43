"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: the place of a message in its sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.codec import SequenceInfo, TxSequenceID, UserMessagePacket
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

# -- its number ----------------------------------------------------------------------------------------------------


@fault("update-numbered-again", breaks="MQQB-3.1.7.1.3-01")
class NumberedAgain(SessionInitialization):
    """Each session numbers its messages anew."""

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


@fault("update-sequence-of-its-own", breaks="MQQB-3.1.7.1.3-02")
class SequenceOfItsOwn(TransactionalSending):
    """Each message has a TxSequenceID of its own."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        message = super().number_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        other = TxSequenceID(identifier.Ordinal + message.TransactionSequenceNumber - 1, identifier.TimeStamp)
        return replace(message, TransactionalMessageSequenceIdentifier=other)


@fault("update-from-two", breaks="MQQB-3.1.7.1.3-04")
class NumbersFromTwo(TransactionalSending):
    """Numbers begin with 2."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        message = super().number_in_sequence(session, message)
        return replace(message, TransactionSequenceNumber=message.TransactionSequenceNumber + 1)


@fault("update-in-twos", breaks="MQQB-3.1.7.1.3-08")
class NumbersInTwos(TransactionalSending):
    """Every other number is left out."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        message = super().number_in_sequence(session, message)
        session.OutgoingTxSequenceNumber += 1
        return message


@fault("update-position-without-number", breaks="MQQB-3.1.7.1.3-05")
class PositionWithoutNumber(Sending):
    """The position of a message has TxSequenceNumber 0."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        position.TxSequenceNumber = 0


# -- the number before it ------------------------------------------------------------------------------------------


def _previous(number: Callable[[OutgoingMessagePosition], int]) -> Install:
    """Send another PreviousTxSequenceNumber."""

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
    "update-previous-itself",
    "MQQB-3.1.7.1.3-03",
    "A message names itself as the one before.",
    _previous(lambda position: position.TxSequenceNumber),
)
add(
    "update-previous-of-first-sending",
    "MQQB-3.1.7.1.3-10",
    "A message that is sent again names the one that was before it at first.",
    _previous(lambda position: position.TxSequenceNumber - 1),
)

# -- what is noted -------------------------------------------------------------------------------------------------


def _noted(change: Callable[[list[SequenceInfo]], None]) -> Install:
    """Spoil UnackedSequence when a message was sent."""

    class Noted(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            change(outgoing_sequence(session).UnackedSequence)
            return packet

    return replace_part(Noted)


def _forget_previous(unacked: list[SequenceInfo]) -> None:
    unacked[-1] = replace(unacked[-1], PrevNo=0)


add(
    "update-sent-not-noted",
    "MQQB-3.1.7.1.3-06",
    "A message that was sent is not in UnackedSequence.",
    _noted(lambda unacked: unacked.clear()),
)
add(
    "update-noted-without-previous",
    "MQQB-3.1.7.1.3-07",
    "PrevNo is 0 in every SEQUENCE_INFO.",
    _noted(_forget_previous),
)
add(
    "resend-timer-not-started",
    "MQQB-3.1.7.1.3-09",
    "The Transactional Ack Wait Timer is not started.",
    skip(TransactionalSending.start_ack_wait_timer),
)
