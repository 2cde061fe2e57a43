"""Reading captures: the reader finds on each connection the bytes that the writer recorded."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from struct import pack, unpack

import pytest
from budgets import FEW, MANY, budget
from hypothesis import given
from hypothesis import strategies as st

from harness.capture import CaptureError, CaptureWriter, read_pcapng, read_streams
from harness.capture.ip import TcpFlags, TcpSegment, build_tcp_packet, parse_ip_packet
from harness.capture.pcapng import build_file_header, build_packet_block
from harness.capture.writer import MAX_SEGMENT_BYTES
from harness.errors import HarnessError
from reference_qm.surface.inputs import Endpoint

CLIENT, SERVER = Endpoint("192.0.2.1", 49759), Endpoint("192.0.2.2", 1801)
CLIENT6, SERVER6 = Endpoint("2001:db8::1", 49759), Endpoint("2001:db8::2", 1801)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.pcapng"


def ones_complement_sum(data: bytes) -> int:
    """Compute the checksum as RFC 1071 prints it, for comparison with the writer's checksums."""
    total = sum(word for (word,) in (unpack(">H", data[i : i + 2].ljust(2, b"\0")) for i in range(0, len(data), 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def pseudo_header(packet: bytes, source: Endpoint, target: Endpoint, protocol: int, payload: bytes) -> bytes:
    sender, receiver = ip_address(source.host).packed, ip_address(target.host).packed
    return sender + receiver + pack(">II", len(payload), protocol)


@pytest.mark.parametrize(("client", "server", "start"), [(CLIENT, SERVER, 20), (CLIENT6, SERVER6, 40)])
@pytest.mark.parametrize("data", [b"x", b"odd", b"even", b"\xff" * 7, bytes(8)])
def test_recorded_packets_have_valid_ip_tcp_and_udp_checksums(
    file: Path, client: Endpoint, server: Endpoint, start: int, data: bytes
) -> None:
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, client, server, time_us=0)
        writer.write_tcp_data(1, True, data, time_us=1)
        writer.write_udp(server, client, data, time_us=2)
    packets = [frame.data for frame in read_pcapng(file)]
    for packet, (source, target, protocol) in zip(
        packets,
        [(client, server, 6), (server, client, 6), (client, server, 6), (client, server, 6), (server, client, 17)],
        strict=True,
    ):
        payload = packet[start:]
        whole = pseudo_header(packet, source, target, protocol, payload) + payload
        assert ones_complement_sum(whole) == 0xFFFF
        if start == 20:
            assert ones_complement_sum(packet[:20]) == 0xFFFF
            assert unpack(">H", packet[2:4]) == (len(packet),)
        else:
            assert unpack(">H", packet[4:6]) == (len(payload),)


def test_a_udp_checksum_of_zero_is_sent_as_all_ones(file: Path) -> None:
    """A computed checksum of zero is sent as all ones, because zero means a missing checksum (RFC 768)."""
    with CaptureWriter(file) as writer:
        for low in range(0x10000):
            if low % 257 == 0:
                writer.write_udp(CLIENT, SERVER, pack(">H", low), time_us=0)
        first = next(iter(read_pcapng(file))).data
        missing = unpack(">H", first[26:28])[0]
        writer.write_udp(CLIENT, SERVER, pack(">H", missing), time_us=0)
    assert list(read_pcapng(file))[-1].data[26:28] == b"\xff\xff"
    assert read_streams(file).udp_datagrams[-1].data == pack(">H", missing)


def test_recorded_tcp_connection_has_consistent_sequence_numbers(file: Path) -> None:
    with CaptureWriter(file) as writer:
        assert writer.write_tcp_open(7, CLIENT, SERVER, time_us=10) == [1, 2, 3]
        assert writer.write_tcp_data(7, True, b"abc", time_us=20) == [4]
        assert writer.write_tcp_data(7, False, b"de", time_us=30) == [5]
        assert writer.write_tcp_close(7, False, time_us=40) == 6
        assert writer.write_tcp_data(7, True, b"f", time_us=50) == [7]
        assert writer.write_tcp_close(7, True, time_us=60) == 8
    segments = [parse_ip_packet(frame.data) for frame in read_pcapng(file)]
    flags = TcpFlags
    assert [(s.source, s.sequence, s.acknowledged, s.flags, s.data) for s in segments] == [  # type: ignore[union-attr]
        (CLIENT, 0x10000000, 0, flags.SYN, b""),
        (SERVER, 0x20000000, 0x10000001, flags.SYN | flags.ACK, b""),
        (CLIENT, 0x10000001, 0x20000001, flags.ACK, b""),
        (CLIENT, 0x10000001, 0x20000001, flags.PSH | flags.ACK, b"abc"),
        (SERVER, 0x20000001, 0x10000004, flags.PSH | flags.ACK, b"de"),
        (SERVER, 0x20000003, 0x10000004, flags.FIN | flags.ACK, b""),
        (CLIENT, 0x10000004, 0x20000004, flags.PSH | flags.ACK, b"f"),
        (CLIENT, 0x10000005, 0x20000004, flags.FIN | flags.ACK, b""),
    ]


def test_stream_names_the_frame_of_each_byte(file: Path) -> None:
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        writer.write_udp(CLIENT, SERVER, b"between", time_us=1)
        writer.write_tcp_data(1, True, b"abc", time_us=2)
        writer.write_tcp_data(1, False, b"xy", time_us=3)
        writer.write_tcp_data(1, True, b"defg", time_us=4)
        writer.write_tcp_close(1, False, time_us=5, reset=True)
    found = read_streams(file)
    (stream,) = found.tcp_streams
    assert (stream.client, stream.server, stream.frame_of_opening) == (CLIENT, SERVER, 1)
    assert bytes(stream.from_client.data) == b"abcdefg"
    assert [(r.start, r.end, r.frame, r.time_us) for r in stream.from_client.byte_ranges] == [
        (0, 3, 5, 2),
        (3, 7, 7, 4),
    ]
    assert (stream.from_client.closed_frame, stream.from_client.was_reset) == (None, False)
    assert bytes(stream.from_server.data) == b"xy"
    assert (stream.from_server.closed_frame, stream.from_server.was_reset) == (8, True)
    (datagram,) = found.udp_datagrams
    assert (datagram.source, datagram.target, datagram.data, datagram.frame) == (CLIENT, SERVER, b"between", 4)


def test_large_write_is_split_into_segments_and_reassembled(file: Path) -> None:
    data = bytes(range(256)) * 600
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        assert writer.write_tcp_data(1, True, data, time_us=1, comment="big") == [4, 5, 6]
    assert bytes(read_streams(file).tcp_streams[0].from_client.data) == data
    assert [r.end - r.start for r in read_streams(file).tcp_streams[0].from_client.byte_ranges] == [
        MAX_SEGMENT_BYTES,
        MAX_SEGMENT_BYTES,
        33_600,
    ]
    assert [frame.comment for frame in read_pcapng(file)][3:] == ["big", None, None]


def test_last_segment_of_a_write_has_push_flag(file: Path) -> None:
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0, comment="said")
        writer.write_tcp_data(1, True, bytes(2 * MAX_SEGMENT_BYTES), time_us=1)
        writer.write_tcp_data(1, True, b"a", time_us=1, more=True)
        writer.write_tcp_data(1, True, b"b", time_us=1)
    (stream,) = read_streams(file).tcp_streams
    assert [each.has_push_flag for each in stream.from_client.byte_ranges] == [False, True, False, True]
    assert (stream.comment, stream.is_sut_the_client) == ("said", None)


@pytest.mark.parametrize("client_is_sut", [True, False, None])
def test_every_frame_of_a_connection_has_its_direction(file: Path, client_is_sut: bool | None) -> None:
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0, client_is_sut=client_is_sut)
        for from_client in (True, False):
            writer.write_tcp_data(1, from_client, b"a", time_us=1)
            writer.write_tcp_close(1, from_client, time_us=2)
    by_client = [True, False, True, True, True, False, False]
    known = client_is_sut is not None
    wanted = [(client_is_sut == one) if known else None for one in by_client]
    assert [frame.inbound for frame in read_pcapng(file)] == wanted
    assert read_streams(file).tcp_streams[0].is_sut_the_client is client_is_sut


