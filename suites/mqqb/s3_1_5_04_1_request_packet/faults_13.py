"""Faults that break the rule MQQB-3.1.5.4.1-13."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import (
    ConnectionParametersPacket,
    UserMessagePacket,
)
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("acceptor-session-state-waiting-cp-msg-after-parameters", breaks=("MQQB-3.1.5.4.1-13", "MQQB-3.1.5.4.1-D01"))
class AcceptorSessionStateWaitingCpMsgAfterParameters(SessionOpening):
    """The acceptor sets the state of its session to WAITING_CP_MSG instead of OPEN after ConnectionParameters."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        if session.SessionState is SessionState.OPEN:
            session.SessionState = SessionState.WAITING_CP_MSG


@fault("acceptor-first-message-of-second-session-dropped", breaks="MQQB-3.1.5.4.1-13", blind=True)
class AcceptorFirstMessageOfSecondSessionDropped(MessageReceiving):
    """While an older session is open, the acceptor drops the first message of a new session and does not count this
    message.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        opened = [one for one in self.qm.sessions.values() if one.SessionState is SessionState.OPEN]
        if session.initiator or session.MessageReceivedCount or opened[0] is session or self._has_seen_session(session):
            super().receive_user_message(session, packet, now)

    def _has_seen_session(self, session: Session) -> bool:
        known: set[int] = self.__dict__.setdefault("known", set())
        had = session.number in known
        known.add(session.number)
        return had


@fault("acceptor-first-message-of-session-dropped-if-transactional", breaks="MQQB-3.1.5.4.1-13", blind=True)
class AcceptorFirstMessageOfSessionDroppedIfTransactional(MessageReceiving):
    """The acceptor does not accept a transactional message as the first message of a session."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is None or session.MessageReceivedCount or session.initiator:
            super().receive_user_message(session, packet, now)


@fault(
    "acceptor-message-in-segment-of-parameters-request-dropped",
    breaks=("MQQB-3.1.5.4.1-13", "MQQB-3.1.5.4.1-D01"),
    blind=True,
)
class AcceptorMessageInSegmentOfParametersRequestDropped(Identifying):
    """The acceptor drops data that it receives together with the ConnectionParameters request."""

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        if session.SessionState.value == "WAITING_CP_MSG":
            data = data[:32]
        super().receive_bytes(session, data, now)
