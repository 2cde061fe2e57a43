"""Measures the number of frames per second that `mqconform check` judges in captures of other tools, and the memory
of the command. The captures contain sessions of 400 peers with messages of 2,000 bytes in both directions, 20
sessions at a time; a separate frame acknowledges each segment. Target: at least 20,000 frames per second on a
machine where the reader alone reaches 300,000, and no more memory for eight times as many frames.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from struct import pack

from harness.capture.ip import TcpFlags, TcpSegment, build_tcp_packet
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from reference_qm.surface.inputs import Endpoint

SESSIONS, MORE_SESSIONS = 400, 3_200
CONCURRENT_SESSIONS = 20
ADDRESSES = 400
"""The number of peers. Each peer is a system with its own report, and all reports stay in memory."""
MESSAGES = 20
BODY = 2_000
SEGMENT = 1_448
WANTED_PER_S = 20_000
"""The required number of judged frames per second on a machine whose reader alone reaches `READER_PER_S`."""
READER_PER_S = 300_000
MEMORY_WANTED = 1.25
SUT, PEER = Endpoint("10.0.0.2", 1801), Endpoint("10.0.0.1", 50_000)
_SOURCE_AT, _TARGET_AT = 14 + 12, 14 + 16
"""The offsets in a frame of the addresses of Ethernet and of IPv4."""

JUDGING_PROGRAM = """
import resource, sys, time
from pathlib import Path
from harness.foreign.check import check_capture
from harness.foreign.files import read_frames
from harness.judging.passive import load_predicates
from harness.rules.catalogue import load_catalogue
path, catalogue = Path(sys.argv[1]), load_catalogue()
load_predicates()
began = time.process_time()
frames = sum(1 for _ in read_frames(path, print))
read = time.process_time()
traffic = check_capture(path, catalogue).traffic
judged = time.process_time()
assert traffic.totals.states == {"whole": int(sys.argv[2])}, traffic.totals.states
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(frames, frames / (read - began), frames / (judged - read), memory, traffic.totals.packets["MSMQ"])
"""


def measure() -> Iterator[str]:
    """Judge a capture, and a capture with eight times as many frames. Raise AssertionError if the speed is too low
    or the memory grows.
    """
    with tempfile.TemporaryDirectory(prefix="mqconform-check-") as scratch:
        path = Path(scratch) / "capture.pcap"
        figures, slow = {}, []
        for sessions in (SESSIONS, MORE_SESSIONS):
            size = _write(path, sessions)
            said = subprocess.run(
                [sys.executable, "-c", JUDGING_PROGRAM, str(path), str(sessions)],
                check=True,
                capture_output=True,
                text=True,
            )
            frames, reader, judged, memory, packets = map(float, said.stdout.split())
            figures[sessions] = memory
            wanted = WANTED_PER_S * min(reader / READER_PER_S, 1)
            yield (
                f"{frames:,.0f} frames, {size / 2**20:.0f} MiB, {packets:,.0f} packets: {judged:,.0f} frames a second "
                f"judged (target: {wanted:,.0f}), {reader:,.0f} read, {memory / 1024:.0f} MiB of memory"
            )
            slow += [judged] if judged < wanted else []
        ratio = figures[MORE_SESSIONS] / figures[SESSIONS]
        yield f"memory for eight times the frames: {ratio:.2f} times (target: at most {MEMORY_WANTED})"
        assert ratio <= MEMORY_WANTED
        assert not slow, f"{slow[0]:,.0f} frames per second are too few"


def _write(path: Path, sessions: int) -> int:
    """Write a pcap file of Ethernet frames, and return the size of the file."""
    session = _build_frames_of_session()
    with path.open("wb") as file:
        file.write(pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 1))
        number = 0
        for group in range(0, sessions, CONCURRENT_SESSIONS):
            for frame, from_peer in session:
                for one in range(group, min(group + CONCURRENT_SESSIONS, sessions)):
                    at = _SOURCE_AT if from_peer else _TARGET_AT
                    data = frame[:at] + (0x0B00_0000 + one % ADDRESSES).to_bytes(4, "big") + frame[at + 4 :]
                    number += 1
                    file.write(pack("<IIII", *divmod(number * 20, 1_000_000), len(data), len(data)) + data)
        return file.tell()


def _build_frames_of_session() -> list[tuple[bytes, bool]]:
    """Return the frames of a session. Each frame has a flag that is true if the peer sent the frame."""
    ends, sequences, frames = (PEER, SUT), [0x1000_0000, 0x2000_0000], list[tuple[bytes, bool]]()

    def send(side: int, flags: TcpFlags, data: bytes = b"") -> None:
        segment = TcpSegment(ends[side], ends[1 - side], sequences[side], sequences[1 - side], flags, data)
        frames.append((bytes(12) + b"\x08\x00" + build_tcp_packet(segment, 0), side == 0))
        sequences[side] += len(data) + bool(flags & (TcpFlags.SYN | TcpFlags.FIN))

    def say(side: int, data: bytes) -> None:
        for at in range(0, len(data), SEGMENT):
            last = at + SEGMENT >= len(data)
            send(side, TcpFlags.ACK | (TcpFlags.PSH if last else TcpFlags(0)), data[at : at + SEGMENT])
            send(1 - side, TcpFlags.ACK)

    send(0, TcpFlags.SYN)
    send(1, TcpFlags.SYN | TcpFlags.ACK)
    send(0, TcpFlags.ACK)
    for packet in (establish_connection(), connection_parameters()):
        say(0, bytes(packet))
        say(1, bytes(packet))
    for number in range(1, MESSAGES + 1):
        say(number % 2, bytes(user_message(user={"MessageID": number}, body=b"x" * BODY)))
    say(1, bytes(session_ack(AckSequenceNumber=MESSAGES // 2, UserMsgSequenceNumber=MESSAGES // 2)))
    send(0, TcpFlags.FIN | TcpFlags.ACK)
    send(1, TcpFlags.FIN | TcpFlags.ACK)
    return frames
