"""Faults that break rules of MS-MQQB 2.2.1 InternalHeader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import clear_bits, limit_to_sender_role, register_refusal_faults, set_bits, set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import fall_silent_after_step, send_wrong_bytes, send_wrong_field_values, set_fields
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
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

register_refusal_faults(
    SessionAckPacket,
    ("receiver-internal-header-reserved-refused", "MQQB-2.2.1-01", "InternalHeader.Reserved"),
    ("receiver-internal-header-x5-refused", "MQQB-2.2.1-07", "InternalHeader.X5"),
    ("receiver-internal-header-x6-refused", "MQQB-2.2.1-08", "InternalHeader.X6"),
    ("receiver-internal-header-x7-refused", "MQQB-2.2.1-09", "InternalHeader.X7"),
    ("receiver-internal-header-x8-refused", "MQQB-2.2.1-10", "InternalHeader.X8"),
    ("receiver-internal-header-x9-refused", "MQQB-2.2.1-11", "InternalHeader.X9"),
    ("receiver-internal-header-x10-refused", "MQQB-2.2.1-12", "InternalHeader.X10"),
    ("receiver-internal-header-x11-refused", "MQQB-2.2.1-13", "InternalHeader.X11"),
    ("receiver-internal-header-x12-refused", "MQQB-2.2.1-14", "InternalHeader.X12"),
    ("receiver-internal-header-x13-refused", "MQQB-2.2.1-15", "InternalHeader.X13"),
    ("receiver-internal-header-x14-refused", "MQQB-2.2.1-16", "InternalHeader.X14"),
    ("receiver-internal-header-x15-refused", "MQQB-2.2.1-17", "InternalHeader.X15"),
)


add(
    "any-connection-parameters-internal-reserved-not-zero",
    "MQQB-2.2.1-01",
    "A queue manager sends a ConnectionParameters packet with InternalHeader.Reserved 0xBEEF.",
    set_field_value(ConnectionParametersPacket, "InternalHeader.Reserved", 0xBEEF),
)


@fault("sender-session-ack-reserved-nonzero-has-no-effect", breaks="MQQB-2.2.1-01", blind=True)
class SenderSessionAckReservedNonzeroHasNoEffect(SessionAcks):
    """The sender ignores the acknowledgment in a SessionAck whose InternalHeader.Reserved is not zero."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.Reserved:
            super().receive(session, packet, now)


for kind, name in (
    (SessionAckPacket, "session-ack"),
    (ConnectionParametersPacket, "connection-parameters"),
):
    add(
        f"queue-manager-reserved-of-{name}-1",
        "MQQB-2.2.1-01",
        f"A queue manager sends 1 in InternalHeader.Reserved of a {kind.__name__.removesuffix('Packet')} packet.",
        send_wrong_field_values(kind, {"InternalHeader.Reserved": 1}),
        blind=True,
    )


