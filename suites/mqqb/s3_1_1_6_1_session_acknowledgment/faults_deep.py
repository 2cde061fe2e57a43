"""Faults of MS-MQQB 3.1.1.6.1 Session Acknowledgment, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("receiver-ack-number-without-recoverable-message-is-count-of-sent", breaks="MQQB-3.1.1.6.1-03", blind=True)
class ReceiverAckNumberWithoutRecoverableMessageIsCountOfSent(SessionAcks):
    """Until the receiver has received a recoverable message, it sets RecoverableMsgAckSeqNumber to the number of
    recoverable messages that it has sent.
    """

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if session.RecoverableMessageReceivedCount:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=session.RecoverableMessageSentCount)


@fault("receiver-ack-number-without-recoverable-message-from-3-express-on", breaks="MQQB-3.1.1.6.1-03", blind=True)
class ReceiverAckNumberWithoutRecoverableMessageFrom3ExpressOn(SessionAcks):
    """Until the receiver has received a recoverable message, it sets RecoverableMsgAckSeqNumber to 1 after three
    express messages.
    """

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if session.RecoverableMessageReceivedCount or session.MessageReceivedCount < 3:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=1)


@fault("initiator-ack-flags-without-recoverable-message-1", breaks="MQQB-3.1.1.6.1-04", blind=True)
class InitiatorAckFlagsWithoutRecoverableMessage1(SessionAcks):
    """On a session that the receiver opened, it sets RecoverableMsgAckFlags to 1 until it has received a recoverable
    message.
    """

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if session.RecoverableMessageReceivedCount or not session.initiator:
            return header
        return replace(header, RecoverableMsgAckFlags=1)
