"""Second faults of sessions, by an author who had read the rules and not the checks.

Spec: MS-MQQB 3.1.5.1 to 3.1.5.4, 3.1.5.9, 3.1.6.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import changed, fault, replaced
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    Packet,
    SessionAckPacket,
    UserMessagePacket,
)
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

# -- establishing -----------------------------------------------------------------------------------------------------


@fault("server-guid-compared-by-its-first-part", breaks="MQQB-3.1.5.3.1-05")
class ServerGuidComparedByItsFirstPart(SessionOpening):
    """Only the first four bytes of the ServerGuid of a request are compared."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        asked = packet.EstablishConnectionHeader.ServerGuid
        return asked == NULL_GUID or asked.fields[0] == self.qm.adm.Identifier.fields[0]


@fault("client-guid-of-the-session-before", breaks="MQQB-3.1.5.3.1-08")
class ClientGuidOfTheSessionBefore(SessionOpening):
    """A response repeats the ClientGuid of the first request that ever came."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._first: UUID | None = None

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        self._first = self._first or request.EstablishConnectionHeader.ClientGuid
        return replace(
            response, EstablishConnectionHeader=replace(response.EstablishConnectionHeader, ClientGuid=self._first)
        )


@fault("timestamp-loses-its-highest-bit", breaks="MQQB-3.1.5.3.1-10")
class TimestampLosesItsHighestBit(SessionOpening):
    """A TimeStamp is kept as a signed number: its highest bit is lost."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        header = response.EstablishConnectionHeader
        return replace(response, EstablishConnectionHeader=replace(header, TimeStamp=header.TimeStamp & 0x7FFFFFFF))


@fault("other-server-guid-accepted-at-a-retry", breaks="MQQB-3.1.5.3.2-01")
class OtherServerGuidAcceptedAtARetry(SessionOpening):
    """Who answers is looked at in the first attempt only: at a retry anybody is right."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return session.retrying or super().is_establish_response_valid(session, packet)


@fault("round-trip-in-whole-seconds", breaks="MQQB-3.1.5.3.2-05")
class RoundTripInWholeSeconds(SessionOpening):
    """The round trip is taken in whole seconds, its fraction is lost."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        header = packet.EstablishConnectionHeader
        took_ms = (now.monotonic_ms - header.TimeStamp & 0xFFFFFFFF) // 1000 * 1000
        whole = replace(header, TimeStamp=now.monotonic_ms - took_ms & 0xFFFFFFFF)
        super().set_recoverable_ack_timeout(session, replace(packet, EstablishConnectionHeader=whole), now)


@fault("recoverable-ack-timeout-at-most-a-minute", breaks="MQQB-3.1.5.3.2-06")
class RecoverableAckTimeoutAtMostAMinute(SessionOpening):
    """RecoverableAckSendTimeout is never above one minute."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("window-of-the-response-shrinks-to-the-request", breaks="MQQB-3.1.5.4.1-11")
class WindowOfTheResponseShrinksToTheRequest(SessionOpening):
    """WindowSize of the response is the smaller of the two windows."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        asked = request.ConnectionParametersHeader.WindowSize
        return set_fields(response, {"ConnectionParametersHeader.WindowSize": lambda own: min(own, asked)})


@fault("ack-timeout-in-force-only-when-shorter", breaks="MQQB-3.1.5.4.1-02")
class AckTimeoutInForceOnlyWhenShorter(SessionOpening):
    """AckTimeout of a request is in force only when it is shorter than the acceptor's own."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        own = session.AckWaitTimeout
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = min(own, session.AckWaitTimeout)


@fault("recoverable-ack-timeout-in-force-up-to-ten-seconds", breaks="MQQB-3.1.5.4.1-04")
class RecoverableAckTimeoutInForceUpToTenSeconds(SessionOpening):
    """RecoverableAckTimeout of a request is in force up to ten seconds, longer ones are cut."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 10_000)


@fault("initialization-timer-put-off-by-any-bytes", breaks="MQQB-3.1.6.6-01")
class InitializationTimerPutOffByAnyBytes(Identifying):
    """Every piece of a packet starts the Session Initialization Timer of a connection again."""

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        super().receive_bytes(session, data, now)
        if session.SessionState in (SessionState.WAITING_EC_MSG, SessionState.WAITING_CP_MSG):
            name, duration_ms = TimerName.SESSION_INITIALIZATION, self.qm.settings.session_initialization_ms
            self.qm.session_timers.start(session, name, duration_ms, now)


def _tolerating(kind: type[Packet], state: SessionState, *, initiator: bool) -> type[Closing]:
    class Tolerating(Closing):
        def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
            if not (isinstance(packet, kind) and session.SessionState is state and session.initiator is initiator):
                super().refuse_out_of_state(session, packet, now)

    return Tolerating


