"""Faults that break rules of MS-MQQB 3.1.5.3.2 Response Packet only for one cause or kind of session."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import (
    change_sent_packet,
    clear_internal_flag,
    double_packet_bytes,
    has_earlier_request,
    has_other_session,
    is_destination_guid,
    set_packet_type,
    set_refusal_flag,
    was_ping_sent_before_session,
    withhold_packet,
)
from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

add(
    "initiator-parameters-request-in-clear-on-later-connection",
    "MQQB-3.1.5.3.2-08",
    "The initiator sends a ConnectionParameters request with IN clear on a later connection to the same destination.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, has_earlier_request),
    blind=True,
)

add(
    "initiator-parameters-request-in-clear-to-guid",
    "MQQB-3.1.5.3.2-08",
    "The initiator sends a ConnectionParameters request with IN clear if the destination has no direct format name.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, is_destination_guid),
    blind=True,
)

add(
    "initiator-parameters-request-in-clear-beside-other-session",
    ("MQQB-3.1.5.3.2-08", "MQMQ-2.2.19.1-05"),
    "The initiator sends a ConnectionParameters request with IN clear while another session is open.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, has_other_session),
    blind=True,
)

add(
    "initiator-parameters-request-type-2-on-later-connection",
    "MQQB-3.1.5.3.2-09",
    "The initiator sends a ConnectionParameters request with PT 2 on a later connection to the same destination.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(2), has_earlier_request),
    blind=True,
)

add(
    "initiator-parameters-request-type-2-to-guid",
    "MQQB-3.1.5.3.2-09",
    "The initiator sends a ConnectionParameters request with PT 2 if the destination has no direct format name.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(2), is_destination_guid),
    blind=True,
)

add(
    "initiator-parameters-request-type-2-after-ping",
    "MQQB-3.1.5.3.2-09",
    "The initiator sends a ConnectionParameters request with PT 2 if a Ping Request was sent before.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(2), was_ping_sent_before_session),
    blind=True,
)

add(
    "initiator-parameters-request-cs-set-on-later-connection",
    "MQQB-3.1.5.3.2-10",
    "The initiator sends a ConnectionParameters request with CS set on a later connection to the same destination.",
    change_sent_packet(ConnectionParametersPacket, set_refusal_flag, has_earlier_request),
    blind=True,
)

add(
    "initiator-parameters-request-cs-set-to-guid",
    "MQQB-3.1.5.3.2-10",
    "The initiator sends a ConnectionParameters request with CS set if the destination has no direct format name.",
    change_sent_packet(ConnectionParametersPacket, set_refusal_flag, is_destination_guid),
    blind=True,
)

add(
    "initiator-parameters-request-cs-set-beside-other-session",
    "MQQB-3.1.5.3.2-10",
    "The initiator sends a ConnectionParameters request with CS set while another session is open.",
    change_sent_packet(ConnectionParametersPacket, set_refusal_flag, has_other_session),
    blind=True,
)

add(
    "initiator-parameters-request-missing-on-later-connection",
    "MQQB-3.1.5.3.2-07",
    "The initiator does not send a ConnectionParameters request on a later connection to the same destination.",
    change_sent_packet(ConnectionParametersPacket, withhold_packet, has_earlier_request),
    blind=True,
)

add(
    "initiator-parameters-request-missing-to-guid",
    "MQQB-3.1.5.3.2-07",
    "The initiator does not send a ConnectionParameters request if the destination has no direct format name.",
    change_sent_packet(ConnectionParametersPacket, withhold_packet, is_destination_guid),
    blind=True,
)

add(
    "initiator-parameters-request-twice-beside-other-session",
    "MQQB-3.1.5.3.2-07",
    "The initiator sends a ConnectionParameters request twice while another session is open.",
    change_sent_packet(ConnectionParametersPacket, double_packet_bytes, has_other_session),
    blind=True,
)


class _RoundTripFault(SessionOpening):
    """The initiator computes the round-trip time as if the response had a different TimeStamp, or had arrived at a
    different time.
    """

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        start, end = self.change_round_trip_times(session, packet.EstablishConnectionHeader.TimeStamp, now.monotonic_ms)
        header = replace(packet.EstablishConnectionHeader, TimeStamp=start & 0xFFFFFFFF)
        super().set_recoverable_ack_timeout(
            session, replace(packet, EstablishConnectionHeader=header), replace(now, monotonic_ms=end)
        )

    def change_round_trip_times(self, session: Session, start: int, end: int) -> tuple[int, int]:
        raise NotImplementedError


@fault("initiator-round-trip-of-later-connection-reused", breaks="MQQB-3.1.5.3.2-03", blind=True)
class InitiatorRoundTripOfLaterConnectionReused(_RoundTripFault):
    """On a later connection, the initiator uses the round-trip time of the first connection to the destination."""

    def change_round_trip_times(self, session: Session, start: int, end: int) -> tuple[int, int]:
        first = vars(self).setdefault("first", {}).setdefault(session.number, end - start)
        return start, start + first


@fault("initiator-round-trip-ends-at-full-second", breaks="MQQB-3.1.5.3.2-03", blind=True)
class InitiatorRoundTripEndsAtFullSecond(_RoundTripFault):
    """The initiator measures the round trip in full seconds."""

    def change_round_trip_times(self, session: Session, start: int, end: int) -> tuple[int, int]:
        return start, start + (end - start) // 1000 * 1000


@fault("initiator-late-response-counts-as-500-ms", breaks="MQQB-3.1.5.3.2-03", blind=True)
class InitiatorLateResponseCountsAs500Ms(_RoundTripFault):
    """The initiator treats a round-trip time above 500 ms as 500 ms."""

    def change_round_trip_times(self, session: Session, start: int, end: int) -> tuple[int, int]:
        return start, min(end, start + 500)


@fault("initiator-round-trip-ignores-time-stamp-on-later-connection", breaks="MQQB-3.1.5.3.2-04", blind=True)
class InitiatorRoundTripIgnoresTimeStampOnLaterConnection(_RoundTripFault):
    """On a later connection, the round trip of the initiator does not begin at the TimeStamp of the response."""

    def change_round_trip_times(self, session: Session, start: int, end: int) -> tuple[int, int]:
        return (end if has_earlier_request(self.qm, session, None) else start), end


@fault("initiator-round-trip-ignores-time-stamp-for-guid-destination", breaks="MQQB-3.1.5.3.2-04", blind=True)
class InitiatorRoundTripIgnoresTimeStampForGuidDestination(_RoundTripFault):
    """If the destination has no direct format name, the round trip does not begin at the TimeStamp of the response."""

    def change_round_trip_times(self, session: Session, start: int, end: int) -> tuple[int, int]:
        return (start if session.is_destination_direct else end), end


@fault("initiator-time-stamp-of-response-has-16-bits", breaks="MQQB-3.1.5.3.2-04", blind=True)
class InitiatorTimeStampOfResponseHas16Bits(_RoundTripFault):
    """The initiator uses only the lower 16 bits of the TimeStamp of the response."""

    def change_round_trip_times(self, session: Session, start: int, end: int) -> tuple[int, int]:
        return end - (end - start & 0xFFFF), end


@fault("initiator-answers-establish-response-for-non-direct-name", breaks="MQQB-3.1.5.3.2-D01", blind=True)
class InitiatorAnswersEstablishResponseForNonDirectName(SessionOpening):
    """If the destination has no direct format name, the initiator answers the response as if it was a request."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if session.is_destination_direct:
            super().receive_establish_response(session, packet, now)
        else:
            self.receive_establish_request(session, packet, now)


