"""Faults that break the rules MQQB-3.1.5.3.2-01 to MQQB-3.1.5.3.2-06."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import NULL_GUID, EstablishConnectionPacket
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import (
    RECOVERABLE_ACK_TIMEOUT_RANGE_MS,
    ROUND_TRIPS_PER_ACK_TIMEOUT,
    SessionOpening,
)
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-invalid-establish-connection-response-accepted", breaks=("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02"))
class InitiatorInvalidEstablishConnectionResponseAccepted(SessionOpening):
    """The initiator accepts every EstablishConnection response as valid."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return True


@fault("initiator-client-guid-of-response-compared-by-first-8-bytes", breaks="MQQB-3.1.5.3.2-01")
class InitiatorClientGuidOfResponseComparedByFirst8Bytes(SessionOpening):
    """The initiator accepts a response whose ClientGuid equals its Identifier only in the first 8 bytes."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        if header.ClientGuid.bytes_le[:8] == self.qm.adm.Identifier.bytes_le[:8]:
            packet = replace(packet, EstablishConnectionHeader=replace(header, ClientGuid=self.qm.adm.Identifier))
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-to-retried-request-not-validated", breaks=("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02"))
class InitiatorResponseToRetriedRequestNotValidated(SessionOpening):
    """The initiator accepts any response to an EstablishConnection request that it sends in a retry."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return session.is_retrying_connection or super().is_establish_response_valid(session, packet)


@fault("initiator-accepts-any-client-guid-in-response-for-guid-name", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorAcceptsAnyClientGuidInResponseForGuidName(SessionOpening):
    """The initiator of a session for a private or public format name does not check ClientGuid of the response."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if not session.is_destination_direct:
            own = self.qm.adm.Identifier
            packet = set_fields(packet, {"EstablishConnectionHeader.ClientGuid": own})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-with-client-guid-zero-accepted", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseWithClientGuidZeroAccepted(SessionOpening):
    """The initiator accepts a response whose ClientGuid is zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if packet.EstablishConnectionHeader.ClientGuid == NULL_GUID:
            packet = set_fields(packet, {"EstablishConnectionHeader.ClientGuid": self.qm.adm.Identifier})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-last-byte-of-client-guid-in-response-not-compared", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorLastByteOfClientGuidInResponseNotCompared(SessionOpening):
    """The initiator does not compare the last byte of ClientGuid of a response."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if packet.EstablishConnectionHeader.ClientGuid.bytes[:15] == self.qm.adm.Identifier.bytes[:15]:
            packet = set_fields(packet, {"EstablishConnectionHeader.ClientGuid": self.qm.adm.Identifier})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-last-byte-of-server-guid-in-response-not-compared", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorLastByteOfServerGuidInResponseNotCompared(SessionOpening):
    """The initiator does not compare the last byte of ServerGuid of a response with the ServerGuid of the request."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        if not session.is_destination_direct and guid.bytes[:15] == session.RemoteQMGuid.bytes[:15]:
            packet = set_fields(packet, {"EstablishConnectionHeader.ServerGuid": session.RemoteQMGuid})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-with-server-guid-zero-accepted", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseWithServerGuidZeroAccepted(SessionOpening):
    """For a private format name, the initiator accepts a response whose ServerGuid is zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if not session.is_destination_direct and packet.EstablishConnectionHeader.ServerGuid == NULL_GUID:
            packet = set_fields(packet, {"EstablishConnectionHeader.ServerGuid": session.RemoteQMGuid})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-with-cs-accepted-for-private-name", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseWithCsAcceptedForPrivateName(SessionOpening):
    """For a private format name, the initiator accepts a response with CS set."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if not session.is_destination_direct:
            packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old & ~0x10})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-invalid-response-ignored", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorInvalidResponseIgnored(SessionOpening):
    """The initiator discards a response for another queue manager, but keeps the session open and waits for the next
    response.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if self.is_establish_response_valid(session, packet) or packet.InternalHeader.CS:
            super().receive_establish_response(session, packet, now)


@fault("initiator-establish-response-for-second-queue-not-validated", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorEstablishResponseForSecondQueueNotValidated(SessionOpening):
    """The initiator checks EstablishConnection responses only for its first outgoing queue."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if session.OutgoingQueueReference is not first:
            return True
        return super().is_establish_response_valid(session, packet)


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


def _change_measured_round_trip(
    change: Callable[[EstablishConnectionPacket, Now, Now], tuple[EstablishConnectionPacket, Now]],
) -> Install:
    """Change the measured round-trip time; the arguments of ``change`` are the response, the time of the request, and
    the current time.
    """

    def install_changed_round_trip(faulty: FaultyCore) -> None:
        sent: dict[int, Now] = {}

        class RequestTimeRecorder(SessionEstablishing):
            def send_establish_request(self, session: Session, now: Now) -> None:
                sent[session.number] = now
                super().send_establish_request(session, now)

        class RoundTripChanged(SessionOpening):
            def set_recoverable_ack_timeout(
                self, session: Session, packet: EstablishConnectionPacket, now: Now
            ) -> None:
                super().set_recoverable_ack_timeout(session, *change(packet, sent[session.number], now))

        replace_part_by_subclass(faulty.core, RequestTimeRecorder)
        replace_part_by_subclass(faulty.core, RoundTripChanged)

    return install_changed_round_trip


