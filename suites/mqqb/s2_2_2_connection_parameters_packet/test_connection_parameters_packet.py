"""MS-MQQB 2.2.2 ConnectionParameters Packet, 2.2.2.1 ConnectionParametersHeader."""

from __future__ import annotations

from harness.peer.handshake import parameters
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.exchanges import ORDINARY, exchange
from suites.mqqb.steps.opening import internal_bits, packet_at

RESERVED = slice(28, 30)


@covers("MQQB-2.2.2-01", "MQQB-2.2.2-02")
def test_connection_parameters_are_internal_and_of_their_type(peer, judge):
    """The answer to the parameters of an initiator has IN set and PT 3."""
    connection = peer.request_session()
    sent = connection.send(parameters())
    reply = packet_at(connection, 1)
    bits = internal_bits(reply)
    judge("MQQB-2.2.2-01", expected=1, observed=bits["IN"], evidence=[sent, reply])
    judge("MQQB-2.2.2-02", expected=3, observed=bits["PT"], evidence=[sent, reply])


@sut_survives()
@covers("MQQB-2.2.2.1-01")
def test_reserved_is_zero_and_ignored(peer, judge):
    """Reserved is sent as zero, and a peer's Reserved makes no difference."""
    done = exchange(peer, parameters={"Reserved": 0xBEEF})
    judge("MQQB-2.2.2.1-01", expected=ORDINARY, observed=done.outcome, evidence=done.evidence)
    reply = done.answered("ConnectionParameters")
    observed = "nothing" if reply is None else int.from_bytes(reply.data[RESERVED], "little")
    judge("MQQB-2.2.2.1-01", expected=0, observed=observed, evidence=[reply])
