"""Faults that break the rules MQQB-3.1.5.4.1-01 to MQQB-3.1.5.4.1-04."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm.codec import (
    ConnectionParametersPacket,
    UserMessagePacket,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_04_1_request_packet.fault_steps import find_oldest_open_session


@fault("acceptor-received-window-size-set-to-own-value", breaks="MQQB-3.1.5.4.1-01")
class AcceptorReceivedWindowSizeSetToOwnValue(SessionOpening):
    """The acceptor sets ReceivedWindowSize to its own WindowSize."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.ReceivedWindowSize = 64


class _OpenedSessionFault(SessionOpening):
    def change(self, session: Session) -> None:
        raise NotImplementedError

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        self.change(session)


@fault("acceptor-received-window-size-low-byte-only", breaks="MQQB-3.1.5.4.1-01", blind=True)
class AcceptorReceivedWindowSizeLowByteOnly(_OpenedSessionFault):
    """The acceptor sets ReceivedWindowSize to the low byte of WindowSize if WindowSize is above 255."""

    def change(self, session: Session) -> None:
        session.ReceivedWindowSize &= 0xFF


_first_window_size_by_queue_manager: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


@fault("acceptor-received-window-size-of-first-session", breaks="MQQB-3.1.5.4.1-01", blind=True)
class AcceptorReceivedWindowSizeOfFirstSession(_OpenedSessionFault):
    """The acceptor sets ReceivedWindowSize of each accepted session to the WindowSize of the first accepted session."""

    def change(self, session: Session) -> None:
        session.ReceivedWindowSize = _first_window_size_by_queue_manager.setdefault(self.qm, session.ReceivedWindowSize)


@fault("acceptor-ack-timeout-of-request-ignored", breaks="MQQB-3.1.5.4.1-02")
class AcceptorAckTimeoutOfRequestIgnored(SessionOpening):
    """The acceptor keeps an AckWaitTimeout of 20 s, regardless of AckTimeout in the request."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = 20_000


@fault("acceptor-longer-ack-timeout-of-request-ignored", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorLongerAckTimeoutOfRequestIgnored(SessionOpening):
    """The acceptor uses AckTimeout of a request only if this AckTimeout is shorter than the acceptor's own timeout."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        own = session.AckWaitTimeout
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = min(own, session.AckWaitTimeout)


@fault("acceptor-ack-timeout-at-most-60-s", breaks="MQQB-3.1.5.4.1-02")
class AcceptorAckTimeoutAtMost60S(SessionOpening):
    """The acceptor uses 60 s instead of an AckTimeout of the ConnectionParameters request that is greater than 60 s."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = min(session.AckWaitTimeout, 60_000)


@fault("acceptor-second-session-uses-ack-delay-of-first-session", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorSecondSessionUsesAckDelayOfFirstSession(SessionOpening):
    """The acceptor of a second session sends its acknowledgments after half of the AckTimeout of the first session."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = find_oldest_open_session(self, session).AckWaitTimeout


