"""Faults of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.connection_history import entries_changed, entries_left_out
from harness.faults.fields import bit_clear, bit_set, field_is, reserved_bits_set, sent_as
from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.primitives import effects, skip_during
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, PT_CONNECTION_PARAMETERS, EstablishConnectionPacket
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect, Effect

# -- the connection and the packet ---------------------------------------------------------------------------------


def _to_another_port(effect: Effect) -> Iterable[Effect]:
    if isinstance(effect, Connect):
        effect = replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))
    return [effect]


add(
    "establish-request-other-port",
    "MQQB-3.1.5.2.3-02",
    "The initiator connects to the port after the acceptor's.",
    effects(_to_another_port),
)


def _is_unnamed(packet: EstablishConnectionPacket) -> bool:
    return packet.EstablishConnectionHeader.ServerGuid == NULL_GUID


for _name, _rules, _says, _install in (
    (
        "establish-request-not-internal",
        "MQQB-3.1.5.2.3-04",
        "The request has BaseHeader.Flags.IN clear.",
        bit_clear(EstablishConnectionPacket, "BaseHeader.IN"),
    ),
    (
        "establish-request-other-type",
        "MQQB-3.1.5.2.3-05",
        "The request has the PT of another packet.",
        field_is(EstablishConnectionPacket, "InternalHeader.PT", PT_CONNECTION_PARAMETERS),
    ),
    (
        "establish-request-refused",
        "MQQB-3.1.5.2.3-06",
        "CS is set.",
        bit_set(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "establish-request-client",
        "MQQB-3.1.5.2.3-07",
        "ClientGuid is made up.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ClientGuid", OTHER_GUID),
    ),
    (
        "establish-request-named-server",
        "MQQB-3.1.5.2.3-09",
        "ServerGuid is made up for a direct name.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", OTHER_GUID, _is_unnamed),
    ),
    (
        "establish-request-session-flag",
        "MQQB-3.1.5.2.3-11",
        "SE is always 0.",
        bit_clear(EstablishConnectionPacket, "EstablishConnectionHeader.SE"),
    ),
    (
        "establish-request-reserved",
        "MQQB-3.1.5.2.3-12",
        "Reserved is 0xFFFF.",
        reserved_bits_set(EstablishConnectionPacket, "EstablishConnectionHeader.Reserved"),
    ),
):
    add(_name, _rules, _says, sent_as("initiator", _install))


@fault("establish-request-seconds", breaks="MQQB-3.1.5.2.3-10")
class EstablishRequestSeconds(Establishing):
    """TimeStamp is in seconds."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        header = request.EstablishConnectionHeader
        return replace(request, EstablishConnectionHeader=replace(header, TimeStamp=header.TimeStamp // 1000))


# -- what is noted of it -------------------------------------------------------------------------------------------


add(
    "history-without-inprocess",
    "MQQB-3.1.5.2.3-14",
    "ConnectionHistory gets no entry InProcess.",
    entries_left_out({ConnectionStatus.IN_PROCESS}),
)
add(
    "history-inprocess-with-error",
    "MQQB-3.1.5.2.3-14",
    "The entry InProcess has an Error.",
    entries_changed({ConnectionStatus.IN_PROCESS}, Error=0x80004005),
)


@fault("outgoing-queue-not-waiting", breaks="MQQB-3.1.5.2.3-16")
class OutgoingQueueNotWaiting(Establishing):
    """State is Inactive when the request is sent."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        outgoing_queue(session).State = OutgoingQueueState.INACTIVE


# -- the Session Initialization Timer ------------------------------------------------------------------------------


@fault("initialization-timer-outlives-a-failed-attempt", breaks="MQQB-3.1.5.2.3-01")
class InitializationTimerOutlivesAFailedAttempt(SessionTimers):
    """The timer of an attempt that failed goes on and ends the next one."""

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        sut_survives = self.qm.timers.is_running(TimerKey(name, session.number))
        if not (name is TimerName.SESSION_INITIALIZATION and sut_survives):
            super().start(session, name, duration_ms, now)

    def stop(self, session: Session, name: TimerName) -> None:
        succeeded = session.SessionState is SessionState.WAITING_CPR_MSG
        if name is not TimerName.SESSION_INITIALIZATION or succeeded:
            super().stop(session, name)


add(
    "initialization-timer-not-started-with-request",
    "MQQB-3.1.5.2.3-15",
    "The initiator starts no Session Initialization Timer.",
    skip_during(Establishing.send_establish_request, SessionTimers.start),
)


@fault("se-not-set-at-a-retry", breaks="MQQB-3.1.5.2.3-11", blind=True)
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