def test_tcp_sequence_numbers_wrap_around(file: Path) -> None:
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        writer._connections[1].client.sequence = 0xFFFFFFFE
        writer.write_tcp_data(1, True, b"abcd", time_us=0)
        writer.write_tcp_data(1, True, b"e", time_us=0)
    after = [parse_ip_packet(frame.data) for frame in read_pcapng(file)][3:]
    assert [s.sequence for s in after] == [0xFFFFFFFE, 2]  # type: ignore[union-attr]


def test_connections_and_reused_addresses_are_separate_streams(file: Path) -> None:
    other = Endpoint("192.0.2.1", 50000)
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        writer.write_tcp_open(2, other, SERVER, time_us=0)
        writer.write_tcp_data(1, True, b"one", time_us=0)
        writer.write_tcp_data(2, True, b"two", time_us=0)
        writer.write_tcp_close(1, True, time_us=0, reset=True)
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        writer.write_tcp_data(1, True, b"three", time_us=0)
    assert [bytes(s.from_client.data) for s in read_streams(file).tcp_streams] == [b"one", b"two", b"three"]


@budget(FEW, with_fixtures=True)
@given(
    st.lists(st.tuples(st.booleans(), st.binary(min_size=1, max_size=300)), max_size=12),
    st.sampled_from([(CLIENT, SERVER), (CLIENT6, SERVER6)]),
)
def test_stream_reader_returns_both_directions_completely(
    tmp_path: Path, said: list[tuple[bool, bytes]], ends: tuple[Endpoint, Endpoint]
) -> None:
    file = tmp_path / "said.pcapng"
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, *ends, time_us=0)
        for from_client, data in said:
            writer.write_tcp_data(1, from_client, data, time_us=1)
    (stream,) = read_streams(file).tcp_streams
    assert bytes(stream.from_client.data) == b"".join(data for mine, data in said if mine)
    assert bytes(stream.from_server.data) == b"".join(data for mine, data in said if not mine)