@fault("initiator-response-with-internal-reserved-taken-as-refusal", breaks="MQQB-2.2.1-01", blind=True)
class InitiatorResponseWithInternalReservedTakenAsRefusal(SessionOpening):
    """The initiator treats an EstablishConnection response as a refusal if InternalHeader.Reserved is not zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return super().is_establish_response_valid(session, packet) and not packet.InternalHeader.Reserved


def _make_fault_refusing_packets_in_role(kind: type[Packet], when: Callable[[Any], Any], *, initiator: bool) -> Install:
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
                self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
                return
            super().receive_packet(session, data, now)

    return replace_part(Refusing)


add(
    "initiator-session-ack-internal-header-reserved-refused",
    "MQQB-2.2.1-01",
    "The initiator refuses a SessionAck whose InternalHeader.Reserved is not zero.",
    _make_fault_refusing_packets_in_role(
        SessionAckPacket, lambda packet: packet.InternalHeader.Reserved, initiator=True
    ),
)


add(
    "acceptor-session-ack-internal-header-high-reserved-refused",
    "MQQB-2.2.1-01",
    "The acceptor refuses a SessionAck whose InternalHeader.Reserved is 0x8000 or more.",
    _make_fault_refusing_packets_in_role(
        SessionAckPacket, lambda packet: packet.InternalHeader.Reserved & 0x8000, initiator=False
    ),
)


add(
    "initiator-parameters-request-internal-header-reserved-1",
    "MQQB-2.2.1-01",
    "The initiator sends 1 in InternalHeader.Reserved of its ConnectionParameters request.",
    limit_to_sender_role("initiator", set_field_value(ConnectionParametersPacket, "InternalHeader.Reserved", 1)),
)


add(
    "any-connection-parameters-pt-unknown",
    "MQQB-2.2.1-02",
    "A queue manager sends a ConnectionParameters packet with PT 7.",
    set_field_value(ConnectionParametersPacket, "InternalHeader.PT", 7),
)


@fault(
    "receiver-session-kept-open-after-packet-with-unknown-pt",
    breaks=("MQQB-2.2.1-03", "MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01", "MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1.1-03"),
)
class ReceiverSessionKeptOpenAfterPacketWithUnknownPt(SessionClosing):
    """A queue manager that receives an internal packet with an unknown PT keeps the session open."""

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        if error.field != "InternalHeader.PT":
            super().close_session_after_malformed_packet(session, error, now)


add(
    "receiver-ignores-session-after-unknown-pt",
    "MQQB-2.2.1-03",
    "The receiver of an internal packet with an unknown PT closes the session and never answers another packet.",
    fall_silent_after_step(
        SessionClosing.close_session_after_malformed_packet,
        lambda *arguments: any(getattr(one, "field", None) == "InternalHeader.PT" for one in arguments),
    ),
)


PACKET_TYPE_FIELD = "InternalHeader.PT"


@fault("initiator-unknown-internal-packet-ignored", breaks="MQQB-2.2.1-03", blind=True)
class InitiatorUnknownInternalPacketIgnored(SessionClosing):
    """A queue manager ignores an internal packet of an unknown type on a session that it opened."""

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        if not (session.initiator and error.field == PACKET_TYPE_FIELD):
            super().close_session_after_malformed_packet(session, error, now)


@fault("queue-manager-internal-packet-of-type-15-ignored", breaks="MQQB-2.2.1-03", blind=True)
class QueueManagerInternalPacketOfType15Ignored(SessionClosing):
    """A queue manager ignores an internal packet whose PT is 15."""

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        if not (error.field == PACKET_TYPE_FIELD and "0xF" in str(error)):
            super().close_session_after_malformed_packet(session, error, now)


@fault("acceptor-packet-type-above-7-ignored", breaks="MQQB-2.2.1-03")
class AcceptorPacketTypeAbove7Ignored(Identifying):
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
class InitiatorUnknownPacketTypeBeforeOpenIgnored(SessionClosing):
    """The initiator ignores an internal packet with an unknown PT while it waits for a response."""

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        waits = session.SessionState.value in ("WAITING_ECR_MSG", "WAITING_CPR_MSG")
        if not (session.initiator and waits and "PT" in str(error)):
            super().close_session_after_malformed_packet(session, error, now)


add(
    "receiver-session-ack-cs-set",
    "MQQB-2.2.1-04",
    "The receiver sends a SessionAck with CS set.",
    set_bits(SessionAckPacket, "InternalHeader.CS"),
)


add(
    "acceptor-recoverable-session-ack-cs-set",
    "MQQB-2.2.1-04",
    "The acceptor sets CS in a SessionAck that acknowledges a recoverable message.",
    limit_to_sender_role(
        "acceptor",
        set_bits(SessionAckPacket, "InternalHeader.CS", lambda packet: packet.SessionHeader.RecoverableMsgAckFlags),
    ),
)


add(
    "acceptor-request-for-other-guid-accepted",
    "MQQB-2.2.1-05",
    "The acceptor answers an EstablishConnection request for another queue manager with CS clear.",
    clear_bits(EstablishConnectionPacket, "InternalHeader.CS"),
)


@fault("acceptor-cs-clear-in-refusal-of-request-with-se-clear", breaks="MQQB-2.2.1-05", blind=True)
class AcceptorCsClearInRefusalOfRequestWithSeClear(SessionOpening):
    """The acceptor leaves CS clear in its response to a request with SE 0 for another queue manager."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        if request.EstablishConnectionHeader.SE:
            return packet
        return set_fields(packet, {"InternalHeader.Flags": lambda old: old & ~0x10})


