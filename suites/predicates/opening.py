"""What every packet of a session opening shows. Spec: MS-MQQB 3.1.5.2.3, 3.1.5.3.1, 3.1.5.3.2, 3.1.5.4.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec import FormatError

ESTABLISH = "EstablishConnection"
PARAMETERS = "ConnectionParameters"


def is_request(context: Context) -> bool:
    """Is this packet an initiator's?"""
    return context.sut_role == "initiator"


def request_of(context: Context) -> Any:
    """Give the header of the request that an acceptor's packet answers, the peer's last of its kind; None without one.

    A packet of the very same bytes is passed over: whether it is a response or only an echo cannot be told.
    """
    requests = [one for one in context.earlier if not one.from_sut and one.kind == context.frame.kind]
    if context.sut_role != "acceptor" or not requests or requests[-1].data == context.frame.data:
        return None
    try:
        return getattr(requests[-1].record, f"{context.frame.kind}Header")
    except FormatError:
        return None  # broken on purpose: there is nothing to repeat


def is_response(context: Context) -> bool:
    """Is this packet an acceptor's answer?"""
    return request_of(context) is not None


def never_refused(concerned: Callable[[Context], bool]) -> Predicate:
    """Demand that CS is clear."""

    def predicate(packet: Any, context: Context) -> Finding:
        return (packet.InternalHeader.CS == 0, f"CS is {packet.InternalHeader.CS}") if concerned(context) else None

    return predicate


for _rule, _kind, _concerned, _expected in (
    ("MQQB-3.1.5.2.3-06", ESTABLISH, is_request, "CS is 0 in an EstablishConnection request"),
    ("MQQB-3.1.5.3.2-10", PARAMETERS, is_request, "CS is 0 in a ConnectionParameters request"),
    ("MQQB-3.1.5.4.1-08", PARAMETERS, is_response, "CS is 0 in a ConnectionParameters response"),
):
    passive(_rule, _kind, _expected)(never_refused(_concerned))


def repeated(name: str) -> Predicate:
    """Demand that an acceptor repeats a field of the request."""

    def predicate(packet: Any, context: Context) -> Finding:
        request = request_of(context)
        if request is None:
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
    if not is_request(context):
        return None
    header = packet.EstablishConnectionHeader
    return (header.RE, header.Reserved) == (0x10, 0), f"RE is 0x{header.RE:02X}, Reserved is 0x{header.Reserved:04X}"


@passive("MQQB-3.1.5.3.1-12", ESTABLISH, "RE is 0x10, Reserved is 0x0000 and Padding is 0x5A in a response")
def remaining_fields_of_a_response(packet: Any, context: Context) -> Finding:
    """The acceptor's other fields are those of 2.2.3.1."""
    if not is_response(context):
        return None
    header = packet.EstablishConnectionHeader
    odd = sorted({byte for byte in header.Padding if byte != 0x5A})
    padding = f"has bytes 0x{odd[0]:02X}" if odd else "is 0x5A"
    kept = (header.RE, header.Reserved) == (0x10, 0) and not odd
    return kept, f"RE is 0x{header.RE:02X}, Reserved is 0x{header.Reserved:04X}, Padding {padding}"
