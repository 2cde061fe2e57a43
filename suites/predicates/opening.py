"""What every packet of a session opening shows. Spec: MS-MQQB 3.1.5.2.3, 3.1.5.3.1, 3.1.5.3.2, 3.1.5.4.1."""

from __future__ import annotations

from typing import Any

from harness.passive import Context, Finding, Predicate, passive
from reference_qm.codec import FormatError

ESTABLISH = "EstablishConnection"
PARAMETERS = "ConnectionParameters"


def answered_by(context: Context) -> Any:
    """Give the header of the request that this packet answers: the peer's last packet of its kind; None without one."""
    for frame in reversed(context.earlier):
        if not frame.from_sut and frame.kind == context.frame.kind:
            try:
                return getattr(frame.record, f"{frame.kind}Header")
            except FormatError:
                return None  # broken on purpose: there is nothing to repeat
    return None


def refused_never(role: str) -> Predicate:
    """CS is clear in what an initiator or an acceptor sends."""

    def predicate(packet: Any, context: Context) -> Finding:
        if context.sut_role != role:
            return None
        return packet.InternalHeader.CS == 0, f"CS is {packet.InternalHeader.CS}"

    return predicate


for _rule, _kind, _role, _expected in (
    ("MQQB-3.1.5.2.3-06", ESTABLISH, "initiator", "CS is 0 in an EstablishConnection request"),
    ("MQQB-3.1.5.3.2-10", PARAMETERS, "initiator", "CS is 0 in a ConnectionParameters request"),
    ("MQQB-3.1.5.4.1-08", PARAMETERS, "acceptor", "CS is 0 in a ConnectionParameters response"),
):
    passive(_rule, _kind, _expected)(refused_never(_role))


def repeated(name: str) -> Predicate:
    """Let an acceptor repeat a field of the request."""

    def predicate(packet: Any, context: Context) -> Finding:
        request = answered_by(context)
        if context.sut_role != "acceptor" or request is None:
            return None
        sent, came = (getattr(header, name) for header in (request, getattr(packet, f"{context.frame.kind}Header")))
        return came == sent, f"{name} is {came}, in the request {sent}"

    return predicate


for _rule, _kind, _name in (
    ("MQQB-3.1.5.3.1-08", ESTABLISH, "ClientGuid"),
    ("MQQB-3.1.5.3.1-10", ESTABLISH, "TimeStamp"),
    ("MQQB-3.1.5.3.1-11", ESTABLISH, "SE"),
    ("MQQB-3.1.5.4.1-09", PARAMETERS, "RecoverableAckTimeout"),
    ("MQQB-3.1.5.4.1-10", PARAMETERS, "AckTimeout"),
):
    passive(_rule, _kind, f"{_name} of the response is that of the request")(repeated(_name))


@passive("MQQB-3.1.5.2.3-12", ESTABLISH, "RE is 0x10 and Reserved is 0x0000 in a request")
def remaining_fields_of_a_request(packet: Any, context: Context) -> Finding:
    """The initiator's other fields are those of 2.2.3.1."""
    if context.sut_role != "initiator":
        return None
    header = packet.EstablishConnectionHeader
    return (header.RE, header.Reserved) == (0x10, 0), f"RE is 0x{header.RE:02X}, Reserved is 0x{header.Reserved:04X}"


@passive("MQQB-3.1.5.3.1-12", ESTABLISH, "RE is 0x10, Reserved is 0x0000 and Padding is 0x5A in a response")
def remaining_fields_of_a_response(packet: Any, context: Context) -> Finding:
    """The acceptor's other fields are those of 2.2.3.1."""
    if context.sut_role != "acceptor":
        return None
    header = packet.EstablishConnectionHeader
    odd = sorted({byte for byte in header.Padding if byte != 0x5A})
    padding = f"has bytes 0x{odd[0]:02X}" if odd else "is 0x5A"
    kept = (header.RE, header.Reserved) == (0x10, 0) and not odd
    return kept, f"RE is 0x{header.RE:02X}, Reserved is 0x{header.Reserved:04X}, Padding {padding}"
