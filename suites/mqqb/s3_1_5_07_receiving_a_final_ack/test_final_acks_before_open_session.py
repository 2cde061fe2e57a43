"""MS-MQQB 3.1.5.7 Receiving a FinalAck Packet: FinalAcks of several classes before a session of either side is open."""

from __future__ import annotations

import pytest

from harness.expectations import connection_closed_by_sut
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.early_acknowledgments import send_packet_before_session_of_sut_is_open
from suites.mqqb.steps.ordering import EARLY_CLOSE_EXPECTATION, build_unknown_ack, send_packet_in_states_before_open


def _build_final_ack_of_class(peer, message_class):
    packet = build_unknown_ack(peer, final=True)
    packet["MessagePropertiesHeader"].MessageClass = message_class
    return packet


@sut_survives()
@covers("MQQB-3.1.5.7-01")
@pytest.mark.parametrize("message_class", [AckClass.RECEIVE, AckClass.Q_PURGED], ids=["received", "purged"])
def test_final_ack_of_each_class_before_open_session_closes_connection(peer, judge, message_class):
    """The peer sends a FinalAck of the class ACK_RECEIVE or Q_PURGED on a session in each state before OPEN, and on an
    open session. The SUT closes only the sessions that are not open.
    """
    packet = _build_final_ack_of_class(peer, message_class)
    observed, evidence = send_packet_in_states_before_open(peer, packet)
    judge("MQQB-3.1.5.7-01", expected=EARLY_CLOSE_EXPECTATION, observed=observed, evidence=evidence)


@sut_survives()
@covers("MQQB-3.1.5.7-01")
@pytest.mark.parametrize("answered", [False, True], ids=["before-the-response", "before-the-parameters"])
def test_final_ack_before_session_of_sut_is_open_closes_connection(peer, sut, judge, answered):
    """The SUT opens a session, and the peer sends a FinalAck before the session is open. The SUT closes the session."""
    packet = _build_final_ack_of_class(peer, AckClass.RECEIVE)
    observed, evidence = send_packet_before_session_of_sut_is_open(peer, sut, packet, answered=answered)
    judge("MQQB-3.1.5.7-01", expected=connection_closed_by_sut(), observed=observed, evidence=evidence)
