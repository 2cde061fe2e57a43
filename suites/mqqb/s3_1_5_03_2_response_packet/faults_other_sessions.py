"""Faults of MS-MQQB 3.1.5.3.2 Response Packet, with several sessions and in later attempts."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

RULES_OF_VALID_RESPONSES = ("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02")


@fault("initiator-response-of-known-server-not-validated", breaks=RULES_OF_VALID_RESPONSES)
class InitiatorResponseOfKnownServerNotValidated(SessionOpening):
    """The initiator accepts the ServerGuid of any open session in a response."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        known = any(
            one is not session and one.SessionState is SessionState.OPEN and one.RemoteQMGuid == header.ServerGuid
            for one in self.qm.sessions.values()
        )
        if known and header.ClientGuid == self.qm.adm.Identifier and not packet.InternalHeader.CS:
            return True
        return super().is_establish_response_valid(session, packet)


@fault("initiator-refused-response-accepted-in-retry", breaks=RULES_OF_VALID_RESPONSES)
class InitiatorRefusedResponseAcceptedInRetry(SessionOpening):
    """The initiator ignores CS in the response to a retried request."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if session.is_retrying_connection and packet.InternalHeader.CS:
            internal = replace(
                packet.InternalHeader, Flags=packet.InternalHeader.Flags & ~type(packet.InternalHeader).flags(CS=1)
            )
            packet = replace(packet, InternalHeader=internal)
        return super().is_establish_response_valid(session, packet)


@fault("initiator-client-guid-equal-to-server-guid-accepted", breaks=RULES_OF_VALID_RESPONSES)
class InitiatorClientGuidEqualToServerGuidAccepted(SessionOpening):
    """The initiator accepts a response whose ClientGuid is the GUID of the acceptor."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        if header.ClientGuid == header.ServerGuid:
            header = replace(header, ClientGuid=self.qm.adm.Identifier)
            packet = replace(packet, EstablishConnectionHeader=header)
        return super().is_establish_response_valid(session, packet)


@fault("initiator-round-trip-measured-once", breaks="MQQB-3.1.5.3.2-05")
class InitiatorRoundTripMeasuredOnce(SessionOpening):
    """The initiator uses the round-trip time of its first session for all sessions."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._first: int | None = None

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        if self._first is None:
            self._first = session.RecoverableAckSendTimeout
        session.RecoverableAckSendTimeout = self._first


@fault("initiator-recoverable-ack-timeout-halved-after-long-round-trip", breaks="MQQB-3.1.5.3.2-05")
class InitiatorRecoverableAckTimeoutHalvedAfterLongRoundTrip(SessionOpening):
    """If a round trip takes more than a second, the initiator sets RecoverableAckSendTimeout to four times the
    round-trip time instead of eight times.
    """

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
        if round_trip_ms > 1_000:
            session.RecoverableAckSendTimeout = max(session.RecoverableAckSendTimeout // 2, 500)


class _ParametersRequestFault(SessionOpening):
    def change_request(self, session: Session, packet: ConnectionParametersPacket) -> ConnectionParametersPacket:
        raise NotImplementedError

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        return self.change_request(session, super().build_parameters_request(session))


@fault("initiator-sends-lowest-recoverable-ack-timeout-to-second-session", breaks="MQQB-3.1.5.3.2-11")
class InitiatorSendsLowestRecoverableAckTimeoutToSecondSession(_ParametersRequestFault):
    """While another session is open, the initiator sends 500 ms, the lowest valid value, as RecoverableAckTimeout."""

    def change_request(self, session: Session, packet: ConnectionParametersPacket) -> ConnectionParametersPacket:
        others = [one for one in self.qm.sessions.values() if one is not session and one.initiator]
        if not any(one.SessionState is SessionState.OPEN for one in others):
            return packet
        header = replace(packet.ConnectionParametersHeader, RecoverableAckTimeout=500)
        return replace(packet, ConnectionParametersHeader=header)


@fault("initiator-ack-timeout-of-private-name-doubled", breaks="MQQB-3.1.5.3.2-12")
class InitiatorAckTimeoutOfPrivateNameDoubled(_ParametersRequestFault):
    """The initiator doubles AckTimeout in a session for a private or public format name."""

    def change_request(self, session: Session, packet: ConnectionParametersPacket) -> ConnectionParametersPacket:
        if session.is_destination_direct:
            return packet
        header = packet.ConnectionParametersHeader
        return replace(packet, ConnectionParametersHeader=replace(header, AckTimeout=2 * header.AckTimeout))


@fault("initiator-window-size-1-while-other-session-is-open", breaks="MQQB-3.1.5.3.2-13")
class InitiatorWindowSize1WhileOtherSessionIsOpen(_ParametersRequestFault):
    """The initiator sends a WindowSize of 1 while another session is open."""

    def change_request(self, session: Session, packet: ConnectionParametersPacket) -> ConnectionParametersPacket:
        others = [one for one in self.qm.sessions.values() if one is not session and one.initiator]
        if not any(one.SessionState is SessionState.OPEN for one in others):
            return packet
        return replace(packet, ConnectionParametersHeader=replace(packet.ConnectionParametersHeader, WindowSize=1))


@fault("initiator-history-entry-of-response-added-to-first-queue", breaks="MQQB-3.1.5.3.2-15")
class InitiatorHistoryEntryOfResponseAddedToFirstQueue(SessionOpening):
    """The initiator adds the entry for a response to ConnectionHistory of the outgoing queue that was created first."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_response(session, packet, now)
        queue = session.OutgoingQueueReference
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if queue is not None and first is not queue and session.SessionState is SessionState.WAITING_CPR_MSG:
            first.ConnectionHistory.append(queue.ConnectionHistory.pop())