@fault("initiator-closes-session-at-response-later-than-1000-ms", breaks="MQQB-3.1.5.3.2-D01", blind=True)
class InitiatorClosesSessionAtResponseLaterThan1000Ms(SessionOpening):
    """The initiator closes the session if the response arrives more than a second after the request."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_INITIALIZATION, session.number)
        remaining = self.qm.timers.get_remaining_ms(key, now.monotonic_ms) or 0
        if self.qm.settings.session_initialization_ms // self.qm.settings.scale - remaining <= 1000:
            super().receive_establish_response(session, packet, now)
        else:
            self.qm.session_closing.close(session, "a fault", now)


@fault("initiator-ignores-parameters-response-on-later-connection", breaks="MQQB-3.1.5.3.2-14", blind=True)
class InitiatorIgnoresParametersResponseOnLaterConnection(SessionOpening):
    """On a later connection, the initiator ignores the ConnectionParameters response."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if not has_earlier_request(self.qm, session, packet):
            super().receive_parameters_response(session, packet, now)


@fault("initiator-answers-parameters-response-while-session-is-open", breaks="MQQB-3.1.5.3.2-14", blind=True)
class InitiatorAnswersParametersResponseWhileSessionIsOpen(SessionOpening):
    """While another session is open, the initiator answers the ConnectionParameters response as a request."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if has_other_session(self.qm, session, packet):
            self.receive_parameters_request(session, packet, now)
        else:
            super().receive_parameters_response(session, packet, now)


@fault("initiator-ignores-parameters-response-for-non-direct-name", breaks="MQQB-3.1.5.3.2-14", blind=True)
class InitiatorIgnoresParametersResponseForNonDirectName(SessionOpening):
    """The initiator ignores the ConnectionParameters response if the destination has no direct format name."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if session.is_destination_direct:
            super().receive_parameters_response(session, packet, now)
