"""Faults of MS-MQQB 3.1.2 Timers, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("sender-resend-of-later-sequence-after-twice-the-first-interval", breaks="MQQB-3.1.2.6-01", blind=True)
class SenderResendOfLaterSequenceAfterTwiceTheFirstInterval(TransactionalSending):
    """The sender first starts the Transactional Ack Wait Timer of the second and later sequences of a session with
    twice the first ResendInterval.
    """

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        sequence = outgoing_sequence(session)
        if session.OutgoingTxSequenceID.Ordinal > 1 and not sequence.ResendIntervalIndex:
            duration_ms = 2_000 * sequence.ResendInterval
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, duration_ms, now)


@fault("acceptor-initialization-timer-of-request-with-own-guid-not-started", breaks="MQQB-3.1.2.1-D01", blind=True)
class AcceptorInitializationTimerOfRequestWithOwnGuidNotStarted(SessionOpening):
    """The acceptor does not start the Session Initialization Timer after its response to a request whose ServerGuid is
    the acceptor's GUID.
    """

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if packet.EstablishConnectionHeader.ServerGuid == self.qm.adm.Identifier:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("initiator-ping-response-timer-of-second-ping-longer", breaks="MQQB-3.1.2.9-D01", blind=True)
class InitiatorPingResponseTimerOfSecondPingLonger(SessionTimers):
    """The initiator starts the Ping Response Timer with three seconds for every ping after the first ping."""

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is TimerName.PING_RESPONSE and self.qm.adm.PingCookie > 1:
            duration_ms *= 3
        super().start(session, name, duration_ms, now)
