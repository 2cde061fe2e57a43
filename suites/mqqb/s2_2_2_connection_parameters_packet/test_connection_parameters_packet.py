"""MS-MQQB 2.2.2 ConnectionParameters Packet, 2.2.2.1 ConnectionParametersHeader."""

from __future__ import annotations

from harness.peer.handshake import parameters_request
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import read_internal_bits

RESERVED_FIELD = slice(28, 30)


@covers("MQQB-2.2.2-01", "MQQB-2.2.2-02")
def test_connection_parameters_answer_has_in_set_and_pt_3(peer, judge):
    """The SUT answers a ConnectionParameters packet of the peer with IN set and PT 3."""
    connection = peer.request_session()
    sent = connection.send(parameters_request())
    reply = connection.poll_packet(1)
    bits = read_internal_bits(reply)
    judge("MQQB-2.2.2-01", expected=1, observed=bits["IN"], case="IN of the answer", evidence=[sent, reply])
    judge("MQQB-2.2.2-02", expected=3, observed=bits["PT"], case="PT of the answer", evidence=[sent, reply])


@sut_survives()
@covers("MQQB-2.2.2.1-01")
def test_reserved_of_connection_parameters_is_sent_as_zero_and_ignored(peer, judge):
    """The SUT ignores ConnectionParametersHeader.Reserved 0xBEEF in the peer's packet, and sends 0 in Reserved."""
    exchange = exchange_message(peer, parameters={"Reserved": 0xBEEF})
    judge("MQQB-2.2.2.1-01", expected=exchange.ALL_ANSWERED, observed=exchange.outcome, evidence=exchange.evidence)
    reply = exchange.answered("ConnectionParameters")
    observed = "nothing" if reply is None else int.from_bytes(reply.data[RESERVED_FIELD], "little")
    judge("MQQB-2.2.2.1-01", expected=0, observed=observed, case="Reserved in the answer", evidence=[reply])
