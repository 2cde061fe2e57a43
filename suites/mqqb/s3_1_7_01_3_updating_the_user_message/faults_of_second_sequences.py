"""Faults in the sequence entries and numbers of later sequences, later sessions and second queues. Spec: MS-MQQB
3.1.7.1.3.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-message-of-second-queue-not-added-to-unacked-sequence", breaks="MQQB-3.1.7.1.3-06", blind=True)
class SenderMessageOfSecondQueueNotAddedToUnackedSequence(TransactionalSending):
    """The sender does not add a transactional message to UnackedSequence while messages to another destination await
    their OrderAck.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        sequence = session.TxOutgoingSequence
        before = [] if sequence is None else list(sequence.UnackedSequence)
        packet = super().update_transaction_header(session, position, now)
        others = (queue.session for queue in self.qm.adm.OutgoingQueues.values() if queue.session is not session)
        if sequence is not None and any(
            one.TxOutgoingSequence is not None and one.TxOutgoingSequence.UnackedSequence for one in others
        ):
            sequence.UnackedSequence[:] = before
        return packet


@fault("sender-message-after-order-ack-not-added-to-unacked-sequence", breaks="MQQB-3.1.7.1.3-06", blind=True)
class SenderMessageAfterOrderAckNotAddedToUnackedSequence(TransactionalSending):
    """The sender does not add a transactional message to UnackedSequence when an OrderAck has already arrived on the
    session.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        sequence = session.TxOutgoingSequence
        before = [] if sequence is None else list(sequence.UnackedSequence)
        packet = super().update_transaction_header(session, position, now)
        if sequence is not None and sequence.LastAckCount:
            sequence.UnackedSequence[:] = before
        return packet


@fault("sender-seq-id-of-later-sequence-info-is-that-of-first-sequence", breaks="MQQB-3.1.7.1.3-07", blind=True)
class SenderSeqIdOfLaterSequenceInfoIsThatOfFirstSequence(TransactionalSending):
    """The sender sets SeqID of the SEQUENCE_INFO of a message of a later sequence to the identifier of the first
    sequence to the destination.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        sequence = session.TxOutgoingSequence
        if sequence is not None and sequence.UnackedSequence:
            first = int(replace(session.OutgoingTxSequenceID, Ordinal=1))
            sequence.UnackedSequence[-1] = replace(sequence.UnackedSequence[-1], SeqID=first)
        return packet


@fault("sender-prev-no-of-sequence-info-is-0-on-later-session", breaks="MQQB-3.1.7.1.3-07", blind=True)
class SenderPrevNoOfSequenceInfoIs0OnLaterSession(TransactionalSending):
    """The sender sets PrevNo of the SEQUENCE_INFO of a new message to 0 when the session to the destination is not
    the first.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        sequence = session.TxOutgoingSequence
        first = self.__dict__.setdefault("first_connections", {}).setdefault(session.number, session.transport)
        if sequence is not None and sequence.UnackedSequence and first != session.transport:
            sequence.UnackedSequence[-1] = replace(sequence.UnackedSequence[-1], PrevNo=0)
        return packet


@fault("sender-sequence-number-of-message-sent-again-unchanged", breaks="MQQB-3.1.7.1.3-12", blind=True)
class SenderSequenceNumberOfMessageSentAgainUnchanged(MessageSending):
    """When the sender sends a transactional message again on the same session, it leaves SequenceNumber of the message
    unchanged.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        earlier = position.SequenceNumber if position.Transmitted else 0
        packet = super().update_user_message(session, position, now)
        if earlier:
            position.SequenceNumber = earlier
        return packet


@fault("sender-sequence-number-on-later-session-unchanged", breaks="MQQB-3.1.7.1.3-12", blind=True)
class SenderSequenceNumberOnLaterSessionUnchanged(MessageSending):
    """When the sender sends a message again on a later session, it leaves SequenceNumber of the message unchanged."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        earlier = 0 if position.Transmitted else position.SequenceNumber
        packet = super().update_user_message(session, position, now)
        if earlier:
            position.SequenceNumber = earlier
        return packet


@fault("sender-seq-id-of-sequence-info-is-0-for-resumed-messages", breaks="MQQB-3.1.7.1.3-07", blind=True)
class SenderSeqIdOfSequenceInfoIs0ForResumedMessages(SessionInitialization):
    """On a later session, the sender sets SeqID of the SEQUENCE_INFO of each waiting message to 0."""

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        super().initialize_transfer_sequence(session, now)
        assert session.TxOutgoingSequence is not None
        unacked = session.TxOutgoingSequence.UnackedSequence
        unacked[:] = [replace(one, SeqID=0) for one in unacked]
