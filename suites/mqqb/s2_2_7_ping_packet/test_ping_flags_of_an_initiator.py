"""MS-MQQB 2.2.7 Ping Packet: the flags of the Ping Request that an initiator sends, and of the Ping Response that it
receives.
"""

from __future__ import annotations

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.pinging import PingingSut, describe_ping_fields
from suites.mqqb.steps.provoking import make_sut_send_message

SERVER_CLASS_SYSTEMS = ("WinServer", "WinEnt")


@needs("ping_initiator", "operating_system")
@covers("MQQB-2.2.7-02")
def test_ping_request_of_a_server_has_rc_clear(peer, sut, judge):
    """While a session of the peer is open, the SUT sends Ping Requests before the sessions for two queues. RC in each
    of them is 0 if OperatingSystemType of the SUT is WinServer or WinEnt, and 1 otherwise.

    OS in the EstablishConnection request does not show the type of a system: frames 1 and 3 of MS-MQQB 4.1 have RC 1
    and OS 1.
    """
    peer.try_to_open_session()
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    make_sut_send_message(peer, sut, peer.direct_name("mqc-beside"))
    kind = sut.operating_system_type
    expected = fields(RC=int(kind not in SERVER_CLASS_SYSTEMS))
    for name, frame in (("first", asked), ("second", pinging_sut.poll_ping())):
        if frame is None:
            return  # a SUT may send one Ping Request to each address
        judge(
            "MQQB-2.2.7-02",
            expected=expected,
            observed=describe_ping_fields(frame, "RC"),
            case=f"{name} Ping Request of a SUT of type {kind}",
            evidence=frame,
        )


@needs("ping_initiator")
@covers("MQQB-2.2.7-05")
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("send", "private_names"))])
def test_ping_request_beside_open_session_has_rf_clear(peer, sut, judge, name):
    """While a session of the peer is open, the SUT sends a Ping Request for a direct or private name. RF is 0."""
    peer.try_to_open_session()
    pinging_sut = PingingSut(peer, sut, private_name(peer.identifier) if name == "private" else None)
    asked = pinging_sut.await_ping()
    judge("MQQB-2.2.7-05", expected=fields(RF=0), observed=describe_ping_fields(asked, "RF"), evidence=asked)


@sut_survives()
@needs("ping_initiator")
@covers("MQQB-2.2.7-01", "MQQB-3.1.7.6-13")
@pytest.mark.parametrize(
    ("RF", "expected"), [(0, PingingSut.SESSION_OPENED_OUTCOME), (1, PingingSut.NO_SESSION_OUTCOME)]
)
def test_unused_flags_of_a_ping_response_are_ignored(peer, sut, judge, RF, expected):
    """The peer sends a Ping Response with every unused flag set. The SUT opens a session if RF is 0, and opens no
    session if RF is 1.
    """
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    answer = pinging_sut.answer_ping(asked, Flags=0xFFFC | RF << 1)
    observed = pinging_sut.await_session(pinging_sut.time_shorter_than_retry_timer_ms)
    judge.all(expected=expected, observed=observed, case="after the Ping Response", evidence=[asked, answer])
