"""Predicates about the packets with which an initiator and an acceptor open a session.

Spec: MS-MQQB 3.1.5.2.3, 3.1.5.3.1, 3.1.5.3.2, 3.1.5.4.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import ConnectionSummary, Context, Finding, Predicate, parse_frame_strictly

ESTABLISH_CONNECTION_PACKET_NAME = "EstablishConnection"
CONNECTION_PARAMETERS_PACKET_NAME = "ConnectionParameters"


def is_initiator_packet(context: Context) -> bool:
    """Return whether the SUT sent the packet as an initiator."""
    return context.sut_role == "initiator"


class LastOpeningPackets(ConnectionSummary):
    """Store the last packet of each kind that opens a session, of the packets that the peer has sent on
    a connection.
    """

    def __init__(self) -> None:
        self.by_kind: dict[str, Frame] = {}

    def note(self, frame: Frame, connection: Connection) -> None:
        """Record a packet of the peer."""
        if not frame.from_sut and frame.kind in (ESTABLISH_CONNECTION_PACKET_NAME, CONNECTION_PARAMETERS_PACKET_NAME):
            self.by_kind[frame.kind] = frame


def find_answered_request(context: Context) -> Any:
    """Return the header of the request that the acceptor's packet answers: the peer's last packet of the same kind.
    Return None if there is no request, or if the packet equals the request, because it may be a response or an echo.
    """
    request = context.before(LastOpeningPackets).by_kind.get(context.frame.kind)
    if context.sut_role != "acceptor" or request is None or request.data == context.frame.data:
        return None
    return getattr(
        parse_frame_strictly(request), f"{context.frame.kind}Header", None
    )  # None: the packet is malformed on purpose


def is_acceptor_response(context: Context) -> bool:
    """Return whether the packet is an acceptor's answer to a request of the peer."""
    return find_answered_request(context) is not None


def make_no_refusal_predicate(concerned: Callable[[Context], bool]) -> Predicate:
    """Return a predicate that checks that CS is 0 in the packets for which `concerned` is true."""

    def judge_refusal(packet: Any, context: Context) -> Finding:
        return (packet.InternalHeader.CS == 0, f"CS is {packet.InternalHeader.CS}") if concerned(context) else None

    return judge_refusal


def make_repeated_field_predicate(name: str) -> Predicate:
    """Return a predicate that checks that the acceptor repeats a field of the request in the response."""

    def judge_repeated_field(packet: Any, context: Context) -> Finding:
        request = find_answered_request(context)
        if request is None:
            return None
        sent, came = (getattr(header, name) for header in (request, getattr(packet, f"{context.frame.kind}Header")))
        return came == sent, f"{name} is {came} in the response, and {sent} in the request"

    return judge_repeated_field
