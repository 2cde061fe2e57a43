"""Follow the connections in a capture. Find the connections of queue managers, and the packets that each side sent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from uuid import UUID

from harness.capture.recorder import Connection
from harness.foreign.packets import PacketSplitter, StreamSplitter, begins_with_pdu, find_possible_packet
from harness.foreign.reassembly import ACK, SYN, DirectionBytesReceiver, TcpConnectionReassembly
from harness.foreign.systems import SystemsOfCapture, SystemViewOfConnection, show
from reference_qm.codec import FormatError
from reference_qm.codec.base import PACKET_SIGNATURE

MSMQ_PROTOCOL, RPC_PROTOCOL, UNRECOGNIZED_PROTOCOL = "MSMQ", "DCE/RPC", "other"
SESSION_PORT = 1801
RPC_PORTS = frozenset((135, 2101, 2103, 2105, 2107))
MAX_SEGMENTS_SEARCHED_FOR_PROTOCOL = 8
"""The maximum number of segments that are searched for a packet from a queue manager if the connection began before the
capture.
"""
_STARTS_MID_CONNECTION_REASON = "the capture begins in the middle of the connection"


@dataclass(slots=True)
class TrafficTotals:
    """The counts of packets and connections in all conversations of a capture. The report shows these counts."""

    packets: Counter[str] = field(default_factory=Counter)
    """The number of complete packets and PDUs, by kind of conversation."""
    conversation_count_by_kind: Counter[str] = field(default_factory=Counter)
    """The number of conversations by kind."""
    conversation_count_by_state: Counter[str] = field(default_factory=Counter)
    """The number of conversations of queue managers, by state."""
    interfaces: Counter[UUID] = field(default_factory=Counter)
    incomplete_packet_count: int = 0
    """The number of incomplete packets from queue managers."""
    listed_conversations: list[ConversationDescription] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ConversationDescription:
    """The description of a conversation in the report. ``gaps``: descriptions of the first gaps."""

    client: str
    server: str
    kind: str
    first_frame: int
    last_frame: int
    packets: int
    state: str
    gaps: tuple[str, ...]


MAX_LISTED_CONVERSATIONS = 1000
"""The maximum number of conversations in a report."""
MAX_LISTED_GAPS = 5


class Conversation:
    """One TCP connection. ``ends``: the address and port of each side. The side that sent the first frame comes
    first.
    """

    def __init__(
        self,
        ends: tuple[tuple[bytes, int], tuple[bytes, int]],
        number: int,
        start_us: int,
        systems: SystemsOfCapture,
        totals: TrafficTotals,
        ports: frozenset[int],
    ) -> None:
        self.ends = ends
        self.first_frame = self.last_frame = number
        self.client: int | None = None
        """The side that opened the connection, or None while it is unknown."""
        self.kind = ""
        self.ended = False
        self._start_us = start_us
        self._systems = systems
        self._totals = totals
        self._ports = ports
        self._views: list[SystemViewOfConnection] = []
        self._directions = _JudgedConversationDirection(self, 0), _JudgedConversationDirection(self, 1)
        self._reassembly = TcpConnectionReassembly(*self._directions)
        self._searched_segment_count = 0
        self._missing_frames_reason: str | None = None
        self._gaps: list[str] = []
        self._gap_count = 0
        self._packet_count = 0

    def add_segment(
        self,
        side: int,
        sequence: int,
        acknowledged: int,
        flags: int,
        data: bytes,
        missing: int,
        number: int,
        time_us: int,
    ) -> None:
        """Add a segment that one side has sent."""
        self.last_frame = number
        if flags & SYN:
            self.client = 1 - side if flags & ACK else side
        self._reassembly.add(side, sequence, acknowledged, flags, data, missing, number, time_us)
        if self._reassembly.closed:
            self.end()

    def opens_new_connection(self, side: int, sequence: int) -> bool:
        """Return whether a SYN from one side opens a new connection between the same addresses and ports."""
        way = self._reassembly.ways[side]
        return self.ended or (
            way.next is not None
            and way.unwrap_sequence_number(sequence + 1 & 0xFFFF_FFFF) != way.next
            and way.taken > 0
        )

    def end(self) -> None:
        """End the conversation, because the capture contains no more frames of it."""
        if self.ended:
            return
        self.ended = True
        self._reassembly.end()
        for way in self._directions:
            way.end()
        for view in self._views:
            if view.connection is not None:
                view.system.judge.packets.discard_connection(view.connection)
                view.connection.summary_by_class.clear()
        self._describe_conversation()

    # -- events of its directions -----------------------------------------------------------------------------

    def make_splitter(self, side: int, data: bytes) -> StreamSplitter | None:
        """Return the parser that splits one direction of the conversation into packets. ``data`` contains the next
        bytes of this direction. Return None if the protocol is still unknown or is not judged.
        """
        if not self.kind:
            self._find_protocol(data)
        if self.kind not in (MSMQ_PROTOCOL, RPC_PROTOCOL):
            return None
        way = self._directions[side]
        late = self._reassembly.ways[side].late or way.began_with_hole
        if self.kind == MSMQ_PROTOCOL:
            return PacketSplitter(way.packet, late=late)
        from harness.foreign.pdus import PduSplitter  # the import takes a second

        return PduSplitter(way.packet, late=late)

    def packet(self, side: int, data: bytes, number: int, time_us: int, error: FormatError | None) -> None:
        """Add a packet or PDU that one side has sent."""
        self._packet_count += 1
        if self.kind == RPC_PROTOCOL:
            from harness.foreign.pdus import read_bound_interfaces

            self._totals.interfaces.update(read_bound_interfaces(data))
            return
        show(self._views, side, data, number, (time_us - self._start_us) // 1000, "tcp", error)

    def note_gap(self, side: int, size: int, number: int) -> None:
        """Record that bytes from one side are missing in the capture."""
        where = f"before frame {number}" if number else "at the end"
        self._gap_count += 1
        reason = f"{size} bytes from {self._describe_side(side)} {where} are missing in the capture"
        if len(self._gaps) < MAX_LISTED_GAPS:
            self._gaps.append(reason)
        self._note_missing_bytes(reason)

    def _note_missing_bytes(self, reason: str) -> None:
        self._missing_frames_reason = self._missing_frames_reason or reason
        for view in self._views:
            if view.connection is not None:
                view.connection.missing_frames_reason = self._missing_frames_reason
                view.connection.summary_by_class.clear()

    def _uses_port(self, ports: frozenset[int]) -> bool:
        return any(port in ports for _, port in self.ends)

    def _find_protocol(self, data: bytes) -> None:
        late = any(way.late for way in self._reassembly.ways) or self._gap_count > 0
        if begins_with_pdu(data):
            self.kind = RPC_PROTOCOL
        elif (
            data[4:8] == PACKET_SIGNATURE
            or self._uses_port(self._ports)
            or (late and find_possible_packet(data) is not None)
        ):
            self.kind = MSMQ_PROTOCOL
            self._create_views_of_judged_sides(late)
        elif self._uses_port(RPC_PORTS):
            self.kind = RPC_PROTOCOL
        elif late and self._searched_segment_count < MAX_SEGMENTS_SEARCHED_FOR_PROTOCOL:
            self._searched_segment_count += 1
        else:
            self.kind = UNRECOGNIZED_PROTOCOL

    def _create_views_of_judged_sides(self, late: bool) -> None:
        """Create a view of the connection for each side that is judged."""
        if self.client is None:
            known = [side for side in (0, 1) if self.ends[side][1] in self._ports]
            self.client = 1 - known[0] if len(known) == 1 else None
        if late:
            self._missing_frames_reason = self._missing_frames_reason or _STARTS_MID_CONNECTION_REASON
        for side in (0, 1):
            role = "" if self.client is None else "initiator" if side == self.client else "acceptor"
            system = self._systems.get_judged_system(
                self._describe_side(side), self.ends[side][0], self._get_identifying_port(side)
            )
            if system is not None:
                system.roles[role] += 1
                self._views.append(
                    SystemViewOfConnection(
                        system,
                        side,
                        Connection(self.first_frame, role, missing_frames_reason=self._missing_frames_reason),
                    )
                )

    def _get_identifying_port(self, side: int) -> int:
        """Return the port that distinguishes a system from other systems at the same address, or 0 if the address alone
        identifies the system. A client may use any port. Therefore a client is identified by the port that the user
        requested, unless this is the port of the server.
        """
        own, other = self.ends[side], self.ends[1 - side]
        wanted = self._systems.requested_system
        if own[0] != other[0]:
            return wanted.port if wanted is not None and wanted.port is not None else 0
        if side == self.client and wanted is not None and wanted.port is not None and wanted.port != other[1]:
            return wanted.port
        return own[1]

    def _describe_side(self, side: int) -> str:
        own, other = self.ends[side], self.ends[1 - side]
        address = str(ip_address(own[0]))
        if own[0] != other[0]:
            return address
        if side == self.client:
            return f"the client of {_format_endpoint(other)}"
        return _format_endpoint(own)

    def _describe_conversation(self) -> None:
        totals, kind = (
            self._totals,
            self.kind or (MSMQ_PROTOCOL if self._uses_port(self._ports) and self._gap_count else UNRECOGNIZED_PROTOCOL),
        )
        totals.conversation_count_by_kind[kind] += 1
        totals.packets[kind] += self._packet_count
        if kind == UNRECOGNIZED_PROTOCOL:
            return
        state = "whole"
        if self._gap_count:
            state = "with gaps"
        elif any(way.late for way in self._reassembly.ways):
            state = "joined late"
        if kind == MSMQ_PROTOCOL:
            totals.conversation_count_by_state[state] += 1
            totals.incomplete_packet_count += sum(way.lost for way in self._directions)
        if len(totals.listed_conversations) < MAX_LISTED_CONVERSATIONS:
            server = 1 - self.client if self.client is not None else 1
            totals.listed_conversations.append(
                ConversationDescription(
                    _format_endpoint(self.ends[1 - server]),
                    _format_endpoint(self.ends[server]),
                    kind,
                    self.first_frame,
                    self.last_frame,
                    self._packet_count,
                    state,
                    tuple(self._gaps),
                )
            )


class _JudgedConversationDirection(DirectionBytesReceiver):
    """One direction of a conversation. Its bytes are parsed as soon as the protocol is known."""

    def __init__(self, conversation: Conversation, side: int) -> None:
        self._conversation = conversation
        self._side = side
        self._splitter: StreamSplitter | None = None
        self.began_with_hole = False

    @property
    def lost(self) -> int:
        """Return the number of incomplete packets."""
        return self._splitter.lost if self._splitter is not None else 0

    def data(self, data: bytes, number: int, time_us: int, has_push_flag: bool) -> None:
        if self._conversation.kind == UNRECOGNIZED_PROTOCOL:
            return
        if self._splitter is None:
            self._splitter = self._conversation.make_splitter(self._side, data)
        if self._splitter is not None:
            self._splitter.data(data, number, time_us, has_push_flag)

    def note_gap(self, size: int, number: int) -> None:
        self._conversation.note_gap(self._side, size, number)
        if self._splitter is None:
            self.began_with_hole = True
        else:
            self._splitter.note_gap(size)

    def closed(self, number: int, time_us: int, reset: bool) -> None:
        self.end()

    def end(self) -> None:
        """Record the end of this direction of the connection."""
        if self._splitter is not None:
            self._splitter.end()

    def packet(self, data: bytes, number: int, time_us: int, error: FormatError | None) -> None:
        """Add a packet of this direction."""
        self._conversation.packet(self._side, data, number, time_us, error)


def _format_endpoint(end: tuple[bytes, int]) -> str:
    address = ip_address(end[0])
    return f"{address}:{end[1]}" if address.version == 4 else f"[{address}]:{end[1]}"
