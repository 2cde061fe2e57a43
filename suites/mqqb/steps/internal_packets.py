"""Predicates that identify internal packets by their bytes, so that packets with a wrong IN or PT can also be judged.

Spec: MS-MQQB 2.2.1, 2.2.2, 2.2.3, 2.2.6. Packets of each kind have a different size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness.capture.recorder import MALFORMED_PACKET_KIND, Connection, Frame
from harness.judging.passive import ConnectionSummary, Context, Finding, Predicate, parse_frame_strictly
from suites.mqmq.steps.message_bytes import PACKET_SIGNATURE

INTERNAL_PACKET_NAMES = (
    "EstablishConnection",
    "ConnectionParameters",
    "SessionAck",
    "unknown internal",
    MALFORMED_PACKET_KIND,
)
_IN_BIT, _SESSION_HEADER_BIT = 1 << 3, 1 << 4
_OFFSET_OF_PACKET_TYPE_PT = 18

PacketCondition = Callable[[Context], bool]


class InternalPacketKind(NamedTuple):
    """A kind of internal packet: its size, its PT, and its bits of BaseHeader.Flags."""

    size: int
    pt: int
    flags: int = _IN_BIT


ESTABLISH_PACKET_KIND, PARAMETERS_PACKET_KIND, SESSION_ACK_PACKET_KIND = (
    InternalPacketKind(572, 2),
    InternalPacketKind(32, 3),
    InternalPacketKind(36, 1, _IN_BIT | _SESSION_HEADER_BIT),
)


class SessionSetUpSummary(ConnectionSummary):
    """Store the packets of the SUT and of the peer that set up a session."""

    def __init__(self) -> None:
        self.own = 0
        self.is_accepted = False
        """Whether the peer's EstablishConnection has CS clear."""
        self.peer_parameters = False

    def note(self, frame: Frame, connection: Connection) -> None:
        """Record the next packet."""
        if frame.from_sut:
            self.own += 1
        elif frame.kind == "EstablishConnection":
            packet = parse_frame_strictly(frame)
            self.is_accepted = packet is not None and packet.InternalHeader.CS == 0
        elif frame.kind == "ConnectionParameters":
            self.peer_parameters = True


def is_first_packet_of_initiator(context: Context) -> bool:
    """Return whether a packet is the first packet of an initiator."""
    return context.sut_role == "initiator" and context.before(SessionSetUpSummary).own == 0


def is_first_packet_of_acceptor(context: Context) -> bool:
    """Return whether a packet is the first packet of an acceptor."""
    return context.sut_role == "acceptor" and context.before(SessionSetUpSummary).own == 0


def is_second_packet_of_initiator(context: Context) -> bool:
    """Return whether a packet is an initiator's next packet after a response that accepts the session."""
    opening = context.before(SessionSetUpSummary)
    return context.sut_role == "initiator" and opening.own == 1 and opening.is_accepted


def is_second_packet_of_acceptor(context: Context) -> bool:
    """Return whether a packet is an acceptor's next packet after ConnectionParameters."""
    opening = context.before(SessionSetUpSummary)
    return context.sut_role == "acceptor" and opening.own == 1 and opening.peer_parameters


def make_flags_predicate_for_kind(
    kind: InternalPacketKind, concerns: PacketCondition = lambda context: True
) -> Predicate:
    """Return a predicate that checks the flags of a packet with the size and the PT of `kind`."""

    def judge_flags(packet: Any, context: Context) -> Finding:
        data = context.frame.data
        if not _has_packet_size_of_kind(data, kind) or _read_pt(data) != kind.pt or not concerns(context):
            return None
        flags = data[2] & kind.flags
        return (
            flags == kind.flags,
            f"IN is {flags >> 3 & 1}, and SH is {data[2] >> 4 & 1}, in a packet with PT {kind.pt}",
        )

    return judge_flags


def make_packet_type_predicate_for_kind(
    kind: InternalPacketKind, concerns: PacketCondition = lambda context: True
) -> Predicate:
    """Return a predicate that checks PT of a packet with the size and the flags of `kind`."""

    def judge_pt(packet: Any, context: Context) -> Finding:
        data = context.frame.data
        if (
            not _has_packet_size_of_kind(data, kind)
            or data[2] & (_IN_BIT | _SESSION_HEADER_BIT) != kind.flags
            or not concerns(context)
        ):
            return None
        return _read_pt(data) == kind.pt, f"PT is {_read_pt(data)}"

    return judge_pt


def _has_packet_size_of_kind(data: bytes, kind: InternalPacketKind) -> bool:
    return len(data) == kind.size and data.startswith(PACKET_SIGNATURE, 4)


def _read_pt(data: bytes) -> int:
    return data[_OFFSET_OF_PACKET_TYPE_PT] & 0xF
