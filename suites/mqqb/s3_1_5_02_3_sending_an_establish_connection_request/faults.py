"""Faults of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.connection_history import change_history_entries, omit_history_entries
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


def _change_connect_port(effect: Effect) -> Iterable[Effect]:
    if isinstance(effect, Connect):
        effect = replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))
    return [effect]


add(
    "initiator-connects-to-port-1802",
    "MQQB-3.1.5.2.3-02",
    "The initiator connects to a port number that is one above the acceptor's port.",
    effects(_change_connect_port),
)


def _has_no_server_guid(packet: EstablishConnectionPacket) -> bool:
    return packet.EstablishConnectionHeader.ServerGuid == NULL_GUID


for _name, _rules, _says, _install in (
    (
        "initiator-establish-connection-in-bit-clear",
        "MQQB-3.1.5.2.3-04",
        "The initiator's EstablishConnection request has BaseHeader.Flags.IN clear.",
        bit_clear(EstablishConnectionPacket, "BaseHeader.IN"),
    ),
    (
        "initiator-establish-connection-pt-3",
        "MQQB-3.1.5.2.3-05",
        "The initiator's EstablishConnection request has PT 3.",
        field_is(EstablishConnectionPacket, "InternalHeader.PT", PT_CONNECTION_PARAMETERS),
    ),
    (
        "initiator-establish-connection-cs-set",
        "MQQB-3.1.5.2.3-06",
        "The initiator's EstablishConnection request has CS set.",
        bit_set(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "initiator-establish-connection-client-guid-wrong",
        "MQQB-3.1.5.2.3-07",
        "The initiator's EstablishConnection request has a ClientGuid other than the initiator's Identifier.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ClientGuid", OTHER_GUID),
    ),
    (
        "initiator-establish-connection-server-guid-for-direct-name",
        "MQQB-3.1.5.2.3-09",
        "The initiator's EstablishConnection request has a ServerGuid although the destination has a direct name.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", OTHER_GUID, _has_no_server_guid),
    ),
    (
        "initiator-establish-connection-se-always-clear",
        "MQQB-3.1.5.2.3-11",
        "The initiator's EstablishConnection request always has SE 0.",
        bit_clear(EstablishConnectionPacket, "EstablishConnectionHeader.SE"),
    ),
    (
        "initiator-establish-connection-reserved-0xffff",
        "MQQB-3.1.5.2.3-12",
        "The initiator's EstablishConnection request has Reserved 0xFFFF.",
        reserved_bits_set(EstablishConnectionPacket, "EstablishConnectionHeader.Reserved"),
    ),
):
    add(_name, _rules, _says, sent_as("initiator", _install))


@fault("initiator-establish-connection-timestamp-in-seconds", breaks="MQQB-3.1.5.2.3-10")
class InitiatorEstablishConnectionTimestampInSeconds(Establishing):
    """The initiator's EstablishConnection request has TimeStamp in seconds."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        header = request.EstablishConnectionHeader
        return replace(request, EstablishConnectionHeader=replace(header, TimeStamp=header.TimeStamp // 1000))


# -- history and queue ---------------------------------------------------------------------------------------------


add(
    "initiator-connection-history-in-process-missing",
    "MQQB-3.1.5.2.3-14",
    "The initiator adds no entry with Status InProcess to ConnectionHistory.",
    omit_history_entries({ConnectionStatus.IN_PROCESS}),
)
add(
    "initiator-connection-history-in-process-with-error",
    "MQQB-3.1.5.2.3-14",
    "The initiator's ConnectionHistory entry with Status InProcess has an Error.",
    change_history_entries({ConnectionStatus.IN_PROCESS}, Error=0x80004005),
)


@fault("initiator-outgoing-queue-state-inactive-at-request", breaks="MQQB-3.1.5.2.3-16")
class InitiatorOutgoingQueueStateInactiveAtRequest(Establishing):
    """The initiator's outgoing queue has the State Inactive when the request is sent."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        outgoing_queue(session).State = OutgoingQueueState.INACTIVE


# -- the Session Initialization Timer ------------------------------------------------------------------------------


@fault("initiator-initialization-timer-keeps-running-after-failed-attempt", breaks="MQQB-3.1.5.2.3-01")
class InitiatorInitializationTimerKeepsRunningAfterFailedAttempt(SessionTimers):
    """The initiator's Session Initialization Timer of a failed attempt keeps running and ends the next attempt."""

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        is_running = self.qm.timers.is_running(TimerKey(name, session.number))
        if not (name is TimerName.SESSION_INITIALIZATION and is_running):
            super().start(session, name, duration_ms, now)

    def stop(self, session: Session, name: TimerName) -> None:
        succeeded = session.SessionState is SessionState.WAITING_CPR_MSG
        if name is not TimerName.SESSION_INITIALIZATION or succeeded:
            super().stop(session, name)


add(
    "initiator-initialization-timer-not-started",
    "MQQB-3.1.5.2.3-15",
    "The initiator starts no Session Initialization Timer with its EstablishConnection request.",
    skip_during(Establishing.send_establish_request, SessionTimers.start),
)


@fault("initiator-establish-connection-se-clear-at-retry", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorEstablishConnectionSeClearAtRetry(Establishing):
    """The initiator's EstablishConnection request has SE 0 when it retries without a Ping Request."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        if not session.retrying:
            return request
        flags = request.EstablishConnectionHeader.OperatingSystem & ~0x100
        return replace(
            request, EstablishConnectionHeader=replace(request.EstablishConnectionHeader, OperatingSystem=flags)
        )
