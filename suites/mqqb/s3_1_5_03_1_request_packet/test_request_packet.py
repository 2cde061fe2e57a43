"""MS-MQQB 3.1.5.3.1 Request Packet: how an acceptor answers an EstablishConnection request.

The predicates of this section judge whether each response repeats ClientGuid, TimeStamp and SE.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import packet
from harness.peer.handshake import NULL_GUID, build_parameters_request, establish_request
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    drop_echoed_packet,
    format_guid,
    list_accepted_sessions,
    read_in_flag_and_packet_type,
)

VALID_REQUEST_FIELDS: dict[str, dict[str, Any]] = {
    "zero": {"SE": 1, "TimeStamp": 0},
    "own": {"SE": 0, "QS": 1, "TimeStamp": 0xFFFF_FFFF, "ClientGuid": OTHER_GUID},
    "own, without a ping": {"SE": 1, "OS": 1},
}
"""The fields of a valid request, by its ServerGuid (zero, or the GUID of the SUT)."""


@covers(
    "MQQB-3.1.5.3.1-D02",
    "MQQB-3.1.5.3.1-02",
    "MQQB-3.1.5.3.1-03",
    "MQQB-3.1.5.3.1-04",
    "MQQB-3.1.5.3.1-05",
    "MQQB-3.1.5.3.1-06",
    "MQQB-3.1.5.3.1-09",
    "MQQB-3.1.5.3.1-13",
)
@pytest.mark.parametrize("server", VALID_REQUEST_FIELDS)
def test_valid_establish_connection_request_is_accepted(peer, sut, judge, server):
    """The peer sends a request whose ServerGuid is the SUT's Identifier or zero: the SUT answers with CS 0, and then
    answers ConnectionParameters. Meanwhile, the peer has other connections: a connection without a request, a
    connection with a request, and an open session.
    """
    peer.try_to_open_session()  # a SUT that opens no session is judged below
    peer.connect()
    peer.connect().send(establish_request(peer))
    connection = peer.connect()
    server_guid = NULL_GUID if server == "zero" else sut.guid
    sent = connection.send(establish_request(peer, ServerGuid=server_guid, **VALID_REQUEST_FIELDS[server]))
    came = connection.poll_packet(0)
    answer = drop_echoed_packet(sent, came)
    bits = read_in_flag_and_packet_type(answer)
    evidence = [sent, came]
    judge(
        "MQQB-3.1.5.3.1-02",
        "MQQB-3.1.5.3.1-D02",
        expected=packet(),
        observed=answer or connection,
        case="response to the request",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.3.1-D02")
    if answer is None:
        judge.conclude("MQQB-3.1.5.3.1-02")
    if answer is None:
        raise ConformanceFailure("the SUT sent no response to its request")
    judge("MQQB-3.1.5.3.1-03", expected=1, observed=bits["IN"], case="IN of the response", evidence=evidence)
    judge("MQQB-3.1.5.3.1-04", expected=2, observed=bits["PT"], case="PT of the response", evidence=evidence)
    judge.conclude("MQQB-3.1.5.3.1-03", "MQQB-3.1.5.3.1-04")
    if answer.kind != "EstablishConnection":
        raise ConformanceFailure(f"the SUT's response is {answer.kind} instead of EstablishConnection")
    accepting = packet("EstablishConnection", {"InternalHeader.CS": 0})
    judge(
        "MQQB-3.1.5.3.1-05",
        "MQQB-3.1.5.3.1-06",
        expected=accepting,
        observed=answer,
        case="response to the request",
        evidence=evidence,
    )
    server_named = format_guid(answer["EstablishConnectionHeader"].ServerGuid)
    judge(
        "MQQB-3.1.5.3.1-09",
        expected=format_guid(sut.guid),
        observed=server_named,
        case="ServerGuid of the response",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06", "MQQB-3.1.5.3.1-09")
    peer.pass_time(sut.duration_ms(10_000) if server == "own" else 0)
    sent = connection.send(build_parameters_request())
    came = connection.poll_next_packet()
    judge(
        "MQQB-3.1.5.3.1-02",
        expected=1,
        observed=[frame.kind for frame in connection.received].count("EstablishConnection"),
        case="number of responses to the request",
        evidence=connection.received,
    )
    judge.conclude("MQQB-3.1.5.3.1-02")
    judge(
        "MQQB-3.1.5.3.1-13",
        expected=packet(),
        observed=drop_echoed_packet(sent, came) or connection,
        case="answer to ConnectionParameters",
        evidence=[sent, came],
    )


@sut_survives()
@covers(
    "MQQB-3.1.5.3.1-02",
    "MQQB-3.1.5.3.1-05",
    "MQQB-3.1.5.3.1-06",
    "MQQB-3.1.5.3.1-07",
)
@pytest.mark.parametrize("bit", [None, "client", 0, 63, 127])
def test_request_with_foreign_server_guid_is_refused(peer, sut, judge, bit):
    """The peer has an open session, and sends a request whose ServerGuid differs from the SUT's Identifier, completely
    or in one bit. The SUT answers with CS 1. It accepts the peer's next request, which is valid.
    """
    peer.try_to_open_session()
    peer.request_session(ServerGuid=NULL_GUID)
    connection = peer.connect()
    if bit == "client":
        foreign_guid = peer.identifier
    else:
        foreign_guid = OTHER_GUID if bit is None else UUID(int=sut.guid.int ^ 1 << bit)
    sent = connection.send(establish_request(peer, ServerGuid=foreign_guid, SE=int(bit != "client")))
    came = connection.poll_packet(0)
    observed = drop_echoed_packet(sent, came) or connection
    refusal = packet("EstablishConnection", {"InternalHeader.CS": 1})
    judge(
        "MQQB-3.1.5.3.1-05",
        "MQQB-3.1.5.3.1-07",
        expected=refusal,
        observed=observed,
        case="response to the request",
        evidence=[sent, came],
    )
    judge(
        "MQQB-3.1.5.3.1-02", expected=packet(), observed=observed, case="response to the request", evidence=[sent, came]
    )
    later = peer.connect()
    sent = later.send(establish_request(peer, ServerGuid=sut.guid))
    came = later.poll_packet(0)
    judge(
        "MQQB-3.1.5.3.1-05",
        "MQQB-3.1.5.3.1-06",
        expected=packet("EstablishConnection", {"InternalHeader.CS": 0}),
        observed=drop_echoed_packet(sent, came) or later,
        case="response to a valid request after the refusal",
        evidence=[sent, came],
    )


@needs("inspect")
@covers("MQQB-3.1.5.3.1-01")
def test_remote_guid_of_accepted_session_is_the_client_guid(peer, sut, judge):
    """The peer has a session, and requests a second session with a different ClientGuid. The SUT shows a session with
    that RemoteQMGuid.
    """
    peer.open_raw()
    connection = peer.request_session(ClientGuid=OTHER_GUID)
    known = [one["RemoteQMGuid"] for one in list_accepted_sessions(sut)]
    observed = (
        format_guid(OTHER_GUID) if format_guid(OTHER_GUID) in known else ", ".join(known) or "no accepted session"
    )
    judge(
        "MQQB-3.1.5.3.1-01",
        expected=format_guid(OTHER_GUID),
        observed=observed,
        case="RemoteQMGuid of the session",
        evidence=connection.received,
    )
    own = format_guid(peer.identifier)
    judge(
        "MQQB-3.1.5.3.1-01",
        expected=own,
        observed=own if own in known else ", ".join(known) or "no accepted session",
        case="RemoteQMGuid of the earlier session",
        evidence=connection.received,
    )
