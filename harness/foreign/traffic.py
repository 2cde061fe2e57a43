"""Pass each frame of a capture to its conversation."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from ipaddress import ip_address

from harness.foreign.conversations import MSMQ_PROTOCOL, SESSION_PORT, Conversation, TrafficTotals
from harness.foreign.datagrams import (
    TCP,
    UDP,
    FrameWithoutJudgeableData,
    IncompleteFragmentedPackets,
    IpPayload,
    read_ip_packet,
)
from harness.foreign.links import IP_OFFSET_IF_FRAME_IS_CUT, IP_OFFSET_IF_FRAME_IS_NOT_IP, PAYLOAD_OFFSET_BY_LINK_TYPE
from harness.foreign.reassembly import ACK, SYN
from harness.foreign.systems import SystemsOfCapture, SystemViewOfConnection, show
from harness.wire.capture_files import CaptureFileRecord

PING_PORT = 3527
MAX_OPEN_CONVERSATIONS = 16_384
"""The maximum number of connections that are followed at the same time. An additional connection replaces the
oldest connection.
"""
_TCP_HEADER_BYTES, _UDP_HEADER_BYTES = 20, 8


@dataclass(slots=True)
class TrafficOfCapture:
    """The traffic of a capture. ``skips_wrong_checksums``: whether packets with a wrong checksum are skipped, as a
    receiver would skip them. ``unread_frame_count_by_reason``: the number of frames that cannot be judged, by reason.
    """

    systems: SystemsOfCapture
    session_ports: frozenset[int] = frozenset((SESSION_PORT,))
    skips_wrong_checksums: bool = False
    totals: TrafficTotals = field(default_factory=TrafficTotals)
    frames: int = 0
    start_us: int = 0
    end_us: int = 0
    unread_frame_count_by_reason: Counter[str] = field(default_factory=Counter)
    _fragments: IncompleteFragmentedPackets = field(default_factory=IncompleteFragmentedPackets)
    _open_conversations: OrderedDict[bytes, tuple[Conversation, int]] = field(default_factory=OrderedDict)
    """The conversation of each direction, and the number of the sending side. The key is the addresses and ports of the
    direction.
    """

    def take(self, record: CaptureFileRecord) -> None:
        """Add the next frame of the capture."""
        self.frames += 1
        time_us = record.time_us
        if self.frames == 1:
            self.start_us = time_us
        if time_us > self.end_us:
            self.end_us = time_us
        try:
            self._read_frame(record)
        except FrameWithoutJudgeableData as reason:
            self.unread_frame_count_by_reason[str(reason)] += 1

    def end(self) -> None:
        """End all open conversations."""
        for conversation, _ in list(self._open_conversations.values()):
            conversation.end()
        self._open_conversations.clear()
        if lacking := self._fragments.end():
            self.unread_frame_count_by_reason["IP packets with missing fragments"] += lacking

    def _read_frame(self, record: CaptureFileRecord) -> None:
        link = PAYLOAD_OFFSET_BY_LINK_TYPE.get(record.link_type)
        if link is None:
            raise FrameWithoutJudgeableData(f"frames of link type {record.link_type}, which is not supported")
        at = link(record.data)
        if at == IP_OFFSET_IF_FRAME_IS_NOT_IP:
            raise FrameWithoutJudgeableData("frames without an IP packet")
        if at == IP_OFFSET_IF_FRAME_IS_CUT:
            raise FrameWithoutJudgeableData("frames that are truncated before their IP header")
        payload = read_ip_packet(record.data, at, record.size, self.frames, self._fragments)
        if payload is None:
            return
        if self.skips_wrong_checksums:
            payload.verify_checksum()
        if payload.protocol == TCP:
            self._add_segment(payload, record.time_us)
        elif payload.protocol == UDP:
            self._add_datagram(payload, record.time_us)
        else:
            raise FrameWithoutJudgeableData("IP packets with neither TCP nor UDP")

    def _add_segment(self, payload: IpPayload, time_us: int) -> None:
        data = payload.data
        if len(data) < _TCP_HEADER_BYTES:
            raise FrameWithoutJudgeableData("TCP segments that are truncated within their header")
        start, flags = (data[12] >> 4) * 4, data[13]
        if start < _TCP_HEADER_BYTES or start > len(data) + payload.missing_byte_count:
            raise FrameWithoutJudgeableData("TCP segments with a wrong length")
        key = payload.source + payload.target + data[:4]
        known = self._open_conversations.get(key)
        sequence = int.from_bytes(data[4:8], "big")
        if known is None or (flags & SYN and not flags & ACK and known[0].opens_new_connection(known[1], sequence)):
            known = self._open_conversation(key, payload)
        conversation, side = known
        if conversation.ended:
            return
        cut = max(start - len(data), 0)  # bytes of the TCP options are missing
        conversation.add_segment(
            side,
            sequence,
            int.from_bytes(data[8:12], "big"),
            flags,
            data[start:],
            payload.missing_byte_count - cut,
            payload.number,
            time_us,
        )

    def _open_conversation(self, key: bytes, payload: IpPayload) -> tuple[Conversation, int]:
        data = payload.data
        ports = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
        ends = (payload.source, ports[0]), (payload.target, ports[1])
        back = payload.target + payload.source + data[2:4] + data[:2]
        for former in (key, back):
            if former in self._open_conversations:
                self._open_conversations.pop(former)[0].end()
        while len(self._open_conversations) >= 2 * MAX_OPEN_CONVERSATIONS:
            self._open_conversations.popitem(last=False)[1][0].end()
        conversation = Conversation(ends, payload.number, self.start_us, self.systems, self.totals, self.session_ports)
        self._open_conversations[key] = conversation, 0
        if back != key:
            self._open_conversations[back] = conversation, 1
        return self._open_conversations[key]

    def _add_datagram(self, payload: IpPayload, time_us: int) -> None:
        data = payload.data
        if len(data) < _UDP_HEADER_BYTES:
            raise FrameWithoutJudgeableData("UDP datagrams that are truncated within their header")
        ports = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
        if PING_PORT not in ports:
            return
        if payload.missing_byte_count:
            raise FrameWithoutJudgeableData("truncated pings")
        ends = payload.source, payload.target
        views = []
        for side in (0, 1):
            name = str(ip_address(ends[side]))
            if ends[0] == ends[1]:
                name = f"{name}:{ports[side]}" if ports[side] == PING_PORT else f"the client of {name}:{PING_PORT}"
            system = self.systems.get_judged_system(name, ends[side], self._choose_port(ends, ports[side]))
            if system is not None:
                views.append(SystemViewOfConnection(system, side, None))
        size = int.from_bytes(data[4:6], "big")
        time_ms = (time_us - self.start_us) // 1000
        show(views, 0, data[_UDP_HEADER_BYTES : size or None], payload.number, time_ms, "udp", None)
        self.totals.packets[MSMQ_PROTOCOL] += 1

    def _choose_port(self, ends: tuple[bytes, bytes], port: int) -> int:
        wanted = self.systems.requested_system
        return wanted.port if ends[0] != ends[1] and wanted is not None and wanted.port is not None else port
