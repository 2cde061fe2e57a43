"""Faults that break rules of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.connection_history import change_connection_history_entries, omit_connection_history_entries
from harness.faults.fields import clear_bits, limit_to_sender_role, set_bits, set_field_value, set_reserved_bits
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.primitives import filter_effects, omit_step_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, PT_CONNECTION_PARAMETERS, EstablishConnectionHeader, EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect, Effect


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


def _change_connect_port(effect: Effect) -> Iterable[Effect]:
    if isinstance(effect, Connect):
        effect = replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))
    return [effect]


add(
    "initiator-connects-to-port-1802",
    "MQQB-3.1.5.2.3-02",
    "The initiator connects to a port number that is one above the acceptor's port.",
    filter_effects(_change_connect_port),
)


def _has_no_server_guid(packet: EstablishConnectionPacket) -> bool:
    return packet.EstablishConnectionHeader.ServerGuid == NULL_GUID


for _name, _rules, _says, _install in (
    (
        "initiator-establish-connection-in-bit-clear",
        "MQQB-3.1.5.2.3-04",
        "The initiator's EstablishConnection request has BaseHeader.Flags.IN clear.",
        clear_bits(EstablishConnectionPacket, "BaseHeader.IN"),
    ),
    (
        "initiator-establish-connection-pt-3",
        "MQQB-3.1.5.2.3-05",
        "The initiator's EstablishConnection request has PT 3.",
        set_field_value(EstablishConnectionPacket, "InternalHeader.PT", PT_CONNECTION_PARAMETERS),
    ),
    (
        "initiator-establish-connection-cs-set",
        "MQQB-3.1.5.2.3-06",
        "The initiator's EstablishConnection request has CS set.",
        set_bits(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "initiator-establish-connection-client-guid-wrong",
        "MQQB-3.1.5.2.3-07",
        "The initiator's EstablishConnection request has a ClientGuid other than the initiator's Identifier.",
        set_field_value(EstablishConnectionPacket, "EstablishConnectionHeader.ClientGuid", MADE_UP_GUID),
    ),
    (
        "initiator-establish-connection-server-guid-for-direct-name",
        "MQQB-3.1.5.2.3-09",
        "The initiator's EstablishConnection request has a ServerGuid although the destination has a direct name.",
        set_field_value(
            EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", MADE_UP_GUID, _has_no_server_guid
        ),
    ),
    (
        "initiator-establish-connection-se-always-clear",
        "MQQB-3.1.5.2.3-11",
        "The initiator's EstablishConnection request always has SE 0.",
        clear_bits(EstablishConnectionPacket, "EstablishConnectionHeader.SE"),
    ),
    (
        "initiator-establish-connection-reserved-0xffff",
        "MQQB-3.1.5.2.3-12",
        "The initiator's EstablishConnection request has Reserved 0xFFFF.",
        set_reserved_bits(EstablishConnectionPacket, "EstablishConnectionHeader.Reserved"),
    ),
):
    add(_name, _rules, _says, limit_to_sender_role("initiator", _install))


ESTABLISH_HEADER_NAME = "EstablishConnectionHeader"


@fault("initiator-client-guid-zero-in-request-of-retry", breaks="MQQB-3.1.5.2.3-07", blind=True)
class InitiatorClientGuidZeroInRequestOfRetry(SessionEstablishing):
    """The initiator sends a zero ClientGuid in the EstablishConnection request of a retry."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return (
            set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.ClientGuid": UUID(int=0)})
            if session.is_retrying_connection
            else packet
        )


@fault("initiator-server-guid-zero-in-request-of-retry", breaks="MQQB-3.1.5.2.3-08", blind=True)
class InitiatorServerGuidZeroInRequestOfRetry(SessionEstablishing):
    """The initiator sends a zero ServerGuid in the EstablishConnection request of a retry, even for a destination with
    a private format name.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return (
            set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.ServerGuid": UUID(int=0)})
            if session.is_retrying_connection
            else packet
        )


@fault("initiator-server-guid-zero-in-retry", breaks="MQQB-3.1.5.2.3-08", blind=True)
class InitiatorServerGuidZeroInRetry(SessionEstablishing):
    """The initiator sends a zero ServerGuid in the EstablishConnection request of a retry, even for a private name."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        if session.is_retrying_connection:
            return set_fields(packet, {"EstablishConnectionHeader.ServerGuid": NULL_GUID})
        return packet


