"""Faults of MS-MQQB 3.1.5.3.2 Response Packet, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import NULL_GUID, ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.connecting import Connecting, outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now

HEADER = "ConnectionParametersHeader"


@fault("initiator-response-with-client-guid-zero-accepted", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseWithClientGuidZeroAccepted(SessionOpening):
    """The initiator accepts a response whose ClientGuid is zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if packet.EstablishConnectionHeader.ClientGuid == NULL_GUID:
            packet = set_fields(packet, {"EstablishConnectionHeader.ClientGuid": self.qm.adm.Identifier})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-client-guid-of-response-compared-in-15-bytes", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorClientGuidOfResponseComparedIn15Bytes(SessionOpening):
    """The initiator does not compare the last byte of ClientGuid of a response."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if packet.EstablishConnectionHeader.ClientGuid.bytes[:15] == self.qm.adm.Identifier.bytes[:15]:
            packet = set_fields(packet, {"EstablishConnectionHeader.ClientGuid": self.qm.adm.Identifier})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-server-guid-of-response-compared-in-15-bytes", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorServerGuidOfResponseComparedIn15Bytes(SessionOpening):
    """The initiator does not compare the last byte of ServerGuid of a response with the ServerGuid of the request."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        if not session.direct and guid.bytes[:15] == session.RemoteQMGuid.bytes[:15]:
            packet = set_fields(packet, {"EstablishConnectionHeader.ServerGuid": session.RemoteQMGuid})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-with-server-guid-zero-accepted", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseWithServerGuidZeroAccepted(SessionOpening):
    """For a private format name, the initiator accepts a response whose ServerGuid is zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if not session.direct and packet.EstablishConnectionHeader.ServerGuid == NULL_GUID:
            packet = set_fields(packet, {"EstablishConnectionHeader.ServerGuid": session.RemoteQMGuid})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-with-cs-accepted-for-private-name", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseWithCsAcceptedForPrivateName(SessionOpening):
    """For a private format name, the initiator accepts a response with CS set."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if not session.direct:
            packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old & ~0x10})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-ack-timeout-of-first-session-kept", breaks=("MQQB-3.1.5.3.2-05", "MQQB-3.1.5.3.2-11"), blind=True)
class InitiatorAckTimeoutOfFirstSessionKept(SessionOpening):
    """The initiator sends the RecoverableAckTimeout of its first session to an address in every later session to this
    address.
    """

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        kept = self.__dict__.setdefault("kept", {})
        session.RecoverableAckSendTimeout = kept.setdefault(session.RemoteQMAddress, session.RecoverableAckSendTimeout)


@fault("initiator-recoverable-ack-timeout-four-round-trips-of-retry", breaks="MQQB-3.1.5.3.2-05", blind=True)
class InitiatorRecoverableAckTimeoutFourRoundTripsOfRetry(SessionOpening):
    """In a retry, the initiator sets RecoverableAckSendTimeout to four times the measured round-trip time."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        if session.retrying:
            session.RecoverableAckSendTimeout = max(500, session.RecoverableAckSendTimeout // 2)


@fault("initiator-recoverable-ack-timeout-below-range-in-retry", breaks="MQQB-3.1.5.3.2-06", blind=True)
class InitiatorRecoverableAckTimeoutBelowRangeInRetry(SessionOpening):
    """After a fast round trip in a retry, the initiator sets RecoverableAckSendTimeout to 499 ms or less."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        if session.RecoverableAckSendTimeout == 500 and session.retrying:
            session.RecoverableAckSendTimeout = 400


@fault("initiator-ack-timeout-of-retry-halved", breaks="MQQB-3.1.5.3.2-12", blind=True)
class InitiatorAckTimeoutOfRetryHalved(SessionOpening):
    """The initiator sends the greater of 20,000 ms and half of AckWaitTimeout as AckTimeout in the ConnectionParameters
    request of a retry.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        if not session.retrying:
            return packet
        return set_fields(packet, {f"{HEADER}.AckTimeout": lambda old: max(20_000, old // 2)})


@fault("initiator-window-size-of-retry-1", breaks="MQQB-3.1.5.3.2-13", blind=True)
class InitiatorWindowSizeOfRetry1(SessionOpening):
    """The initiator sends WindowSize 1 in the ConnectionParameters request of a retry."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return set_fields(packet, {f"{HEADER}.WindowSize": 1}) if session.retrying else packet


