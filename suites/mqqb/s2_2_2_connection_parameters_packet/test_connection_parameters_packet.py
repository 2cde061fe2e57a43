"""MS-MQQB 2.2.2 ConnectionParameters Packet, 2.2.2.1 ConnectionParametersHeader."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.peer.handshake import build_parameters_request
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import read_in_flag_and_packet_type
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message

RESERVED_FIELD_SLICE = slice(28, 30)
PEER_WINDOW_SIZES = (64, 1)
"""Values of WindowSize in the packets of the peer. If a SUT uses Reserved as the window size, the SUT acknowledges a
message at a different time with one of these values.
"""


@covers("MQQB-2.2.2-01", "MQQB-2.2.2-02")
def test_connection_parameters_answer_has_in_set_and_pt_3(peer, judge):
    """The SUT answers a ConnectionParameters packet of the peer with IN set and PT 3."""
    connection = peer.request_session()
    sent = connection.send(build_parameters_request())
    reply = connection.poll_packet(1)
    bits = read_in_flag_and_packet_type(reply)
    judge("MQQB-2.2.2-01", expected=1, observed=bits["IN"], case="IN of the answer", evidence=[sent, reply])
    judge("MQQB-2.2.2-02", expected=3, observed=bits["PT"], case="PT of the answer", evidence=[sent, reply])


@covers("MQQB-2.2.2-01", "MQQB-2.2.2-02")
def test_connection_parameters_request_of_each_attempt_has_in_set_and_pt_3(peer, sut, judge):
    """The peer closes the connection after the SUT's ConnectionParameters request, and the SUT connects again. Both
    requests have IN set and PT 3.
    """
    session = OutgoingSession(peer, sut)
    for attempt in ("first attempt", "second attempt"):
        asked = session.await_request()
        session.connection.send(establish_response(peer, asked))
        request = session.connection.poll_packet(1)
        bits = read_in_flag_and_packet_type(request)
        for rule, name, value in (("MQQB-2.2.2-01", "IN", 1), ("MQQB-2.2.2-02", "PT", 3)):
            judge(rule, expected=value, observed=bits[name], case=f"{name} in the {attempt}", evidence=[asked, request])
        session.connection.close()


@sut_survives()
@covers("MQQB-2.2.2.1-01")
def test_reserved_of_connection_parameters_is_sent_as_zero_and_ignored(peer, judge):
    """The SUT ignores ConnectionParametersHeader.Reserved 0xBEEF in the peer's packet, and sends 0 in Reserved."""
    exchange = exchange_message(peer, parameters={"Reserved": 0xBEEF})
    judge(
        "MQQB-2.2.2.1-01",
        expected=exchange.ALL_ANSWERED_EXPECTATION,
        observed=exchange.outcome,
        evidence=exchange.evidence,
    )
    reply = exchange.answered("ConnectionParameters")
    observed = "nothing" if reply is None else int.from_bytes(reply.data[RESERVED_FIELD_SLICE], "little")
    judge("MQQB-2.2.2.1-01", expected=0, observed=observed, case="Reserved in the answer", evidence=[reply])


@sut_survives()
@covers("MQQB-2.2.2.1-01")
@pytest.mark.parametrize("reserved", [1, 0xBEEF], ids=hex)
def test_reserved_of_response_changes_nothing_on_session(peer, sut, judge, reserved):
    """For each WindowSize of the peer, the SUT opens two sessions. The peer sends a ConnectionParameters response with
    Reserved 0 on one of them, and with a nonzero Reserved on the other. The SUT behaves in the same way on both: it
    sends its message, and accepts a message from the peer.
    """
    listener = peer.listen_without_core()
    for window in PEER_WINDOW_SIZES:
        effects, evidence = [], []
        for value in (0, reserved):
            make_sut_send_message(peer, sut, peer.direct_name())
            session = OutgoingSession(peer, sut, listener=listener)
            session.await_request()
            session.respond()
            sent = session.connection.send(parameters_response(session.parameters, Reserved=value, WindowSize=window))
            came = session.connection.poll("UserMessage")
            session.connection.acknowledge_all()
            session.connection.send(peer.message())
            silent = session.connection.stays_quiet()
            effects.append({"SUT_sends_its_message": came is not None, "SUT_is_silent_after_a_message": silent})
            evidence += [sent, came, session.connection.last]
            session.connection.close()
        judge(
            "MQQB-2.2.2.1-01",
            expected=facts(**effects[0] | {"SUT_sends_its_message": True}),
            observed=effects[1],
            case=f"session with WindowSize {window}",
            evidence=evidence,
        )


@covers("MQQB-2.2.2.1-01")
@pytest.mark.parametrize("reserved", [1, 0xBEEF], ids=hex)
@pytest.mark.parametrize("window", PEER_WINDOW_SIZES)
def test_reserved_of_request_changes_nothing_on_session(peer, judge, window, reserved):
    """The peer opens two sessions with the same WindowSize. Reserved in the ConnectionParameters request is 0 on one of
    them and nonzero on the other. On each session, the peer sends an express message. The SUT acknowledges both
    messages at once, or neither of them.
    """
    effects, evidence = [], []
    for value in (0, reserved):
        session = peer.open_raw(WindowSize=window, Reserved=value)
        sent = session.send(peer.message())
        silent = session.stays_quiet()
        effects.append({"SUT_is_silent_after_a_message": silent, "SUT_closed_the_session": session.closed_by_sut})
        evidence += [session.sent[1], sent, session.last]
        session.close()
    judge("MQQB-2.2.2.1-01", expected=facts(**effects[0]), observed=effects[1], evidence=evidence)