@fault("initiator-establish-connection-timestamp-in-seconds", breaks="MQQB-3.1.5.2.3-10")
class InitiatorEstablishConnectionTimestampInSeconds(SessionEstablishing):
    """The initiator's EstablishConnection request has TimeStamp in seconds."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        header = request.EstablishConnectionHeader
        return replace(request, EstablishConnectionHeader=replace(header, TimeStamp=header.TimeStamp // 1000))


@fault("initiator-request-of-retry-repeats-time-stamp-of-last-request", breaks="MQQB-3.1.5.2.3-10", blind=True)
class InitiatorRequestOfRetryRepeatsTimeStampOfLastRequest(SessionEstablishing):
    """The initiator sends the TimeStamp of the previous request in the EstablishConnection request of a retry."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        stamps = self.__dict__.setdefault("stamps", {})
        if not session.is_retrying_connection:
            stamps[session.number] = packet.EstablishConnectionHeader.TimeStamp
        return set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.TimeStamp": lambda old: stamps.get(session.number, old)})


_first_time_stamp_by_queue_manager: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


@fault("initiator-time-stamp-of-first-request-repeated", breaks="MQQB-3.1.5.2.3-10", blind=True)
class InitiatorTimeStampOfFirstRequestRepeated(SessionEstablishing):
    """The initiator sends the TimeStamp of its first EstablishConnection request in every
    EstablishConnection request.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        stamp = _first_time_stamp_by_queue_manager.setdefault(self.qm, packet.EstablishConnectionHeader.TimeStamp)
        return set_fields(packet, {"EstablishConnectionHeader.TimeStamp": stamp})


@fault("initiator-establish-connection-se-clear-at-retry", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorEstablishConnectionSeClearAtRetry(SessionEstablishing):
    """The initiator's EstablishConnection request has SE 0 when it retries without a Ping Request."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        if not session.is_retrying_connection:
            return request
        flags = request.EstablishConnectionHeader.OperatingSystem & ~0x100
        return replace(
            request, EstablishConnectionHeader=replace(request.EstablishConnectionHeader, OperatingSystem=flags)
        )


