"""Faults of MS-MQQB 3.1.5.4.1 Request Packet, by an author who had not seen the checks."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import ConnectionParametersPacket, FormatError, Packet, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

HEADER = "ConnectionParametersHeader"


def _find_oldest_open_session(part: SessionOpening, session: Session) -> Session:
    accepted = [one for one in part.qm.sessions.values() if not one.initiator]
    opened = [one for one in accepted if one.SessionState is SessionState.OPEN]
    return (opened or [session])[0]


@fault("acceptor-ack-delay-of-first-session-for-second", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckDelayOfFirstSessionForSecond(SessionOpening):
    """The acceptor of a second session sends its acknowledgments after half of the AckTimeout of the first session."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = _find_oldest_open_session(self, session).AckWaitTimeout


@fault("acceptor-ack-delay-without-upper-bits", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckDelayWithoutUpperBits(SessionOpening):
    """The acceptor uses only the lower 16 bits of AckTimeout."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout &= 0xFFFF


@fault("acceptor-recoverable-ack-delay-of-first-session-for-second", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckDelayOfFirstSessionForSecond(SessionOpening):
    """On a second session, the acceptor acknowledges recoverable messages after the RecoverableAckTimeout of the first
    session.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = _find_oldest_open_session(self, session).RecoverableAckSendTimeout


@fault("acceptor-recoverable-ack-delay-at-most-30-s", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckDelayAtMost30S(SessionOpening):
    """The acceptor acknowledges a recoverable message after at most 30 seconds, although RecoverableAckTimeout of the
    request is 120,000 ms.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 30_000)


@fault("acceptor-timeouts-of-first-session-in-response", breaks="MQQB-3.1.5.4.1-10", blind=True)
class AcceptorTimeoutsOfFirstSessionInResponse(SessionOpening):
    """The acceptor sends a ConnectionParameters response with the AckTimeout of the oldest open session."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        return set_fields(packet, {f"{HEADER}.AckTimeout": _find_oldest_open_session(self, session).AckWaitTimeout})


@fault("acceptor-recoverable-ack-timeout-rounded-in-response", breaks="MQQB-3.1.5.4.1-09", blind=True)
class AcceptorRecoverableAckTimeoutRoundedInResponse(SessionOpening):
    """The acceptor sends a ConnectionParameters response whose RecoverableAckTimeout is rounded down to a multiple of
    100 ms.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        return set_fields(packet, {f"{HEADER}.RecoverableAckTimeout": lambda old: max(500, old // 100 * 100)})


@fault("acceptor-window-size-of-response-at-least-that-of-request", breaks="MQQB-3.1.5.4.1-11", blind=True)
class AcceptorWindowSizeOfResponseAtLeastThatOfRequest(SessionOpening):
    """The acceptor sends the WindowSize of the request as WindowSize of its response, if the WindowSize of the request
    is greater.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        asked = request.ConnectionParametersHeader.WindowSize
        packet = super().build_parameters_response(session, request)
        return set_fields(packet, {f"{HEADER}.WindowSize": lambda own: max(own, asked)})


@fault("acceptor-initialization-timer-of-second-session-not-stopped", breaks="MQQB-3.1.5.4.1-12", blind=True)
class AcceptorInitializationTimerOfSecondSessionNotStopped(SessionOpening):
    """The acceptor does not stop the Session Initialization Timer of a second session of the same initiator."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        same = [one for one in self.qm.sessions.values() if one.RemoteQMGuid == session.RemoteQMGuid]
        if len(same) > 1 and session.SessionState is SessionState.OPEN:
            name = TimerName.SESSION_INITIALIZATION
            self.qm.session_timers.start(session, name, self.qm.settings.session_initialization_ms, now)


@fault("acceptor-first-message-of-second-session-dropped", breaks="MQQB-3.1.5.4.1-13", blind=True)
class AcceptorFirstMessageOfSecondSessionDropped(Receiving):
    """While an older session is open, the acceptor drops the first message of a new session and does not count this
    message.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        opened = [one for one in self.qm.sessions.values() if one.SessionState is SessionState.OPEN]
        if session.initiator or session.MessageReceivedCount or opened[0] is session or self._was_seen_before(session):
            super().receive_user_message(session, packet, now)

    def _was_seen_before(self, session: Session) -> bool:
        known: set[int] = self.__dict__.setdefault("known", set())
        had = session.number in known
        known.add(session.number)
        return had


@fault("acceptor-transactional-message-as-first-message-dropped", breaks="MQQB-3.1.5.4.1-13", blind=True)
class AcceptorTransactionalMessageAsFirstMessageDropped(Receiving):
    """The acceptor does not accept a transactional message as the first message of a session."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is None or session.MessageReceivedCount or session.initiator:
            super().receive_user_message(session, packet, now)


@fault("acceptor-parameters-request-with-window-0xffff-not-answered", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorParametersRequestWithWindow0xffffNotAnswered(SessionOpening):
    """The acceptor does not answer a ConnectionParameters request whose WindowSize is 0xFFFF."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.ConnectionParametersHeader.WindowSize != 0xFFFF:
            super().receive_parameters_request(session, packet, now)


@fault("acceptor-ack-delay-begins-with-last-message", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckDelayBeginsWithLastMessage(Receiving):
    """Each arriving express message restarts the Session Ack Send Timer of the acceptor."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not packet.UserHeader.DM and not session.initiator:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_activity(session, packet, now)


class _Opened(SessionOpening):
    def change(self, session: Session) -> None:
        raise NotImplementedError

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        self.change(session)


@fault("acceptor-received-window-size-low-byte-only", breaks="MQQB-3.1.5.4.1-01", blind=True)
class AcceptorReceivedWindowSizeLowByteOnly(_Opened):
    """The acceptor sets ReceivedWindowSize to the low byte of WindowSize if WindowSize is above 255."""

    def change(self, session: Session) -> None:
        session.ReceivedWindowSize &= 0xFF


@fault("acceptor-received-window-size-of-first-session", breaks="MQQB-3.1.5.4.1-01", blind=True)
class AcceptorReceivedWindowSizeOfFirstSession(_Opened):
    """The acceptor sets ReceivedWindowSize of each accepted session to the WindowSize of the first accepted session."""

    def change(self, session: Session) -> None:
        session.ReceivedWindowSize = _windows.setdefault(self.qm, session.ReceivedWindowSize)


_windows: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


@fault("acceptor-ack-timeout-of-latest-session", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckTimeoutOfLatestSession(_Opened):
    """The acceptor sets AckWaitTimeout of every open session to the AckTimeout of the latest request."""

    def change(self, session: Session) -> None:
        for other in self.qm.sessions.values():
            if not other.initiator:
                other.AckWaitTimeout = session.AckWaitTimeout


@fault("acceptor-recoverable-ack-timeout-of-latest-session", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckTimeoutOfLatestSession(_Opened):
    """The acceptor sets RecoverableAckSendTimeout of every open session to the RecoverableAckTimeout of the latest
    request.
    """

    def change(self, session: Session) -> None:
        for other in self.qm.sessions.values():
            if not other.initiator:
                other.RecoverableAckSendTimeout = session.RecoverableAckSendTimeout


@fault("acceptor-recoverable-ack-timeout-at-most-1-minute", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckTimeoutAtMost1Minute(_Opened):
    """The acceptor limits RecoverableAckSendTimeout to 60,000 ms."""

    def change(self, session: Session) -> None:
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("acceptor-ack-timeout-at-most-1-minute", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorAckTimeoutAtMost1Minute(_Opened):
    """The acceptor limits AckWaitTimeout to 60,000 ms."""

    def change(self, session: Session) -> None:
        session.AckWaitTimeout = min(session.AckWaitTimeout, 60_000)


@fault("acceptor-second-message-acknowledged-after-own-ack-timeout", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorSecondMessageAcknowledgedAfterOwnAckTimeout(Receiving):
    """The acceptor acknowledges the second and later messages of a session after half of its own AckWaitTimeout of
    120,000 ms.
    """

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not session.initiator and session.MessageReceivedCount > 1:
            session.AckWaitTimeout = 120_000
        super().note_activity(session, packet, now)


class _Refusing(Identifying):
    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        raise NotImplementedError

    def check_form(self, packet: Packet) -> None:
        super().check_form(packet)
        if isinstance(packet, ConnectionParametersPacket) and self.is_refused(packet):
            raise FormatError("ConnectionParametersHeader", 0, "a fault", "is at a limit")


@fault("acceptor-highest-ack-timeouts-refused", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorHighestAckTimeoutsRefused(_Refusing):
    """The acceptor refuses a ConnectionParameters request whose AckTimeout is 120,000 ms, the highest allowed value."""

    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        return packet.ConnectionParametersHeader.AckTimeout == 0x0001D4C0


@fault("acceptor-lowest-recoverable-ack-timeout-refused", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorLowestRecoverableAckTimeoutRefused(_Refusing):
    """The acceptor refuses a ConnectionParameters request whose RecoverableAckTimeout is 500 ms, the lowest allowed
    value.
    """

    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        return packet.ConnectionParametersHeader.RecoverableAckTimeout == 0x1F4


@fault("acceptor-largest-window-size-refused", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorLargestWindowSizeRefused(_Refusing):
    """The acceptor refuses a ConnectionParameters request whose WindowSize is 65,535."""

    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        return packet.ConnectionParametersHeader.WindowSize == 0xFFFF


@fault("acceptor-response-window-size-limited-by-request", breaks="MQQB-3.1.5.4.1-11", blind=True)
class AcceptorResponseWindowSizeLimitedByRequest(SessionOpening):
    """The acceptor sends a ConnectionParameters response whose WindowSize is the smaller of the acceptor's WindowSize
    and the WindowSize of the request.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        limit = request.ConnectionParametersHeader.WindowSize
        return set_fields(packet, {"ConnectionParametersHeader.WindowSize": lambda old: min(old, limit)})


@fault("acceptor-response-timeouts-exchanged-when-equal-range", breaks="MQQB-3.1.5.4.1-09", blind=True)
class AcceptorResponseTimeoutsExchangedWhenEqualRange(SessionOpening):
    """The acceptor sends a ConnectionParameters response whose RecoverableAckTimeout is at most AckTimeout of the
    request.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        limit = request.ConnectionParametersHeader.AckTimeout
        return set_fields(packet, {"ConnectionParametersHeader.RecoverableAckTimeout": lambda old: min(old, limit)})


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


@fault("acceptor-recoverable-ack-timeout-for-first-ack-only", breaks="MQQB-3.1.5.4.1-04")
class AcceptorRecoverableAckTimeoutForFirstAckOnly(SessionAcks):
    """After its first SessionAck, the acceptor acknowledges recoverable messages after 500 ms."""

    def send(self, session: Session, now: Now) -> None:
        super().send(session, now)
        if not session.initiator:
            session.RecoverableAckSendTimeout = 0x1F4