@fault("acceptor-compares-only-first-field-of-server-guid", breaks="MQQB-2.2.1-05")
class AcceptorComparesOnlyFirstFieldOfServerGuid(SessionOpening):
    """The acceptor compares only the first field of ServerGuid with its own GUID."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        return guid == NULL_GUID or guid.time_low == self.qm.adm.Identifier.time_low


@fault("acceptor-closes-session-beyond-limit-without-cs-in-response", breaks="MQQB-2.2.1-06")
class AcceptorClosesSessionBeyondLimitWithoutCsInResponse(SessionOpening):
    """The acceptor clears CS in its response to a request beyond its limit of sessions, and closes the connection."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        if self.qm.session_connecting.is_session_acceptable():
            return response
        accepting: EstablishConnectionPacket = set_fields(response, {"InternalHeader.Flags": lambda old: old & ~0x10})
        return accepting


@fault("acceptor-cs-set-only-for-first-request-beyond-limit", breaks="MQQB-2.2.1-06")
class AcceptorCsSetOnlyForFirstRequestBeyondLimit(SessionOpening):
    """The acceptor sets CS only in the response to the first request that exceeds its limit of sessions."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if self.qm.session_connecting.is_session_acceptable():
            super().receive_establish_request(session, packet, now)
        elif self.__dict__.get("refused"):
            self.qm.session_closing.close(session, "a fault", now)
        else:
            self.__dict__["refused"] = True
            super().receive_establish_request(session, packet, now)


@fault("acceptor-closes-zero-guid-request-beyond-limit-without-cs", breaks="MQQB-2.2.1-06")
class AcceptorClosesZeroGuidRequestBeyondLimitWithoutCs(SessionOpening):
    """The acceptor closes the session without a response if a request with zero ServerGuid exceeds its limit of
    sessions.
    """

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        direct = packet.EstablishConnectionHeader.ServerGuid == NULL_GUID
        if direct and not self.qm.session_connecting.is_session_acceptable():
            self.qm.session_closing.close(session, "a fault", now)
            return
        super().receive_establish_request(session, packet, now)


def _ignore_session_ack_with_flag_set(mask: int) -> type[SessionAcks]:
    class FlaggedSessionAckIgnored(SessionAcks):
        def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
            if not packet.InternalHeader.Flags & mask:
                super().receive(session, packet, now)

    return FlaggedSessionAckIgnored


def _refuse_establish_response_with_flag_set(mask: int) -> type[SessionOpening]:
    class FlaggedEstablishResponseRefused(SessionOpening):
        def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
            return super().is_establish_response_valid(session, packet) and not packet.InternalHeader.Flags & mask

    return FlaggedEstablishResponseRefused


def _refuse_parameters_response_with_flag_set(mask: int) -> type[SessionOpening]:
    class FlaggedParametersResponseRefused(SessionOpening):
        def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
            if packet.InternalHeader.Flags & mask:
                packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old | 0x10})
            super().receive_parameters_response(session, packet, now)

    return FlaggedParametersResponseRefused


def _refuse_parameters_request_with_flag_set(mask: int) -> type[SessionOpening]:
    class FlaggedParametersRequestRefused(SessionOpening):
        def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
            if packet.InternalHeader.Flags & mask:
                packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old | 0x10})
            super().receive_parameters_request(session, packet, now)

    return FlaggedParametersRequestRefused


_FLAG_FAULT_TEMPLATES = (
    (
        "sender-session-ack-with-x{}-not-processed",
        "The sender ignores a SessionAck with X{} set.",
        _ignore_session_ack_with_flag_set,
    ),
    (
        "initiator-establish-response-with-x{}-taken-as-refusal",
        "The initiator treats an EstablishConnection response with X{} set as a refusal.",
        _refuse_establish_response_with_flag_set,
    ),
    (
        "initiator-parameters-response-with-x{}-taken-as-refusal",
        "The initiator treats a ConnectionParameters response with X{} set as a refusal.",
        _refuse_parameters_response_with_flag_set,
    ),
    (
        "acceptor-parameters-request-with-x{}-taken-as-refusal",
        "The acceptor treats a ConnectionParameters request with X{} set as a refusal.",
        _refuse_parameters_request_with_flag_set,
    ),
)


_RULES_OF_RESERVED_BITS = (
    "MQQB-2.2.1-07",
    "MQQB-2.2.1-08",
    "MQQB-2.2.1-09",
    "MQQB-2.2.1-10",
    "MQQB-2.2.1-11",
    "MQQB-2.2.1-12",
    "MQQB-2.2.1-13",
    "MQQB-2.2.1-14",
    "MQQB-2.2.1-15",
    "MQQB-2.2.1-16",
    "MQQB-2.2.1-17",
)


for bit, rule in enumerate(_RULES_OF_RESERVED_BITS, 5):
    name, says, make = _FLAG_FAULT_TEMPLATES[bit % len(_FLAG_FAULT_TEMPLATES)]
    add(name.format(bit), rule, says.format(bit), replace_part(make(1 << bit)), blind=True)


def _make_internal_flag_condition(mask: int) -> Callable[[Any], Any]:
    return lambda packet: packet.InternalHeader.Flags & mask


for _kind, _flag, _rule, _role in (
    (SessionAckPacket, "X5", "MQQB-2.2.1-07", "acceptor"),
    (SessionAckPacket, "X8", "MQQB-2.2.1-10", "initiator"),
    (EstablishConnectionPacket, "X10", "MQQB-2.2.1-12", "initiator"),
    (ConnectionParametersPacket, "X12", "MQQB-2.2.1-14", "initiator"),
    (ConnectionParametersPacket, "X15", "MQQB-2.2.1-17", "acceptor"),
):
    _mask = InternalHeader.flags(**{_flag: 1})
    _name = _kind.__name__.removesuffix("Packet")
    add(
        f"{_role}-{_name.lower()}-with-{_flag.lower()}-refused",
        _rule,
        f"The {_role} refuses a {_name} packet in which InternalHeader.Flags.{_flag} is set.",
        _make_fault_refusing_packets_in_role(
            _kind, _make_internal_flag_condition(_mask), initiator=_role == "initiator"
        ),
    )


_INTERNAL_FLAG_X15_BIT = 1 << 15


@fault("receiver-session-ack-repeats-x15-of-received-session-ack", breaks="MQQB-2.2.1-17", blind=True)
class ReceiverSessionAckRepeatsX15OfReceivedSessionAck(SessionAcks):
    """After a SessionAck with bit X15 of InternalHeader.Flags set, the receiver sets X15 in the SessionAcks that it
    sends on this session.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.marked: set[int] = set()

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if packet.InternalHeader.Flags & _INTERNAL_FLAG_X15_BIT:
            self.marked.add(session.number)
        super().receive(session, packet, now)

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        if session.number not in self.marked:
            return packet
        header = packet.InternalHeader
        return replace(packet, InternalHeader=replace(header, Flags=header.Flags | _INTERNAL_FLAG_X15_BIT))


add(
    "receiver-session-ack-flags-before-reserved",
    "MQQB-2.2.1-D01",
    "The receiver sends a SessionAck with Flags before Reserved in its InternalHeader.",
    send_wrong_bytes(SessionAckPacket, lambda data: data[:16] + data[18:20] + data[16:18] + data[20:]),
)


add(
    "acceptor-establish-connection-refusal-in-bit-5",
    "MQQB-2.2.1-D01",
    "The acceptor refuses a session with bit 5 of InternalHeader.Flags set instead of bit 4 (CS).",
    send_wrong_bytes(
        EstablishConnectionPacket,
        lambda data: data[:18] + bytes([data[18] & ~0x10 | (data[18] & 0x10) << 1]) + data[19:],
    ),
)


@fault("sender-session-ack-with-x9-not-processed", breaks="MQQB-2.2.1-11", blind=True)
class SenderSessionAckWithX9NotProcessed(SessionAcks):
    """The sender of messages discards a SessionAck in which InternalHeader.Flags.X9 is set."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.X9:
            super().receive(session, packet, now)
