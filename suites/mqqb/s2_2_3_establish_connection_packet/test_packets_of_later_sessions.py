"""MS-MQQB 2.2.3 EstablishConnection Packet and 2.2.2 ConnectionParameters Packet: IN and PT in refusals, in retries,
and while another session is open.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import Any

import pytest

from harness.errors import ConformanceFailure, SutUnavailable
from harness.expectations import between, fields
from harness.peer.handshake import build_parameters_request, establish_request
from harness.peer.inbox import establish_response
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import OTHER_GUID, private_name, read_in_flag_and_packet_type
from suites.mqqb.steps.outgoing_session import OutgoingSession

PARAMETERS_SIZE_RULES = ("MQQB-2.2.2-D01", "MQQB-2.2.2.1-D01")
PARAMETERS_PACKET_SIZE_BYTES = 32
"""The size of a ConnectionParameters packet, which consists of BaseHeader (16), InternalHeader (4) and
ConnectionParametersHeader (12).
"""
RECOVERABLE_ACK_TIMEOUT_RANGE_MS, ACK_TIMEOUT_RANGE_MS = (0x1F4, 0x1D4C0), (0x4E20, 0x1D4C0)
"""The valid ranges of the timeouts in a request (MS-MQQB 2.2.2.1)."""
SAMPLE_ACK_TIMEOUTS_MS = {"RecoverableAckTimeout": 2_000, "AckTimeout": 70_000}
_PARAMETERS_FIELDS_STRUCT = struct.Struct("<IIHH")
_PARAMETERS_FIELD_NAMES = ("RecoverableAckTimeout", "AckTimeout", "Reserved", "WindowSize")


def _judge_parameters_size(judge, frame, case):
    """Judge the size of a ConnectionParameters packet."""
    judge(
        *PARAMETERS_SIZE_RULES,
        expected=PARAMETERS_PACKET_SIZE_BYTES,
        observed=len(frame.data),
        case=f"size of the {case}",
        evidence=[frame],
    )


def _judge_parameter_fields(judge, frame, case, asked=None):
    """Judge the order of the fields in a ConnectionParametersHeader. For a response, ``asked`` is the request, and the
    timeouts must differ by at most one percent from those of the request; another rule requires the exact values. The
    timeouts of a request must be in their valid ranges. Reserved must be 0, and WindowSize must not be 0.
    """
    fields_at = _PARAMETERS_FIELDS_STRUCT.unpack_from(
        frame.data.ljust(PARAMETERS_PACKET_SIZE_BYTES, b"\0"), PARAMETERS_PACKET_SIZE_BYTES - 12
    )
    timeouts: tuple[Any, Any] = between(*RECOVERABLE_ACK_TIMEOUT_RANGE_MS), between(*ACK_TIMEOUT_RANGE_MS)
    if asked is not None:
        header = asked["ConnectionParametersHeader"]
        timeouts = (
            _expect_timeout_within_one_percent(header.RecoverableAckTimeout),
            _expect_timeout_within_one_percent(header.AckTimeout),
        )
    judge(
        "MQQB-2.2.2.1-D01",
        expected=fields(
            RecoverableAckTimeout=timeouts[0], AckTimeout=timeouts[1], Reserved=0, WindowSize=between(1, 0xFFFF)
        ),
        observed=dict(zip(_PARAMETERS_FIELD_NAMES, fields_at, strict=True)),
        case=case,
        evidence=[frame],
    )


def _expect_timeout_within_one_percent(timeout_ms):
    """Return the expectation of a timeout that differs by at most one percent from the requested timeout."""
    return between(int(timeout_ms) * 99 // 100, int(timeout_ms) * 101 // 100)


def _judge_in_flag_and_packet_type(judge, rules, packet_type, frame, case):
    """Judge IN and PT of a packet; ``rules``: the rule about IN, and the rule about PT. Raise ConformanceFailure if the
    packet is missing.
    """
    if frame is None:
        raise ConformanceFailure(f"the SUT did not send the {case}")
    bits = read_in_flag_and_packet_type(frame)
    for rule, name, value in zip(rules, ("IN", "PT"), (1, packet_type), strict=True):
        judge(rule, expected=value, observed=bits[name], case=f"{name} in the {case}", evidence=[frame])


@covers("MQQB-2.2.3-01", "MQQB-2.2.3-02", "MQQB-2.2.2-01", "MQQB-2.2.2-02", *PARAMETERS_SIZE_RULES)
def test_answers_beside_open_session_have_in_set_and_their_pt(peer, judge):
    """While a session of the peer is open, the SUT answers a request for another queue manager with a packet that has
    IN set and PT 2. It answers the packets that open a second session with IN set and PT 2 or 3.
    """
    peer.open_session()
    refused = peer.connect()
    refused.send(establish_request(peer, ServerGuid=OTHER_GUID))
    second = peer.connect()
    second.send(establish_request(peer))
    establish_rules = ("MQQB-2.2.3-01", "MQQB-2.2.3-02")
    answer = second.poll_packet(0)
    _judge_in_flag_and_packet_type(
        judge, establish_rules, 2, answer, "EstablishConnection answer beside an open session"
    )
    refusal = refused.poll_packet(0)
    if refusal is not None:  # a SUT may close the connection
        _judge_in_flag_and_packet_type(judge, establish_rules, 2, refusal, "refusal")
    asked = second.send(build_parameters_request(**SAMPLE_ACK_TIMEOUTS_MS))
    parameters = second.poll_packet(1)
    _judge_in_flag_and_packet_type(
        judge, ("MQQB-2.2.2-01", "MQQB-2.2.2-02"), 3, parameters, "ConnectionParameters answer beside an open session"
    )
    _judge_parameters_size(judge, parameters, "ConnectionParameters answer beside an open session")
    _judge_parameter_fields(judge, parameters, "ConnectionParameters answer beside an open session", asked)


@needs("private_names")
@covers("MQQB-2.2.3-01", "MQQB-2.2.3-02", "MQQB-2.2.2-01", "MQQB-2.2.2-02", *PARAMETERS_SIZE_RULES)
def test_requests_for_private_name_have_in_set_and_their_pt(peer, sut, judge):
    """The SUT has a message for a private name. The peer closes the connection after the SUT's ConnectionParameters
    request, and the SUT connects again. Its EstablishConnection and ConnectionParameters requests have IN set and PT 2
    or 3.
    """
    session = OutgoingSession(peer, sut, private_name(peer.identifier))
    for attempt in ("first attempt", "second attempt"):
        connection = session.listener.accept(2 * sut.connect_timeout_ms)
        request = None if connection is None else connection.poll_packet(0)
        _judge_in_flag_and_packet_type(
            judge, ("MQQB-2.2.3-01", "MQQB-2.2.3-02"), 2, request, f"request of the {attempt}"
        )
        if connection is None or request is None or request.kind != "EstablishConnection":
            judge.mark_not_exercised(
                "MQQB-2.2.2-01", "MQQB-2.2.2-02", *PARAMETERS_SIZE_RULES, reason="the SUT sent no EstablishConnection"
            )
            return
        connection.send(establish_response(peer, request))
        parameters = connection.poll_packet(1)
        _judge_in_flag_and_packet_type(
            judge, ("MQQB-2.2.2-01", "MQQB-2.2.2-02"), 3, parameters, f"parameters of the {attempt}"
        )
        _judge_parameters_size(judge, parameters, f"parameters of the {attempt}")
        _judge_parameter_fields(judge, parameters, f"parameters of the {attempt}")
        connection.close()


@covers("MQQB-2.2.3-01", "MQQB-2.2.3-02")
@pytest.mark.parametrize(
    "cause", [pytest.param("offline", marks=needs("pause")), pytest.param("session limit", marks=needs("configure"))]
)
def test_refusal_has_in_set_and_pt_2(peer, sut, judge, cause):
    """The SUT is offline, or its session limit is reached, and the peer requests a session. If the SUT answers, the
    response has IN set and PT 2.
    """
    rules = ("MQQB-2.2.3-01", "MQQB-2.2.3-02")
    if cause == "offline":
        sut.take_offline()
    elif sut.control.call("configure").get("max_sessions") is None:
        judge.mark_not_exercised(*rules, reason="the SUT's limit of sessions cannot be configured")
        return
    else:
        peer.open_raw()
        sut.configure(max_sessions=1)
    answer = None
    with suppress(SutUnavailable):
        connection = peer.connect()
        connection.send(establish_request(peer))
        answer = connection.poll_packet(0)
    if answer is None:
        judge.mark_not_exercised(*rules, reason="the SUT sends no response when it refuses a session")
        return
    _judge_in_flag_and_packet_type(judge, rules, 2, answer, f"refusal ({cause})")
