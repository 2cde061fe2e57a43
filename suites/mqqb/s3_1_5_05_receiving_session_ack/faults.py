"""Faults of MS-MQQB 3.1.5.5 Receiving a SessionAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from harness.faults.session_states import ignore_out_of_state
from reference_qm.codec import Packet, SessionAckPacket, SessionHeader
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("early-session-ack-tolerated", breaks="MQQB-3.1.5.5-01")
class EarlySessionAckTolerated(Closing):
    """A SessionAck that comes before the session is open is ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, SessionAckPacket):
            super().refuse_out_of_state(session, packet, now)


def _one_less(header: SessionHeader) -> SessionHeader:
    return replace(header, AckSequenceNumber=header.AckSequenceNumber - 1 & 0xFFFF)


@fault("last-acknowledged-message-not-marked", breaks=("MQQB-3.1.5.5-03", "MQQB-3.1.5.5.1-01"))
class LastAcknowledgedMessageNotMarked(SessionAcks):
    """AckSequenceNumber is taken for the first number that is not acknowledged, when messages are marked."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        super().mark_acknowledged(session, _one_less(header))


@fault("last-acknowledged-express-message-kept", breaks=("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01"))
class LastAcknowledgedExpressMessageKept(SessionAcks):
    """The express message with the number AckSequenceNumber is not deleted."""

    def delete_acknowledged_express(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_express(session, _one_less(header))


@fault("recoverable-message-deleted-as-express", breaks=("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01"))
class RecoverableMessageDeletedAsExpress(SessionAcks):
    """AckSequenceNumber deletes recoverable messages too."""

    def delete_acknowledged_express(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_express(session, header)
        for position in session.OutgoingMessageTable.awaiting_ack:
            if position.SequenceNumber <= header.AckSequenceNumber:
                self.delete_position(session, position)


add(
    "acknowledged-recoverable-messages-kept",
    "MQQB-3.1.5.5-05",
    "No recoverable message is ever deleted.",
    skip(SessionAcks.delete_acknowledged_recoverable),
)
add(
    "acknowledged-messages-not-journaled",
    ("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01"),
    "Acknowledged messages that ask for positive source journaling are deleted without a trace.",
    skip(Journaling.journal_delivered),
)


@fault("message-count-not-validated", breaks=("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"))
class MessageCountNotValidated(SessionAcks):
    """UserMsgSequenceNumber may be any number."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(header, UserMsgSequenceNumber=session.MessageReceivedCount)
        super().validate_message_counts(session, right, now)


@fault("recoverable-message-count-not-validated", breaks=("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"))
class RecoverableMessageCountNotValidated(SessionAcks):
    """RecoverableMsgSeqNumber may be any number."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(header, RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount)
        super().validate_message_counts(session, right, now)


@fault("message-count-of-initiator-not-validated", breaks=("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"))
class MessageCountOfInitiatorNotValidated(SessionAcks):
    """On sessions that this queue manager opened any counts will do."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if not session.initiator:
            super().validate_message_counts(session, header, now)


@fault("journaled-before-disk", breaks=("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01"))
class JournaledBeforeDisk(SessionAcks):
    """Recoverable messages are deleted, and journaled, when AckSequenceNumber covers them."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        for position in session.OutgoingMessageTable.awaiting_ack:
            if position.recoverable and not position.TxSequenceNumber and position.ReceivedSessionAck:
                self.delete_position(session, position)


@fault("journaled-without-body", breaks=("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01"))
class JournaledWithoutBody(Journaling):
    """A message in the journal has no body."""

    def journal_delivered(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, Body=b"")
        super().journal_delivered(position)


@fault("acknowledgment-frees-one-place", breaks=("MQQB-3.1.5.5-03", "MQQB-3.1.5.5.1-03"), blind=True)
class AcknowledgmentFreesOnePlace(SessionAcks):
    """However many messages an acknowledgment covers, it makes room for one."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged(session, header)
        if session.UnAckedMessageCount < before:
            session.UnAckedMessageCount = before - 1


add(
    "session-ack-before-the-parameters-ignored",
    "MQQB-3.1.5.5-01",
    "An acceptor that waits for ConnectionParameters ignores a SessionAck.",
    ignore_out_of_state(SessionAckPacket, SessionState.WAITING_CP_MSG, initiator=False),
    blind=True,
)


add(
    "session-ack-before-the-parameters-response-ignored",
    "MQQB-3.1.5.5-01",
    "An initiator that waits for the response to its ConnectionParameters ignores a SessionAck.",
    ignore_out_of_state(SessionAckPacket, SessionState.WAITING_CPR_MSG, initiator=True),
    blind=True,
)