add(
    "initiator-round-trip-ends-at-request",
    "MQQB-3.1.5.3.2-03",
    "The initiator measures the round trip only until it sends the request.",
    _change_measured_round_trip(lambda packet, sent, now: (packet, sent)),
)


def _measure_round_trip_from_own_request_time(
    packet: EstablishConnectionPacket, sent: Now, now: Now
) -> tuple[EstablishConnectionPacket, Now]:
    return set_fields(packet, {"EstablishConnectionHeader.TimeStamp": sent.monotonic_ms & 0xFFFFFFFF}), now


add(
    "initiator-round-trip-ignores-timestamp",
    "MQQB-3.1.5.3.2-04",
    "The initiator measures the round trip from its own clock instead of TimeStamp in the response.",
    _change_measured_round_trip(_measure_round_trip_from_own_request_time),
)


@fault("initiator-recoverable-ack-timeout-is-four-round-trips", breaks="MQQB-3.1.5.3.2-05")
class InitiatorRecoverableAckTimeoutIsFourRoundTrips(SessionOpening):
    """The initiator sets RecoverableAckSendTimeout to four times the round-trip time."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        session.RecoverableAckSendTimeout = max(
            session.RecoverableAckSendTimeout // 2, RECOVERABLE_ACK_TIMEOUT_RANGE_MS[0]
        )


@fault("initiator-round-trip-in-whole-seconds", breaks="MQQB-3.1.5.3.2-05", blind=True)
class InitiatorRoundTripInWholeSeconds(SessionOpening):
    """The initiator measures the round trip in whole seconds."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        header = packet.EstablishConnectionHeader
        took_ms = (now.monotonic_ms - header.TimeStamp & 0xFFFFFFFF) // 1000 * 1000
        whole = replace(header, TimeStamp=now.monotonic_ms - took_ms & 0xFFFFFFFF)
        super().set_recoverable_ack_timeout(session, replace(packet, EstablishConnectionHeader=whole), now)


@fault(
    "initiator-recoverable-ack-timeout-of-first-session-repeated",
    breaks=("MQQB-3.1.5.3.2-05", "MQQB-3.1.5.3.2-11"),
    blind=True,
)
class InitiatorRecoverableAckTimeoutOfFirstSessionRepeated(SessionOpening):
    """The initiator sends the RecoverableAckTimeout of its first session to an address in every later session to this
    address.
    """

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        kept = self.__dict__.setdefault("kept", {})
        session.RecoverableAckSendTimeout = kept.setdefault(session.RemoteQMAddress, session.RecoverableAckSendTimeout)


@fault("initiator-recoverable-ack-timeout-is-four-round-trips-in-retry", breaks="MQQB-3.1.5.3.2-05", blind=True)
class InitiatorRecoverableAckTimeoutIsFourRoundTripsInRetry(SessionOpening):
    """In a retry, the initiator sets RecoverableAckSendTimeout to four times the measured round-trip time."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        if session.is_retrying_connection:
            session.RecoverableAckSendTimeout = max(500, session.RecoverableAckSendTimeout // 2)


@fault("initiator-recoverable-ack-timeout-unlimited", breaks="MQQB-3.1.5.3.2-06")
class InitiatorRecoverableAckTimeoutUnlimited(SessionOpening):
    """The initiator computes RecoverableAckSendTimeout without the lower and upper limit."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        sent = packet.EstablishConnectionHeader.TimeStamp
        session.RecoverableAckSendTimeout = 8 * (now.monotonic_ms - sent & 0xFFFFFFFF)


@fault("initiator-recoverable-ack-timeout-at-most-60-s", breaks="MQQB-3.1.5.3.2-06", blind=True)
class InitiatorRecoverableAckTimeoutAtMost60S(SessionOpening):
    """The initiator's RecoverableAckSendTimeout is at most one minute."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("initiator-recoverable-ack-timeout-below-range-in-retry", breaks="MQQB-3.1.5.3.2-06", blind=True)
class InitiatorRecoverableAckTimeoutBelowRangeInRetry(SessionOpening):
    """After a fast round trip in a retry, the initiator sets RecoverableAckSendTimeout to 499 ms or less."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        if session.RecoverableAckSendTimeout == 500 and session.is_retrying_connection:
            session.RecoverableAckSendTimeout = 400


@fault("initiator-recoverable-ack-timeout-of-1-to-499-ms-not-raised", breaks="MQQB-3.1.5.3.2-06", blind=True)
class InitiatorRecoverableAckTimeoutOf1To499MsNotRaised(SessionOpening):
    """The initiator raises a RecoverableAckSendTimeout of 0 to 500 ms, but keeps the values from 1 to 499 ms, to which
    a short round trip leads.
    """

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
        timeout_ms = round_trip_ms * ROUND_TRIPS_PER_ACK_TIMEOUT
        if 0 < timeout_ms < session.RecoverableAckSendTimeout:
            session.RecoverableAckSendTimeout = timeout_ms
