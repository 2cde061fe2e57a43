"""Faults of MS-MQQB 2.2.1 InternalHeader that occur only for one kind of packet, in one role or in one state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.fields import bit_set, field_is, sent_as
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    InternalHeader,
    Packet,
    SessionAckPacket,
    UnknownInternalPacket,
)
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


def _make_role_refuse_packet(kind: type[Packet], when: Callable[[Any], Any], *, initiator: bool) -> Install:
    """Return a function that installs a fault: the queue manager in the given role refuses packets of one kind that
    meet a condition.
    """

    class Refusing(Identifying):
        def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
            try:
                packet: Any = self.identify_packet(data)
            except FormatError:
                packet = None
            if isinstance(packet, kind) and session.initiator is initiator and when(packet):
                error = FormatError("InternalHeader", 16, "a fault", "the value is refused")
                self.qm.closing.refuse_malformed(session, error, now)
                return
            super().receive_packet(session, data, now)

    return replace_part(Refusing)


def _has_flag(mask: int) -> Callable[[Any], Any]:
    return lambda packet: packet.InternalHeader.Flags & mask


add(
    "initiator-session-ack-internal-header-reserved-refused",
    "MQQB-2.2.1-01",
    "The initiator refuses a SessionAck whose InternalHeader.Reserved is not zero.",
    _make_role_refuse_packet(SessionAckPacket, lambda packet: packet.InternalHeader.Reserved, initiator=True),
)
add(
    "acceptor-session-ack-internal-header-high-reserved-refused",
    "MQQB-2.2.1-01",
    "The acceptor refuses a SessionAck whose InternalHeader.Reserved is 0x8000 or more.",
    _make_role_refuse_packet(SessionAckPacket, lambda packet: packet.InternalHeader.Reserved & 0x8000, initiator=False),
)
add(
    "initiator-parameters-request-internal-header-reserved-1",
    "MQQB-2.2.1-01",
    "The initiator sends 1 in InternalHeader.Reserved of its ConnectionParameters request.",
    sent_as("initiator", field_is(ConnectionParametersPacket, "InternalHeader.Reserved", 1)),
)
for kind, bit, rule, role in (
    (SessionAckPacket, "X5", "MQQB-2.2.1-07", "acceptor"),
    (SessionAckPacket, "X8", "MQQB-2.2.1-10", "initiator"),
    (EstablishConnectionPacket, "X10", "MQQB-2.2.1-12", "initiator"),
    (ConnectionParametersPacket, "X12", "MQQB-2.2.1-14", "initiator"),
    (ConnectionParametersPacket, "X15", "MQQB-2.2.1-17", "acceptor"),
):
    _mask = InternalHeader.flags(**{bit: 1})
    _name = kind.__name__.removesuffix("Packet")
    add(
        f"{role}-{_name.lower()}-with-{bit.lower()}-refused",
        rule,
        f"The {role} refuses a {_name} packet in which InternalHeader.Flags.{bit} is set.",
        _make_role_refuse_packet(kind, _has_flag(_mask), initiator=role == "initiator"),
    )


@fault("acceptor-packet-type-9-read-as-session-ack", breaks="MQQB-2.2.1-03")
class AcceptorPacketType9ReadAsSessionAck(Identifying):
    """The acceptor ignores an internal packet whose PT is 8 or more."""

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        try:
            packet: Any = self.identify_packet(data)
        except FormatError:
            packet = None
        if isinstance(packet, UnknownInternalPacket) and packet.InternalHeader.PT >= 8 and not session.initiator:
            return
        super().receive_packet(session, data, now)


@fault("initiator-unknown-packet-type-before-open-ignored", breaks="MQQB-2.2.1-03")
class InitiatorUnknownPacketTypeBeforeOpenIgnored(Closing):
    """The initiator ignores an internal packet with an unknown PT while it waits for a response."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        waits = session.SessionState.value in ("WAITING_ECR_MSG", "WAITING_CPR_MSG")
        if not (session.initiator and waits and "PT" in str(error)):
            super().refuse_malformed(session, error, now)


add(
    "acceptor-recoverable-session-ack-cs-set",
    "MQQB-2.2.1-04",
    "The acceptor sets CS in a SessionAck that acknowledges a recoverable message.",
    sent_as(
        "acceptor",
        bit_set(SessionAckPacket, "InternalHeader.CS", lambda packet: packet.SessionHeader.RecoverableMsgAckFlags),
    ),
)


@fault("acceptor-guid-with-own-first-bytes-accepted", breaks="MQQB-2.2.1-05")
class AcceptorGuidWithOwnFirstBytesAccepted(SessionOpening):
    """The acceptor compares only the first field of ServerGuid with its own GUID."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        return guid == NULL_GUID or guid.time_low == self.qm.adm.Identifier.time_low


@fault("acceptor-guid-of-client-accepted", breaks="MQQB-2.2.1-05")
class AcceptorGuidOfClientAccepted(SessionOpening):
    """The acceptor leaves CS clear if ServerGuid of a request equals ClientGuid of the request."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        return header.ServerGuid == header.ClientGuid or super().is_establish_request_valid(packet)


@fault("acceptor-request-beyond-limit-refused-once", breaks="MQQB-2.2.1-06")
class AcceptorRequestBeyondLimitRefusedOnce(SessionOpening):
    """The acceptor sets CS only in the response to the first request that exceeds its limit of sessions."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if self.qm.connecting.is_session_acceptable():
            super().receive_establish_request(session, packet, now)
        elif self.__dict__.get("refused"):
            self.qm.closing.close(session, "a fault", now)
        else:
            self.__dict__["refused"] = True
            super().receive_establish_request(session, packet, now)


@fault("acceptor-direct-request-beyond-limit-closed-without-cs", breaks="MQQB-2.2.1-06")
class AcceptorDirectRequestBeyondLimitClosedWithoutCs(SessionOpening):
    """The acceptor closes the session without a response if a request with zero ServerGuid exceeds its limit of
    sessions.
    """

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        direct = packet.EstablishConnectionHeader.ServerGuid == NULL_GUID
        if direct and not self.qm.connecting.is_session_acceptable():
            self.qm.closing.close(session, "a fault", now)
            return
        super().receive_establish_request(session, packet, now)
