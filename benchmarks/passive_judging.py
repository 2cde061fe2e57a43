"""Measures passive judging: the cost of a packet after 4,000 packets of its connection, relative to the cost of a
packet after 400 packets. Target: at most one and a half times the cost.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.judging.passive import PassiveJudge, load_predicates
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from reference_qm.surface.inputs import Endpoint

FEW, MANY = 400, 4_000
MESSAGES_PER_ACK = 8
ROUNDS = 3
WANTED = 1.5


def measure() -> Iterator[str]:
    """Judge a long session of a SUT. Raise AssertionError if a later packet costs much more than an earlier packet."""
    load_predicates()
    per_packet = {count: min(_judge(count) for _ in range(ROUNDS)) / count for count in (FEW, MANY)}
    ratio = per_packet[MANY] / per_packet[FEW]
    rates = ", ".join(f"{1 / cost:,.0f} packets a second of {count:,}" for count, cost in per_packet.items())
    yield f"{rates}: {ratio:.2f} times the cost (target: at most {WANTED})"
    assert ratio <= WANTED, (
        f"judging a packet costs {ratio:.1f} times as much in a session of {MANY} as in one of {FEW}"
    )


def _judge(count: int) -> float:
    """Return the time in seconds that judging the packets of a session takes, from bytes to findings."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(VirtualEnvironment(), Path(folder) / "session.pcapng")
        recorder.listeners.append(PassiveJudge().on_frame)
        connection = recorder.record_opening(Endpoint("127.0.0.2", 50_000), Endpoint("127.0.0.1", 1801), by_peer=True)
        session = _session(count)
        begun = time.perf_counter()
        for packet in session:
            recorder.record_received(connection, packet)
        took = time.perf_counter() - begun
        recorder.close()
        return took


def _session(count: int) -> list[bytes]:
    opening = [bytes(establish_connection()), bytes(connection_parameters())]
    said = [
        bytes(
            session_ack(UserMsgSequenceNumber=number)
            if number % MESSAGES_PER_ACK == 0
            else user_message(user={"MessageID": number})
        )
        for number in range(1, count - 1)
    ]
    return opening + said