@pytest.mark.parametrize("ends", [(CLIENT, SERVER), (CLIENT6, SERVER6)])
def test_a_flipped_bit_of_a_tcp_packet_does_not_go_unnoticed(file: Path, ends: tuple[Endpoint, Endpoint]) -> None:
    """The reader detects a flipped bit in every field that a checksum or a length covers; in IPv6, no checksum covers
    class, flow and hop limit.
    """
    with CaptureWriter(file) as writer:
        writer.write_tcp_open(1, *ends, time_us=0)
        writer.write_tcp_data(1, True, b"payload!", time_us=0)
    whole = file.read_bytes()
    last = list(read_pcapng(file))[-1]
    start = last.file_offset + 28
    free = {0, 1, 2, 3, 7} if ends[0] == CLIENT6 else set()
    for position in set(range(len(last.data))) - free:
        for bit in range(8):
            broken = bytearray(whole)
            broken[start + position] ^= 1 << bit
            file.write_bytes(broken)
            with pytest.raises(CaptureError, match="frame 4"):
                read_streams(file)


def test_misuse_of_stream_writer_raises_error(file: Path) -> None:
    with CaptureWriter(file) as writer:
        with pytest.raises(HarnessError, match="connection 1 is not open"):
            writer.write_tcp_data(1, True, b"a", time_us=0)
        writer.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        with pytest.raises(HarnessError, match="connection 1 is already open"):
            writer.write_tcp_open(1, CLIENT, SERVER, time_us=0)
        with pytest.raises(HarnessError, match="no data"):
            writer.write_tcp_data(1, True, b"", time_us=0)
        writer.write_tcp_close(1, True, time_us=0)
        with pytest.raises(HarnessError, match="the client of connection 1 has already closed its direction"):
            writer.write_tcp_data(1, True, b"a", time_us=0)
        writer.write_tcp_close(1, False, time_us=0)
        with pytest.raises(HarnessError, match="connection 1 is not open"):
            writer.write_tcp_close(1, False, time_us=0)
        with pytest.raises(HarnessError, match="addresses of different families"):
            writer.write_udp(CLIENT, SERVER6, b"a", time_us=0)
        with pytest.raises(HarnessError, match="does not appear to be"):
            writer.write_tcp_open(2, Endpoint("nowhere", 1), SERVER, time_us=0)
        with pytest.raises(HarnessError, match="a datagram has 70000 bytes"):
            writer.write_udp(CLIENT, SERVER, bytes(70000), time_us=0)
    assert len(list(read_pcapng(file))) == 5