@fault("initiator-se-clear-in-request-to-second-address-without-ping", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorSeClearInRequestToSecondAddressWithoutPing(SessionEstablishing):
    """The initiator sends SE 0 in the request to a second or later address of a host without a Ping Request."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        if session.NextHopIndexer and not session.is_ping_sent_before_session:
            return set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.OperatingSystem": lambda old: old & ~0x100})
        return packet


_pinged_session_numbers_by_queue_manager: WeakKeyDictionary[QueueManager, set[int]] = WeakKeyDictionary()


@fault("initiator-se-clear-in-retry-without-ping", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorSeClearInRetryWithoutPing(SessionEstablishing):
    """The initiator sends SE 0 in a retry without a Ping Request because it sent a Ping Request before the first
    attempt.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        if session.is_ping_sent_before_session:
            _pinged_session_numbers_by_queue_manager.setdefault(self.qm, set()).add(session.number)
        was, session.is_ping_sent_before_session = (
            session.is_ping_sent_before_session,
            session.number in _pinged_session_numbers_by_queue_manager.get(self.qm, ()),
        )
        packet = super().build_establish_request(session, now)
        session.is_ping_sent_before_session = was
        return packet


add(
    "initiator-connection-history-in-process-missing",
    "MQQB-3.1.5.2.3-14",
    "The initiator adds no entry with Status InProcess to ConnectionHistory.",
    omit_connection_history_entries({ConnectionStatus.IN_PROCESS}),
)


add(
    "initiator-connection-history-in-process-with-error",
    "MQQB-3.1.5.2.3-14",
    "The initiator's ConnectionHistory entry with Status InProcess has an Error.",
    change_connection_history_entries({ConnectionStatus.IN_PROCESS}, Error=0x80004005),
)


@fault("initiator-retried-request-without-connection-history", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorRetriedRequestWithoutConnectionHistory(SessionConnecting):
    """The initiator adds no entry to ConnectionHistory for an EstablishConnection request that it sends in a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if status is not ConnectionStatus.IN_PROCESS or not session.is_retrying_connection:
            super().add_connection_history(session, status, now)


@fault("initiator-history-lacks-in-process-entry-of-retry", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorHistoryLacksInProcessEntryOfRetry(SessionConnecting):
    """The initiator adds no entry with Status InProcess to ConnectionHistory for the request in a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.is_retrying_connection and status is ConnectionStatus.IN_PROCESS):
            super().add_connection_history(session, status, now)


@fault("initiator-in-process-history-entry-has-host-name-as-address", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorInProcessHistoryEntryHasHostNameAsAddress(SessionConnecting):
    """The initiator puts the host name of a direct format name into AddressList of the ConnectionHistory entry with
    Status InProcess.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.IN_PROCESS:
            entries[-1] = replace(entries[-1], AddressList=session.RemoteQMHostName)


@fault("initiator-in-process-history-entry-has-first-address-of-host", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorInProcessHistoryEntryHasFirstAddressOfHost(SessionConnecting):
    """The initiator puts the first address of the host into AddressList of each entry with Status InProcess."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.IN_PROCESS:
            history[-1] = replace(history[-1], AddressList=session.NextHopCollection[0].Address)


add(
    "initiator-initialization-timer-not-started",
    "MQQB-3.1.5.2.3-15",
    "The initiator starts no Session Initialization Timer with its EstablishConnection request.",
    omit_step_during(SessionEstablishing.send_establish_request, SessionTimers.start),
)


@fault("initiator-no-initialization-timer-in-retry", breaks="MQQB-3.1.5.2.3-15", blind=True)
class InitiatorNoInitializationTimerInRetry(SessionEstablishing):
    """The initiator does not start the Session Initialization Timer when it sends the request of a retry."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        if session.is_retrying_connection:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("initiator-outgoing-queue-state-inactive-at-request", breaks="MQQB-3.1.5.2.3-16")
class InitiatorOutgoingQueueStateInactiveAtRequest(SessionEstablishing):
    """The initiator's outgoing queue has the State Inactive when the request is sent."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        get_outgoing_queue(session).State = OutgoingQueueState.INACTIVE


@fault("initiator-queue-state-not-set-to-waiting-in-retry", breaks="MQQB-3.1.5.2.3-16", blind=True)
class InitiatorQueueStateNotSetToWaitingInRetry(SessionEstablishing):
    """When the initiator sends the request of a retry, it leaves State of the outgoing queue at Disconnected."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        if session.is_retrying_connection and get_outgoing_queue(session).State is OutgoingQueueState.WAITING:
            get_outgoing_queue(session).State = OutgoingQueueState.DISCONNECTED


@fault("initiator-retry-replaces-queue-state-on-hold-by-waiting", breaks="MQQB-3.1.5.2.3-16", blind=True)
class InitiatorRetryReplacesQueueStateOnHoldByWaiting(SessionEstablishing):
    """When a retry sends the request, the initiator sets State of a queue that is OnHold to Waiting."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        get_outgoing_queue(session).State = OutgoingQueueState.WAITING


@fault("initiator-se-clear-in-retry-request-without-ping", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorSeClearInRetryRequestWithoutPing(SessionEstablishing):
    """The initiator clears SE in the EstablishConnection request of a retry, although no Ping Request was sent before
    the request.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        header = request.EstablishConnectionHeader
        if not session.is_retrying_connection:
            return request
        system = header.OperatingSystem & ~EstablishConnectionHeader.flags(SE=1)
        return replace(request, EstablishConnectionHeader=replace(header, OperatingSystem=system))
