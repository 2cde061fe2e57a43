"""Makes captures of one conversation in the formats of other tools: link types, file formats, byte orders, and IP
fragments.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from struct import pack

from harness.capture import CaptureWriter, read_pcapng
from harness.wire import (
    connection_parameters,
    establish_connection,
    ping_request,
    ping_response,
    session_ack,
    user_message,
)
from reference_qm.surface.inputs import Endpoint

SUT, PEER = Endpoint("10.0.0.2", 1801), Endpoint("10.0.0.1", 50_000)
SUT_6, PEER_6 = Endpoint("fd00::2", 1801), Endpoint("fd00::1", 50_000)
GUID = bytes(range(16))
_MACS = bytes.fromhex("020000000002 020000000001")
_START_US = 1_700_000_000_000_000


@dataclass(frozen=True)
class Cut:
    """A frame of a capture file; ``size`` is the size of the frame on the network."""

    link_type: int
    data: bytes
    time_us: int
    size: int = 0


def converse(
    path: Path, sut: Endpoint = SUT, peer: Endpoint = PEER, change: Callable[[bytes], bytes] = bytes, body: int = 3000
) -> list[bytes]:
    """Write a session with messages in both directions in the harness's own format; return its IP packets.

    ``change`` alters the packets that the SUT sends.
    """
    with CaptureWriter(path, _START_US) as writer:
        writer.write_udp(
            peer._replace(port=3527), sut._replace(port=3527), bytes(ping_request()), time_us=0, from_sut=False
        )
        writer.write_udp(
            sut._replace(port=3527), peer._replace(port=3527), change(bytes(ping_response())), time_us=1, from_sut=True
        )
        writer.write_tcp_open(1, peer, sut, time_us=10, client_is_sut=False)

        def say(from_client: bool, packet: object, time_us: int) -> None:
            data = bytes(packet)  # type: ignore[call-overload]
            writer.write_tcp_data(1, from_client, data if from_client else change(data), time_us=time_us)

        say(True, establish_connection(), 20)
        say(False, establish_connection(), 30)
        say(True, connection_parameters(), 40)
        say(False, connection_parameters(), 50)
        for number in range(1, 6):
            say(True, user_message(user={"MessageID": number}, body=b"a" * body), 100 * number)
            say(False, user_message(user={"MessageID": number}, body=b"b" * body), 100 * number + 10)
        say(False, session_ack(AckSequenceNumber=5, UserMsgSequenceNumber=5), 1000)
        say(True, session_ack(AckSequenceNumber=5, UserMsgSequenceNumber=5), 1010)
        writer.write_tcp_close(1, True, time_us=2000)
        writer.write_tcp_close(1, False, time_us=2010)
    return [frame.data for frame in read_pcapng(path)]


def cut_segments(packets: Iterable[bytes], size: int = 1448) -> list[bytes]:
    """Return the IPv4 packets of a capture, with their TCP data in segments of at most ``size`` bytes."""
    made = []
    for packet in packets:
        header, data = packet[:40], packet[40:]
        if packet[9] != 6 or len(data) <= size or packet[32] >> 4 != 5:
            made.append(packet)
            continue
        first = int.from_bytes(packet[24:28], "big")
        for at in range(0, len(data), size):
            part = data[at : at + size]
            flags = packet[33] if at + size >= len(data) else packet[33] & ~0x08
            number = (first + at & 0xFFFFFFFF).to_bytes(4, "big")
            head = header[:2] + (40 + len(part)).to_bytes(2, "big") + header[4:24] + number + header[28:33]
            made.append(head + bytes([flags]) + header[34:] + part)
    return made


def fragments_of(packet: bytes, size: int = 576) -> list[bytes]:
    """Return the fragments of an IPv4 packet, with ``size`` bytes each (a multiple of 8)."""
    header, data = packet[:20], packet[20:]
    made = []
    for at in range(0, len(data), size):
        part = data[at : at + size]
        more = 0x2000 if at + size < len(data) else 0
        placed = (at // 8 | more).to_bytes(2, "big")
        made.append(header[:2] + (20 + len(part)).to_bytes(2, "big") + header[4:6] + placed + header[8:] + part)
    return made


# -- link types -------------------------------------------------------------------------------------------------------


def _kind(packet: bytes) -> bytes:
    return b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd"


def raw(packet: bytes) -> tuple[int, bytes]:
    return 101, packet


def ethernet(packet: bytes) -> tuple[int, bytes]:
    """Return an Ethernet frame, padded to at least 60 bytes as a network card does, with a checksum of 4 bytes at its
    end.
    """
    return 1, (_MACS + _kind(packet) + packet).ljust(60, b"\0") + b"FCS!"


def tagged_twice(packet: bytes) -> tuple[int, bytes]:
    return 1, _MACS + bytes.fromhex("88a80007 81000008") + _kind(packet) + packet


def null_little(packet: bytes) -> tuple[int, bytes]:
    return 0, (2 if packet[0] >> 4 == 4 else 30).to_bytes(4, "little") + packet


def null_big(packet: bytes) -> tuple[int, bytes]:
    return 108, (2 if packet[0] >> 4 == 4 else 24).to_bytes(4, "big") + packet


def cooked(packet: bytes) -> tuple[int, bytes]:
    return 113, bytes.fromhex("0000 0001 0006 020000000001 0000") + _kind(packet) + packet


def cooked_2(packet: bytes) -> tuple[int, bytes]:
    return 276, _kind(packet) + bytes.fromhex("0000 00000002 0001 00 06 0200000000010000") + packet


LINKS = (raw, ethernet, tagged_twice, null_little, null_big, cooked, cooked_2)


def framed(packets: Iterable[bytes], link: Callable[[bytes], tuple[int, bytes]] = ethernet) -> list[Cut]:
    """Put packets into frames of a link type, with one frame each millisecond."""
    made = []
    for number, packet in enumerate(packets):
        link_type, data = link(packet)
        made.append(Cut(link_type, data, _START_US + 1000 * number, len(data)))
    return made


def snapped(frames: Iterable[Cut], length: int) -> list[Cut]:
    """Cut frames off as a snapshot length does."""
    return [replace(frame, data=frame.data[:length]) for frame in frames]


# -- formats ----------------------------------------------------------------------------------------------------------


def pcap(path: Path, frames: list[Cut], order: str = "<", nano: bool = False) -> Path:
    """Write a pcap file; all frames have the link type of the first frame."""
    magic, unit = (0xA1B23C4D, 1000) if nano else (0xA1B2C3D4, 1)
    made = pack(f"{order}IHHIIII", magic, 2, 4, 0, 0, 0x40000, frames[0].link_type | 0x14000000)
    for frame in frames:
        seconds, rest = divmod(frame.time_us, 1_000_000)
        made += pack(f"{order}IIII", seconds, rest * unit, len(frame.data), frame.size) + frame.data
    path.write_bytes(made)
    return path


def pcapng(path: Path, frames: list[Cut], order: str = "<") -> Path:
    """Write a pcapng file, with an interface for each link type."""

    def block(kind: int, body: bytes) -> bytes:
        size = pack(f"{order}I", 12 + len(body))
        return pack(f"{order}I", kind) + size + body + size

    links = list(dict.fromkeys(frame.link_type for frame in frames))
    made = block(0x0A0D0D0A, pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    made += b"".join(block(1, pack(f"{order}HHI", link, 0, 0)) for link in links)
    for frame in frames:
        head = pack(
            f"{order}IIIII",
            links.index(frame.link_type),
            frame.time_us >> 32,
            frame.time_us & 0xFFFFFFFF,
            len(frame.data),
            frame.size,
        )
        made += block(6, head + frame.data + bytes(-len(frame.data) % 4))
    path.write_bytes(made)
    return path


def gzipped(path: Path) -> Path:
    """Compress a file, and keep its name."""
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path