def tcp(flags: TcpFlags, sequence: int, data: bytes = b"", *, back: bool = False) -> bytes:
    source, target = (SERVER, CLIENT) if back else (CLIENT, SERVER)
    return build_tcp_packet(TcpSegment(source, target, sequence, 0, flags, data), 0)


SYN, ACK, FIN = TcpFlags.SYN, TcpFlags.ACK, TcpFlags.FIN


def fragment() -> bytes:
    """Return a packet with the flag for further fragments, and with the matching header checksum."""
    packet = bytearray(tcp(SYN, 5))
    packet[6:8] = b"\x20\x00"
    packet[10:12] = bytes(2)
    packet[10:12] = pack(">H", 0xFFFF - ones_complement_sum(bytes(packet[:20])))
    return bytes(packet)


def other_protocol() -> bytes:
    """Return an empty ICMP packet."""
    packet = bytearray(tcp(SYN, 5))
    packet[9] = 1
    packet[10:12] = bytes(2)
    packet[10:12] = pack(">H", 0xFFFF - ones_complement_sum(bytes(packet[:20])))
    return bytes(packet)


UNREADABLE = {
    "fragment": ([fragment()], "the packet is a fragment; reassemble the capture first"),
    "other protocol": ([other_protocol()], "IP protocol 1 is not supported; only TCP"),
    "no IP": ([b"\x00" * 40], "the packet is neither an IPv4 nor an IPv6 packet"),
    "nothing": ([b""], "the packet is neither an IPv4 nor an IPv6 packet"),
    "begins in the middle": ([tcp(ACK, 5, b"a")], "the SYN of this connection is missing"),
    "SYN-ACK first": ([tcp(SYN | ACK, 5)], "the SYN before this SYN-ACK is missing"),
    "lost bytes": ([tcp(SYN, 5), tcp(ACK, 7, b"a")], "sequence number is 7 instead of 6"),
    "sent twice": ([tcp(SYN, 5), tcp(ACK, 6, b"a"), tcp(ACK, 6, b"a")], "sequence number is 6 instead of 7"),
    "after the end": ([tcp(SYN, 5), tcp(FIN | ACK, 6), tcp(ACK, 7, b"a")], "data follows the end"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unjudgeable_data_is_reported_with_its_frame(file: Path, name: str) -> None:
    packets, message = UNREADABLE[name]
    file.write_bytes(build_file_header() + b"".join(build_packet_block(0, packet, None) for packet in packets))
    with pytest.raises(CaptureError, match=message) as caught:
        read_streams(file)
    assert f"frame {len(packets)}: " in str(caught.value)


def test_capture_of_unsupported_link_type_is_refused(file: Path) -> None:
    ethernet = build_file_header().replace(b"\x65\x00\x00\x00", b"\x01\x00\x00\x00")
    file.write_bytes(ethernet + build_packet_block(0, bytes(60), None))
    with pytest.raises(CaptureError, match="link type 1 is not supported; only raw IP"):
        read_streams(file)


@budget(MANY)
@given(st.binary(max_size=80))
def test_arbitrary_captured_packets_raise_only_value_errors(data: bytes) -> None:
    for packet in (data, b"\x45" + data, b"\x60" + data):
        try:
            parse_ip_packet(packet)
        except ValueError:
            continue
