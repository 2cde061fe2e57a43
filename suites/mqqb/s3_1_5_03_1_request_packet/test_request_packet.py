"""MS-MQQB 3.1.5.3.1 Request Packet: an acceptor's answer to an EstablishConnection.

That it repeats ClientGuid, TimeStamp and SE is seen on every packet (predicates.py); here they vary.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import packet
from harness.peer.handshake import NULL_GUID, parameters, request
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    exclude_echo,
    guid_text,
    list_accepted_sessions,
    read_internal_bits,
    require_reaction,
)

VALID: dict[str, dict[str, Any]] = {
    "zero": {"SE": 1, "TimeStamp": 0},
    "own": {"SE": 0, "TimeStamp": 0xFFFF_FFFF, "ClientGuid": OTHER_GUID},
}
"""Other fields of the request, by the ServerGuid that makes it valid."""


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
@pytest.mark.parametrize("server", VALID)
def test_a_valid_request_is_accepted(peer, sut, judge, server):
    """A request for this queue manager, named or not, gets a response without CS; then parameters are awaited."""
    connection = peer.connect()
    server_guid = NULL_GUID if server == "zero" else sut.guid
    asked = connection.send(request(peer, ServerGuid=server_guid, **VALID[server]))
    came = connection.poll_packet(0)
    answer = exclude_echo(asked, came)
    bits = read_internal_bits(answer)
    evidence = [asked, came]
    judge(
        "MQQB-3.1.5.3.1-02", "MQQB-3.1.5.3.1-D02", expected=packet(), observed=answer or connection, evidence=evidence
    )
    judge.conclude("MQQB-3.1.5.3.1-02", "MQQB-3.1.5.3.1-D02")
    if answer is None:
        raise ConformanceFailure("the SUT sent no response to its request")
    judge("MQQB-3.1.5.3.1-03", expected=1, observed=bits["IN"], evidence=evidence)
    judge("MQQB-3.1.5.3.1-04", expected=2, observed=bits["PT"], evidence=evidence)
    judge.conclude("MQQB-3.1.5.3.1-03", "MQQB-3.1.5.3.1-04")
    if answer.kind != "EstablishConnection":
        raise ConformanceFailure(f"the SUT's response is {answer.kind}")
    accepting = packet("EstablishConnection", {"InternalHeader.CS": 0})
    judge("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06", expected=accepting, observed=answer, evidence=evidence)
    named = guid_text(answer["EstablishConnectionHeader"].ServerGuid)
    judge("MQQB-3.1.5.3.1-09", expected=guid_text(sut.guid), observed=named, evidence=evidence)
    judge.conclude("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06", "MQQB-3.1.5.3.1-09")
    sent = connection.send(parameters())
    came = connection.poll_next_packet()
    observed = require_reaction(connection, exclude_echo(sent, came))
    judge("MQQB-3.1.5.3.1-13", expected=packet(), observed=observed, evidence=[sent, came])


@sut_survives()
@covers("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07")
@pytest.mark.parametrize("bit", [None, 0, 63, 127])
def test_a_request_for_another_queue_manager_is_refused(peer, sut, judge, bit):
    """A request with a foreign ServerGuid, or one that differs in one bit, gets a response with CS; the same request
    without the flaw is accepted.
    """
    peer.request_session(ServerGuid=NULL_GUID)
    connection = peer.connect()
    other = OTHER_GUID if bit is None else UUID(int=sut.guid.int ^ 1 << bit)
    asked = connection.send(request(peer, ServerGuid=other))
    came = connection.poll_packet(0)
    observed = exclude_echo(asked, came) or connection
    refusal = packet("EstablishConnection", {"InternalHeader.CS": 1})
    judge.all(expected=refusal, observed=observed, evidence=[asked, came])


@needs("inspect")
@covers("MQQB-3.1.5.3.1-01")
def test_the_remote_queue_manager_is_the_client(peer, sut, judge):
    """RemoteQMGuid of an accepted session is the ClientGuid of its request."""
    connection = peer.request_session(ClientGuid=OTHER_GUID)
    known = [one["RemoteQMGuid"] for one in list_accepted_sessions(sut)]
    observed = guid_text(OTHER_GUID) if guid_text(OTHER_GUID) in known else ", ".join(known) or "no accepted session"
    judge("MQQB-3.1.5.3.1-01", expected=guid_text(OTHER_GUID), observed=observed, evidence=connection.received)