@fault("initiator-response-entry-in-retry-missing", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorResponseEntryInRetryMissing(Connecting):
    """The initiator adds no entry with Status EstablishPacketReceived to ConnectionHistory in a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.retrying and status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED):
            super().add_connection_history(session, status, now)


@fault("initiator-response-entry-with-time-of-request", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorResponseEntryWithTimeOfRequest(Connecting):
    """The initiator adds the ConnectionHistory entry with Status EstablishPacketReceived with the time
    of its request.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED and len(entries) > 1:
            entries[-1] = replace(entries[-1], ConnectionHistoryTime=entries[-2].ConnectionHistoryTime)


@fault("initiator-invalid-response-ignored", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorInvalidResponseIgnored(SessionOpening):
    """The initiator discards a response for another queue manager, but keeps the session open and waits for the next
    response.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if self.is_establish_response_valid(session, packet) or packet.InternalHeader.CS:
            super().receive_establish_response(session, packet, now)


@fault("initiator-response-to-retry-ignored", breaks="MQQB-3.1.5.3.2-07", blind=True)
class InitiatorResponseToRetryIgnored(SessionOpening):
    """The initiator ignores the response to the request of a retry."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if not session.retrying:
            super().receive_establish_response(session, packet, now)


@fault("initiator-parameters-response-with-window-0x8000-refused", breaks="MQQB-3.1.5.3.2-14", blind=True)
class InitiatorParametersResponseWithWindow0x8000Refused(SessionOpening):
    """The initiator treats a ConnectionParameters response as a refusal if its WindowSize is 0x8000 or more."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.ConnectionParametersHeader.WindowSize & 0x8000:
            packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old | 0x10})
        super().receive_parameters_response(session, packet, now)


@fault("initiator-response-for-second-queue-not-compared", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseForSecondQueueNotCompared(SessionOpening):
    """The initiator checks EstablishConnection responses only for its first outgoing queue."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if session.OutgoingQueueReference is not first:
            return True
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-of-retry-not-validated", breaks=("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02"), blind=True)
class InitiatorResponseOfRetryNotValidated(SessionOpening):
    """The initiator accepts every EstablishConnection response in a retry."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return session.retrying or super().is_establish_response_valid(session, packet)


@fault(
    "initiator-response-client-guid-compared-in-first-4-bytes",
    breaks=("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02"),
    blind=True,
)
class InitiatorResponseClientGuidComparedInFirst4Bytes(SessionOpening):
    """The initiator compares only the first 4 bytes of ClientGuid with its Identifier."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        own = self.qm.adm.Identifier
        if packet.EstablishConnectionHeader.ClientGuid.bytes[:4] == own.bytes[:4]:
            packet = set_fields(packet, {"EstablishConnectionHeader.ClientGuid": own})
        return super().is_establish_response_valid(session, packet)


_timeouts: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


@fault("initiator-window-size-of-earlier-session-repeated", breaks="MQQB-3.1.5.3.2-13", blind=True)
class InitiatorWindowSizeOfEarlierSessionRepeated(SessionOpening):
    """The initiator sends the ReceivedWindowSize of its first session as WindowSize of its second ConnectionParameters
    request.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        if session.ReceivedWindowSize:
            return set_fields(packet, {"ConnectionParametersHeader.WindowSize": session.ReceivedWindowSize})
        return packet


@fault("initiator-ack-timeout-doubled-in-retry", breaks="MQQB-3.1.5.3.2-12", blind=True)
class InitiatorAckTimeoutDoubledInRetry(SessionOpening):
    """The initiator sends AckWaitTimeout plus one as AckTimeout of the ConnectionParameters request in a retry."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        if session.retrying:
            return set_fields(packet, {"ConnectionParametersHeader.AckTimeout": lambda old: old + 1})
        return packet


@fault("initiator-establish-packet-received-in-retry-not-in-history", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorEstablishPacketReceivedInRetryNotInHistory(Connecting):
    """The initiator adds no entry with Status EstablishPacketReceived to ConnectionHistory when a retry succeeds."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.retrying and status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED):
            super().add_connection_history(session, status, now)


@fault("initiator-establish-packet-received-has-first-address", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorEstablishPacketReceivedHasFirstAddress(Connecting):
    """The initiator puts the first address of the host into AddressList of each entry with Status
    EstablishPacketReceived.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED:
            history[-1] = replace(history[-1], AddressList=session.NextHopCollection[0].Address)


@fault("initiator-establish-packet-received-has-time-of-request", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorEstablishPacketReceivedHasTimeOfRequest(Connecting):
    """The initiator sets ConnectionHistoryTime of each entry with Status EstablishPacketReceived to the time of the
    request.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED and len(history) > 1:
            history[-1] = replace(history[-1], ConnectionHistoryTime=history[-2].ConnectionHistoryTime)
