"""Faults of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet. The author had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.connecting import Connecting, outgoing_queue
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

HEADER = "EstablishConnectionHeader"


@fault("initiator-client-guid-of-retry-zero", breaks="MQQB-3.1.5.2.3-07", blind=True)
class RetryWithoutClientGuid(Establishing):
    """ClientGuid of the request in a retry is zero."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return set_fields(packet, {f"{HEADER}.ClientGuid": UUID(int=0)}) if session.retrying else packet


@fault("initiator-server-guid-of-retry-zero", breaks="MQQB-3.1.5.2.3-08", blind=True)
class RetryWithoutServerGuid(Establishing):
    """ServerGuid of the request in a retry is zero, even for a destination with a private format name."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return set_fields(packet, {f"{HEADER}.ServerGuid": UUID(int=0)}) if session.retrying else packet


@fault("initiator-time-stamp-of-first-attempt-in-retry", breaks="MQQB-3.1.5.2.3-10", blind=True)
class FirstTimeStamp(Establishing):
    """The initiator sends the TimeStamp of the previous request in the EstablishConnection request of a retry."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        stamps = self.__dict__.setdefault("stamps", {})
        if not session.retrying:
            stamps[session.number] = packet.EstablishConnectionHeader.TimeStamp
        return set_fields(packet, {f"{HEADER}.TimeStamp": lambda old: stamps.get(session.number, old)})


@fault("initiator-se-of-second-address-0", breaks="MQQB-3.1.5.2.3-11", blind=True)
class RetryWithoutSe(Establishing):
    """The initiator sends SE 0 in the request to a second or later address of a host without a Ping Request."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        if session.NextHopIndexer and not session.pinged:
            return set_fields(packet, {f"{HEADER}.OperatingSystem": lambda old: old & ~0x100})
        return packet


@fault("initiator-no-in-process-entry-of-retry", breaks="MQQB-3.1.5.2.3-14", blind=True)
class RetryWithoutEntry(Connecting):
    """The initiator adds no entry with Status InProcess to ConnectionHistory for the request in a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.retrying and status is ConnectionStatus.IN_PROCESS):
            super().add_connection_history(session, status, now)


@fault("initiator-in-process-entry-with-host-name", breaks="MQQB-3.1.5.2.3-14", blind=True)
class HostNameInEntry(Connecting):
    """AddressList of the ConnectionHistory entry with Status InProcess is the host name from a direct format name."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.IN_PROCESS:
            entries[-1] = replace(entries[-1], AddressList=session.RemoteQMHostName)


@fault("initiator-no-initialization-timer-in-retry", breaks="MQQB-3.1.5.2.3-15", blind=True)
class RetryWithoutTimer(Establishing):
    """The initiator does not start the Session Initialization Timer when it sends the request of a retry."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        if session.retrying:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("initiator-state-not-waiting-in-retry", breaks="MQQB-3.1.5.2.3-16", blind=True)
class RetryInactive(Establishing):
    """State of the outgoing queue stays Disconnected when the initiator sends the request of a retry."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        if session.retrying and outgoing_queue(session).State is OutgoingQueueState.WAITING:
            outgoing_queue(session).State = OutgoingQueueState.DISCONNECTED