@fault("acceptor-ack-timeout-of-request-cut-to-16-bits", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckTimeoutOfRequestCutTo16Bits(SessionOpening):
    """The acceptor uses only the lower 16 bits of AckTimeout."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout &= 0xFFFF


@fault("acceptor-session-ack-send-timer-restarted-by-each-message", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorSessionAckSendTimerRestartedByEachMessage(MessageReceiving):
    """Each arriving express message restarts the Session Ack Send Timer of the acceptor."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not packet.UserHeader.DM and not session.initiator:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_session_activity(session, packet, now)


@fault("acceptor-ack-timeout-of-latest-request-set-in-all-sessions", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckTimeoutOfLatestRequestSetInAllSessions(_OpenedSessionFault):
    """The acceptor sets AckWaitTimeout of every open session to the AckTimeout of the latest request."""

    def change(self, session: Session) -> None:
        for other in self.qm.sessions.values():
            if not other.initiator:
                other.AckWaitTimeout = session.AckWaitTimeout


@fault("acceptor-ack-timeout-at-most-1-minute", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckTimeoutAtMost1Minute(_OpenedSessionFault):
    """The acceptor limits AckWaitTimeout to 60,000 ms."""

    def change(self, session: Session) -> None:
        session.AckWaitTimeout = min(session.AckWaitTimeout, 60_000)


@fault("acceptor-second-message-acknowledged-after-own-ack-timeout", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorSecondMessageAcknowledgedAfterOwnAckTimeout(MessageReceiving):
    """The acceptor acknowledges the second and later messages of a session after half of its own AckWaitTimeout of
    120,000 ms.
    """

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not session.initiator and session.MessageReceivedCount > 1:
            session.AckWaitTimeout = 120_000
        super().note_session_activity(session, packet, now)


@fault("acceptor-ack-wait-timer-always-runs-for-20-s", breaks="MQQB-3.1.5.4.1-03")
class AcceptorAckWaitTimerAlwaysRunsFor20S(SessionAcks):
    """The acceptor's Session Ack Wait Timer runs for 20 s, regardless of AckTimeout in the request."""

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        agreed = session.AckWaitTimeout
        session.AckWaitTimeout = agreed if session.initiator else 20_000
        super().start_session_ack_wait_timer(session, now)
        session.AckWaitTimeout = agreed


@fault("acceptor-recoverable-ack-timeout-of-request-ignored", breaks="MQQB-3.1.5.4.1-04")
class AcceptorRecoverableAckTimeoutOfRequestIgnored(SessionOpening):
    """The acceptor keeps a RecoverableAckSendTimeout of 500 ms, regardless of the request."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = 500


@fault("acceptor-recoverable-ack-timeout-at-most-10-s", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckTimeoutAtMost10S(SessionOpening):
    """The acceptor limits RecoverableAckTimeout of a request to ten seconds."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 10_000)


@fault("acceptor-recoverable-ack-timeout-at-most-60-s", breaks="MQQB-3.1.5.4.1-04")
class AcceptorRecoverableAckTimeoutAtMost60S(SessionOpening):
    """The acceptor uses 60 s instead of a RecoverableAckTimeout of the ConnectionParameters request that is greater
    than 60 s.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("acceptor-second-session-uses-recoverable-ack-delay-of-first", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorSecondSessionUsesRecoverableAckDelayOfFirst(SessionOpening):
    """On a second session, the acceptor acknowledges recoverable messages after the RecoverableAckTimeout of the first
    session.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = find_oldest_open_session(self, session).RecoverableAckSendTimeout


@fault("acceptor-recoverable-ack-delay-at-most-30-s", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckDelayAtMost30S(SessionOpening):
    """The acceptor acknowledges a recoverable message after at most 30 seconds, although RecoverableAckTimeout of the
    request is 120,000 ms.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 30_000)


@fault("acceptor-recoverable-ack-timeout-of-request-set-in-all-sessions", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckTimeoutOfRequestSetInAllSessions(_OpenedSessionFault):
    """The acceptor sets RecoverableAckSendTimeout of every open session to the RecoverableAckTimeout of the latest
    request.
    """

    def change(self, session: Session) -> None:
        for other in self.qm.sessions.values():
            if not other.initiator:
                other.RecoverableAckSendTimeout = session.RecoverableAckSendTimeout


@fault("acceptor-recoverable-ack-timeout-at-most-1-minute", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckTimeoutAtMost1Minute(_OpenedSessionFault):
    """The acceptor limits RecoverableAckSendTimeout to 60,000 ms."""

    def change(self, session: Session) -> None:
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("acceptor-recoverable-ack-timeout-for-first-ack-only", breaks="MQQB-3.1.5.4.1-04")
class AcceptorRecoverableAckTimeoutForFirstAckOnly(SessionAcks):
    """After its first SessionAck, the acceptor acknowledges recoverable messages after 500 ms."""

    def send(self, session: Session, now: Now) -> None:
        super().send(session, now)
        if not session.initiator:
            session.RecoverableAckSendTimeout = 0x1F4
