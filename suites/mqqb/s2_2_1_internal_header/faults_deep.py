"""Faults of MS-MQQB 2.2.1 InternalHeader, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields, wrong_fields
from harness.faults.registry import add
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    SessionAckPacket,
)
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

for kind, name in (
    (SessionAckPacket, "session-ack"),
    (ConnectionParametersPacket, "connection-parameters"),
):
    add(
        f"queue-manager-reserved-of-{name}-1",
        "MQQB-2.2.1-01",
        f"A queue manager sends 1 in InternalHeader.Reserved of a {kind.__name__.removesuffix('Packet')} packet.",
        wrong_fields(kind, {"InternalHeader.Reserved": 1}),
        blind=True,
    )


@fault("sender-session-ack-with-reserved-not-processed", breaks="MQQB-2.2.1-01", blind=True)
class SenderSessionAckWithReservedNotProcessed(SessionAcks):
    """The sender ignores a SessionAck whose InternalHeader.Reserved is not zero."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.Reserved:
            super().receive(session, packet, now)


@fault("initiator-response-with-internal-reserved-taken-as-refusal", breaks="MQQB-2.2.1-01", blind=True)
class InitiatorResponseWithInternalReservedTakenAsRefusal(SessionOpening):
    """The initiator treats an EstablishConnection response as a refusal if InternalHeader.Reserved is not zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return super().is_establish_response_valid(session, packet) and not packet.InternalHeader.Reserved


PT_FIELD = "InternalHeader.PT"


@fault("initiator-unknown-internal-packet-ignored", breaks="MQQB-2.2.1-03", blind=True)
class InitiatorUnknownInternalPacketIgnored(Closing):
    """A queue manager ignores an internal packet of an unknown type on a session that it opened."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        if not (session.initiator and error.field == PT_FIELD):
            super().refuse_malformed(session, error, now)


@fault("queue-manager-internal-packet-of-type-15-ignored", breaks="MQQB-2.2.1-03", blind=True)
class QueueManagerInternalPacketOfType15Ignored(Closing):
    """A queue manager ignores an internal packet whose PT is 15."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        if not (error.field == PT_FIELD and "0xF" in str(error)):
            super().refuse_malformed(session, error, now)


@fault("acceptor-cs-clear-in-refusal-without-se", breaks="MQQB-2.2.1-05", blind=True)
class AcceptorCsClearInRefusalWithoutSe(SessionOpening):
    """The acceptor leaves CS clear in its response to a request with SE 0 for another queue manager."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        if request.EstablishConnectionHeader.SE:
            return packet
        return set_fields(packet, {"InternalHeader.Flags": lambda old: old & ~0x10})


def _ignore_session_ack(mask: int) -> type[SessionAcks]:
    class AckNotProcessed(SessionAcks):
        def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
            if not packet.InternalHeader.Flags & mask:
                super().receive(session, packet, now)

    return AckNotProcessed


def _refuse_establish_response(mask: int) -> type[SessionOpening]:
    class ResponseRefused(SessionOpening):
        def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
            return super().is_establish_response_valid(session, packet) and not packet.InternalHeader.Flags & mask

    return ResponseRefused


def _refuse_parameters_response(mask: int) -> type[SessionOpening]:
    class ParametersRefused(SessionOpening):
        def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
            if packet.InternalHeader.Flags & mask:
                packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old | 0x10})
            super().receive_parameters_response(session, packet, now)

    return ParametersRefused


def _refuse_parameters_request(mask: int) -> type[SessionOpening]:
    class RequestRefused(SessionOpening):
        def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
            if packet.InternalHeader.Flags & mask:
                packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old | 0x10})
            super().receive_parameters_request(session, packet, now)

    return RequestRefused


_WAYS = (
    ("sender-session-ack-with-x{}-not-processed", "The sender ignores a SessionAck with X{} set.", _ignore_session_ack),
    (
        "initiator-establish-response-with-x{}-taken-as-refusal",
        "The initiator treats an EstablishConnection response with X{} set as a refusal.",
        _refuse_establish_response,
    ),
    (
        "initiator-parameters-response-with-x{}-taken-as-refusal",
        "The initiator treats a ConnectionParameters response with X{} set as a refusal.",
        _refuse_parameters_response,
    ),
    (
        "acceptor-parameters-request-with-x{}-taken-as-refusal",
        "The acceptor treats a ConnectionParameters request with X{} set as a refusal.",
        _refuse_parameters_request,
    ),
)

_RULES = (
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

for bit, rule in enumerate(_RULES, 5):
    name, says, make = _WAYS[bit % len(_WAYS)]
    add(name.format(bit), rule, says.format(bit), replace_part(make(1 << bit)), blind=True)
