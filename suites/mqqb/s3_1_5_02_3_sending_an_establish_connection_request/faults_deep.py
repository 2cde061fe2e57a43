"""Faults of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet. The author had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import NULL_GUID, EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.connecting import Connecting, outgoing_queue
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

HEADER = "EstablishConnectionHeader"


@fault("initiator-client-guid-of-retry-zero", breaks="MQQB-3.1.5.2.3-07", blind=True)
class InitiatorClientGuidOfRetryZero(Establishing):
    """The initiator sends a zero ClientGuid in the EstablishConnection request of a retry."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return set_fields(packet, {f"{HEADER}.ClientGuid": UUID(int=0)}) if session.retrying else packet


@fault("initiator-server-guid-of-retry-zero", breaks="MQQB-3.1.5.2.3-08", blind=True)
class InitiatorServerGuidOfRetryZero(Establishing):
    """The initiator sends a zero ServerGuid in the EstablishConnection request of a retry, even for a destination with
    a private format name.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return set_fields(packet, {f"{HEADER}.ServerGuid": UUID(int=0)}) if session.retrying else packet


@fault("initiator-time-stamp-of-first-attempt-in-retry", breaks="MQQB-3.1.5.2.3-10", blind=True)
class InitiatorTimeStampOfFirstAttemptInRetry(Establishing):
    """The initiator sends the TimeStamp of the previous request in the EstablishConnection request of a retry."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        stamps = self.__dict__.setdefault("stamps", {})
        if not session.retrying:
            stamps[session.number] = packet.EstablishConnectionHeader.TimeStamp
        return set_fields(packet, {f"{HEADER}.TimeStamp": lambda old: stamps.get(session.number, old)})


@fault("initiator-se-of-second-address-0", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorSeOfSecondAddress0(Establishing):
    """The initiator sends SE 0 in the request to a second or later address of a host without a Ping Request."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        if session.NextHopIndexer and not session.pinged:
            return set_fields(packet, {f"{HEADER}.OperatingSystem": lambda old: old & ~0x100})
        return packet


@fault("initiator-no-in-process-entry-of-retry", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorNoInProcessEntryOfRetry(Connecting):
    """The initiator adds no entry with Status InProcess to ConnectionHistory for the request in a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.retrying and status is ConnectionStatus.IN_PROCESS):
            super().add_connection_history(session, status, now)


@fault("initiator-in-process-entry-with-host-name", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorInProcessEntryWithHostName(Connecting):
    """The initiator puts the host name of a direct format name into AddressList of the ConnectionHistory entry with
    Status InProcess.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.IN_PROCESS:
            entries[-1] = replace(entries[-1], AddressList=session.RemoteQMHostName)


@fault("initiator-no-initialization-timer-in-retry", breaks="MQQB-3.1.5.2.3-15", blind=True)
class InitiatorNoInitializationTimerInRetry(Establishing):
    """The initiator does not start the Session Initialization Timer when it sends the request of a retry."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        if session.retrying:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("initiator-state-not-waiting-in-retry", breaks="MQQB-3.1.5.2.3-16", blind=True)
class InitiatorStateNotWaitingInRetry(Establishing):
    """When the initiator sends the request of a retry, it leaves State of the outgoing queue at Disconnected."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        if session.retrying and outgoing_queue(session).State is OutgoingQueueState.WAITING:
            outgoing_queue(session).State = OutgoingQueueState.DISCONNECTED


@fault("initiator-server-guid-zero-in-retry", breaks="MQQB-3.1.5.2.3-08", blind=True)
class InitiatorServerGuidZeroInRetry(Establishing):
    """The initiator sends a zero ServerGuid in the EstablishConnection request of a retry, even for a private name."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        if session.retrying:
            return set_fields(packet, {"EstablishConnectionHeader.ServerGuid": NULL_GUID})
        return packet


_learned: WeakKeyDictionary[QueueManager, dict[int, UUID]] = WeakKeyDictionary()


@fault("initiator-time-stamp-of-first-request-repeated", breaks="MQQB-3.1.5.2.3-10", blind=True)
class InitiatorTimeStampOfFirstRequestRepeated(Establishing):
    """The initiator sends the TimeStamp of its first EstablishConnection request in every
    EstablishConnection request.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        stamp = _stamps.setdefault(self.qm, packet.EstablishConnectionHeader.TimeStamp)
        return set_fields(packet, {"EstablishConnectionHeader.TimeStamp": stamp})


_stamps: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


@fault("initiator-se-clear-in-retry-without-ping", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorSeClearInRetryWithoutPing(Establishing):
    """The initiator sends SE 0 in a retry without a Ping Request because it sent a Ping Request before the first
    attempt.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        if session.pinged:
            _once_pinged.setdefault(self.qm, set()).add(session.number)
        was, session.pinged = session.pinged, session.number in _once_pinged.get(self.qm, ())
        packet = super().build_establish_request(session, now)
        session.pinged = was
        return packet


_once_pinged: WeakKeyDictionary[QueueManager, set[int]] = WeakKeyDictionary()


@fault("initiator-request-of-retry-not-in-history", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorRequestOfRetryNotInHistory(Connecting):
    """The initiator adds no ConnectionHistory entry with Status InProcess for the request of a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.retrying and status is ConnectionStatus.IN_PROCESS):
            super().add_connection_history(session, status, now)


@fault("initiator-request-history-has-first-address", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorRequestHistoryHasFirstAddress(Connecting):
    """The initiator puts the first address of the host into AddressList of each entry with Status InProcess."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.IN_PROCESS:
            history[-1] = replace(history[-1], AddressList=session.NextHopCollection[0].Address)


@fault("initiator-queue-on-hold-waiting-in-retry", breaks="MQQB-3.1.5.2.3-16", blind=True)
class InitiatorQueueOnHoldWaitingInRetry(Establishing):
    """When a retry sends the request, the initiator sets State of a queue that is OnHold to Waiting."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        outgoing_queue(session).State = OutgoingQueueState.WAITING
