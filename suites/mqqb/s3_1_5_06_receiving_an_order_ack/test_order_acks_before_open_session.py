"""MS-MQQB 3.1.5.6 Receiving an OrderAck Packet: OrderAcks on sessions that the SUT opens, before they are open."""

from __future__ import annotations

import pytest

from harness.expectations import connection_closed_by_sut
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.early_acknowledgments import send_packet_before_session_of_sut_is_open
from suites.mqqb.steps.ordering import build_unknown_ack


@sut_survives()
@covers("MQQB-3.1.5.6-01")
@pytest.mark.parametrize("answered", [False, True], ids=["before-the-response", "before-the-parameters"])
def test_order_ack_before_session_of_sut_is_open_closes_connection(peer, sut, judge, answered):
    """The SUT opens a session. Before the session is open, the peer sends an OrderAck: the SUT closes the session."""
    observed, evidence = send_packet_before_session_of_sut_is_open(
        peer, sut, build_unknown_ack(peer), answered=answered
    )
    judge("MQQB-3.1.5.6-01", expected=connection_closed_by_sut(), observed=observed, evidence=evidence)