for name, rule, says, packet_kind, tolerant_state, of_initiator in (
    (
        "second-establish-connection-before-the-parameters-ignored",
        "MQQB-3.1.5.3-01",
        "An acceptor that waits for ConnectionParameters ignores another EstablishConnection.",
        EstablishConnectionPacket,
        SessionState.WAITING_CP_MSG,
        False,
    ),
    (
        "establish-connection-ignored-by-an-open-initiator",
        "MQQB-3.1.5.3-01",
        "An initiator whose session is open ignores an EstablishConnection.",
        EstablishConnectionPacket,
        SessionState.OPEN,
        True,
    ),
    (
        "connection-parameters-ignored-by-an-open-initiator",
        "MQQB-3.1.5.4-01",
        "An initiator whose session is open ignores ConnectionParameters.",
        ConnectionParametersPacket,
        SessionState.OPEN,
        True,
    ),
    (
        "session-ack-before-the-parameters-ignored",
        "MQQB-3.1.5.5-01",
        "An acceptor that waits for ConnectionParameters ignores a SessionAck.",
        SessionAckPacket,
        SessionState.WAITING_CP_MSG,
        False,
    ),
    (
        "session-ack-before-the-parameters-response-ignored",
        "MQQB-3.1.5.5-01",
        "An initiator that waits for the response to its ConnectionParameters ignores a SessionAck.",
        SessionAckPacket,
        SessionState.WAITING_CPR_MSG,
        True,
    ),
    (
        "message-before-the-parameters-response-ignored",
        "MQQB-3.1.5.8-01",
        "An initiator that waits for the response to its ConnectionParameters ignores a message.",
        UserMessagePacket,
        SessionState.WAITING_CPR_MSG,
        True,
    ),
):
    add(name, rule, says, replaced(_tolerating(packet_kind, tolerant_state, initiator=of_initiator)))


@fault("wrong-signature-overlooked-by-an-initiator", breaks="MQQB-3.1.5.1.2-01")
class WrongSignatureOverlookedByAnInitiator(Identifying):
    """A queue manager that opened the session puts up with wrong signatures."""

    def verify_signature(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().verify_signature(session, error, now)


@fault("malformed-packets-skipped-by-an-initiator", breaks="MQQB-3.1.5.1.3-01")
class MalformedPacketsSkippedByAnInitiator(Closing):
    """A queue manager that opened the session skips packets that are not formed as specified, and goes on."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().refuse_malformed(session, error, now)


# -- the end of a session ---------------------------------------------------------------------------------------------


@fault("used-session-closed-at-the-third-look", breaks="MQQB-3.1.6.2-03")
class UsedSessionClosedAtTheThirdLook(Closing):
    """A session is closed when its Session Cleanup Timer expires for the third time, used or not."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._looks: dict[int, int] = {}

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        looks = self._looks[session.number] = self._looks.get(session.number, 0) + 1
        session.SessionActive = session.SessionActive and looks < 3
        super().on_session_cleanup_timer(session, now)


@fault("express-messages-lost-with-their-session", breaks="MQQB-3.1.6.1-10")
class ExpressMessagesLostWithTheirSession(Closing):
    """Express messages that were sent and not acknowledged are forgotten when their session ends."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            if position.AwaitingAck and not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)


@fault("only-one-retry", breaks="MQQB-3.1.5.9-04")
class OnlyOneRetry(Closing):
    """An initiator whose retry failed does not try again."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not session.retrying:
            super().await_reconnect(session, now)


@fault("recoverable-first-on-the-next-session", breaks="MQQB-3.1.1.3.1-D01")
class RecoverableFirstOnTheNextSession(SessionInitialization):
    """On the next session recoverable messages are sent before express ones."""

    def initialize_messages(self, session: Session) -> None:
        table = session.OutgoingMessageTable
        for position in sorted(table, key=lambda one: not one.recoverable):
            table.remove(position)
            table.add(position)
        super().initialize_messages(session)


@fault("start-connects-to-one-queue-manager", breaks="MQQB-3.1.4.1-02")
class StartConnectsToOneQueueManager(Initialization):
    """A queue manager that starts connects to the first queue manager for which it has messages, and to no other."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        begun = [one for one in self.qm.sessions.values() if one.initiator]
        for session in begun[1:]:
            self.qm.closing.close(session, "a fault", now)
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


add(
    "express-not-counted-in-the-window",
    "MQQB-3.1.7.1.3-14",
    "UnAckedMessageCount does not count express messages.",
    replaced(
        changed(
            Sending.is_window_open,
            lambda original: (
                lambda qm, session: (
                    sum(one.recoverable for one in session.OutgoingMessageTable.awaiting_ack) < session.WindowSize
                )
            ),
        )
    ),
)


@fault("se-not-set-at-a-retry", breaks="MQQB-3.1.5.2.3-11")
class SeNotSetAtARetry(Establishing):
    """SE is clear at a retry too, which no Ping Request goes before."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        if not session.retrying:
            return request
        flags = request.EstablishConnectionHeader.OperatingSystem & ~0x100
        return replace(
            request, EstablishConnectionHeader=replace(request.EstablishConnectionHeader, OperatingSystem=flags)
        )
