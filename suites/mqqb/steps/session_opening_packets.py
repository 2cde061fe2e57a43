"""Predicates on the packets of a session opening, by who sent them.

Spec: MS-MQQB 3.1.5.2.3, 3.1.5.3.1, 3.1.5.3.2, 3.1.5.4.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.judging.passive import Context, Finding, Predicate
from reference_qm.codec import FormatError

ESTABLISH = "EstablishConnection"
PARAMETERS = "ConnectionParameters"


def is_request(context: Context) -> bool:
    """Return whether a packet is an initiator's."""
    return context.sut_role == "initiator"


def request_of(context: Context) -> Any:
    """Return the header of the request that an acceptor's packet answers, the peer's last of its kind; or None.

    A packet of the very same bytes is passed over: whether it is a response or only an echo cannot be seen.
    """
    requests = [one for one in context.earlier if not one.from_sut and one.kind == context.frame.kind]
    if context.sut_role != "acceptor" or not requests or requests[-1].data == context.frame.data:
        return None
    try:
        return getattr(requests[-1].record, f"{context.frame.kind}Header")
    except FormatError:
        return None  # broken on purpose: there is nothing to repeat


def is_response(context: Context) -> bool:
    """Return whether a packet is an acceptor's answer."""
    return request_of(context) is not None


def never_refused(concerned: Callable[[Context], bool]) -> Predicate:
    """Demand that CS is clear."""

    def predicate(packet: Any, context: Context) -> Finding:
        return (packet.InternalHeader.CS == 0, f"CS is {packet.InternalHeader.CS}") if concerned(context) else None

    return predicate


def repeated(name: str) -> Predicate:
    """Demand that an acceptor repeats a field of the request."""

    def predicate(packet: Any, context: Context) -> Finding:
        request = request_of(context)
        if request is None:
            return None
        sent, came = (getattr(header, name) for header in (request, getattr(packet, f"{context.frame.kind}Header")))
        return came == sent, f"{name} is {came}, in the request {sent}"

    return predicate
