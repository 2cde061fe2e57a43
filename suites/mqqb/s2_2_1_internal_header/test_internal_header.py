"""MS-MQQB 2.2.1 InternalHeader."""

from __future__ import annotations

import pytest

from harness.expectations import closed, fields, packet
from harness.peer.handshake import request
from harness.run.marks import covers, malforms, sut_survives
from suites.mqqb.steps.exchanges import ORDINARY, exchange
from suites.mqqb.steps.opening import OTHER_GUID, packet_at

RESERVED_BITS = {
    "X5": "MQQB-2.2.1-07",
    "X6": "MQQB-2.2.1-08",
    "X7": "MQQB-2.2.1-09",
    "X8": "MQQB-2.2.1-10",
    "X9": "MQQB-2.2.1-11",
    "X10": "MQQB-2.2.1-12",
    "X11": "MQQB-2.2.1-13",
    "X12": "MQQB-2.2.1-14",
    "X13": "MQQB-2.2.1-15",
    "X14": "MQQB-2.2.1-16",
    "X15": "MQQB-2.2.1-17",
}
"""Rules, by reserved bit of Flags."""

FLAGS_AT = 18


@sut_survives()
@covers(*RESERVED_BITS.values())
def test_reserved_bits_are_ignored(peer, judge):
    """An exchange in which one reserved bit is set in every internal packet goes as any other."""
    for bit, rule in RESERVED_BITS.items():
        done = exchange(peer, internal={bit: 1})
        judge(rule, expected=ORDINARY, observed=done.outcome, evidence=done.evidence)


@sut_survives()
@covers("MQQB-2.2.1-01")
def test_reserved_is_zero_and_ignored(peer, judge):
    """Reserved is sent as zero, and a peer's Reserved makes no difference."""
    for reserved in (0, 0xBEEF):
        done = exchange(peer, internal={"Reserved": reserved})
        judge("MQQB-2.2.1-01", expected=ORDINARY, observed=done.outcome, evidence=done.evidence)
    sent = [int.from_bytes(frame.data[16:18], "little") for frame in done.connection.received]
    judge("MQQB-2.2.1-01", expected=[0, 0, 0], observed=sent, evidence=done.evidence)


@covers("MQQB-2.2.1-D01")
def test_an_internal_header_has_four_bytes(peer, judge):
    """PT and CS of the packets that accept a session, and of the one that refuses it, and what stands behind them."""
    done = exchange(peer)
    connection = peer.connect()
    asked = connection.send(request(peer, ServerGuid=OTHER_GUID))
    refusal = packet_at(connection, 0)
    answers = [*done.answers, refusal]
    seen = [f"0x{frame.data[FLAGS_AT] & 0x1F:02X} of {len(frame.data)}" for frame in answers if frame is not None]
    client = asked.data[20:36].hex()
    behind = [frame.data[20:36].hex() == client for frame in (done.answers[0], refusal) if frame is not None]
    judge(
        "MQQB-2.2.1-D01",
        expected=fields(
            {
                "Flags and size": ["0x02 of 572", "0x03 of 32", "0x01 of 36", "0x12 of 572"],
                "ClientGuid behind": [True, True],
            }
        ),
        observed={"Flags and size": seen, "ClientGuid behind": behind},
        evidence=[*done.connection.received, refusal],
    )


@malforms("MQQB-2.2.1-02")
@sut_survives()
@covers("MQQB-2.2.1-03")
@pytest.mark.parametrize("packet_type", [0x0, 0x4, 0xF])
def test_an_unknown_packet_type_closes_the_session(peer, judge, packet_type):
    """On a session that is open and alive, an internal packet of no known type ends the session."""
    connection = peer.open_raw()
    connection.check_alive()
    data = bytearray(bytes(connection.sent[1].data))
    data[FLAGS_AT] = packet_type
    sent = connection.send(bytes(data))
    connection.wait_closed()
    judge("MQQB-2.2.1-03", expected=closed(), observed=connection, evidence=[sent])


@sut_survives()
@covers("MQQB-2.2.1-05")
def test_a_request_for_another_queue_manager_is_refused(peer, judge):
    """A request with somebody else's ServerGuid is answered with CS set; one with a zero ServerGuid is answered."""
    wanted = peer.connect()
    wanted.send(request(peer))
    wanted.expect("EstablishConnection")
    connection = peer.connect()
    sent = connection.send(request(peer, ServerGuid=OTHER_GUID))
    reply = packet_at(connection, 0)
    refusal = packet("EstablishConnection", {"InternalHeader.CS": 1})
    judge("MQQB-2.2.1-05", expected=refusal, observed=reply or connection, evidence=[sent, reply])
