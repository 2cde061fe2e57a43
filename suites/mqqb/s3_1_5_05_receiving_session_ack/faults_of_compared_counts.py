"""Faults in the comparison of message counts. MS-MQQB 3.1.5.5 Receiving a SessionAck Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


class _AssumedMessageCountsFault(SessionAcks):
    """A base class of faults that do not compare the counts of those acknowledgments that a subclass selects."""

    def validate_with_assumed_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        """Validate an acknowledgment as if its counts were correct."""
        before = session.MessageReceivedCount, session.RecoverableMessageReceivedCount
        session.MessageReceivedCount = header.UserMsgSequenceNumber
        session.RecoverableMessageReceivedCount = header.RecoverableMsgSeqNumber
        super().validate_message_counts(session, header, now)
        session.MessageReceivedCount, session.RecoverableMessageReceivedCount = before


@fault("receiver-message-counts-on-own-session-not-compared", breaks="MQQB-3.1.5.5-07", blind=True)
class ReceiverMessageCountsOnOwnSessionNotCompared(_AssumedMessageCountsFault):
    """The receiver does not compare the counts of an acknowledgment on a session that it opened itself."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        (self.validate_with_assumed_counts if session.initiator else super().validate_message_counts)(
            session, header, now
        )


@fault("receiver-lower-message-counts-accepted", breaks="MQQB-3.1.5.5-07", blind=True)
class ReceiverLowerMessageCountsAccepted(_AssumedMessageCountsFault):
    """The receiver accepts an acknowledgment whose counts are lower than the numbers of received messages."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        lower = (
            header.UserMsgSequenceNumber <= session.MessageReceivedCount
            and header.RecoverableMsgSeqNumber <= session.RecoverableMessageReceivedCount
        )
        (self.validate_with_assumed_counts if lower else super().validate_message_counts)(session, header, now)
