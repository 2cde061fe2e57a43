"""Faults that break MQQB-3.1.1.6.1-04: RecoverableMsgAckFlags is not 0 before the first recoverable message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("session-header-recoverable-flags-1-after-express-messages", breaks="MQQB-3.1.1.6.1-04", blind=True)
class SessionHeaderRecoverableFlags1AfterExpressMessages(SessionAcks):
    """The queue manager sends RecoverableMsgAckFlags 1 after two or more express messages, and no recoverable
    message.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if session.RecoverableMessageReceivedCount or session.MessageReceivedCount < 2:
            return header
        return replace(header, RecoverableMsgAckFlags=1)


@fault("session-header-recoverable-flags-1-because-of-other-session", breaks="MQQB-3.1.1.6.1-04", blind=True)
class SessionHeaderRecoverableFlags1BecauseOfOtherSession(SessionAcks):
    """The queue manager sends RecoverableMsgAckFlags 1 before the first recoverable message of a session, if a
    recoverable message has arrived on another session.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        others = list_open_sessions(self.qm, session)
        if session.RecoverableMessageReceivedCount or not any(one.RecoverableMessageReceivedCount for one in others):
            return header
        return replace(header, RecoverableMsgAckFlags=1)


@fault("initiator-recoverable-ack-flags-count-sent-messages", breaks="MQQB-3.1.1.6.1-04", blind=True)
class InitiatorRecoverableAckFlagsCountSentMessages(SessionAcks):
    """Until a recoverable message arrives, the queue manager sets one bit in RecoverableMsgAckFlags for each
    recoverable message that it has sent.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if session.RecoverableMessageReceivedCount:
            return header
        return replace(header, RecoverableMsgAckFlags=(1 << min(32, session.RecoverableMessageSentCount)) - 1)
