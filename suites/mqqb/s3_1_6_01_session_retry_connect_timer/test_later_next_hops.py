"""MS-MQQB 3.1.6.1 Session Retry Connect Timer Event: the next hop after the one whose session ended."""

from __future__ import annotations

import itertools

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.inbox import establish_response
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME, find_initiated_session, list_connection_history
from suites.mqqb.steps.outgoing_session import OutgoingSession

UNREACHABLE_FORMAT_NAME = "DIRECT=TCP:192.0.2.7\\private$\\mqc-peer"
"""A format name with an address that is reserved for documentation, so that no system has it (RFC 5737)."""
LIFETIME_S = 60
NEXT_HOP_ELEMENTS_WITH_RULES = (
    ("MQQB-3.1.6.1-06", "RemoteQMAddress", "Address"),
    ("MQQB-3.1.6.1-07", "RemoteQMHostName", "HostName"),
    ("MQQB-3.1.6.1-08", "RemoteQMGuid", "QMGuid"),
)
"""For each rule, the element of the session and the attribute of the NextHop from which the SUT sets the element."""


@covers(
    "MQQB-3.1.6.1-04",
    "MQQB-3.1.6.1-05",
    "MQQB-3.1.6.1-06",
    "MQQB-3.1.6.1-07",
    "MQQB-3.1.6.1-08",
    "MQQB-3.1.6.1-09",
)
@needs("send", "two_addresses", "inspect", "management")
@pytest.mark.parametrize("end", ["lost", "refused"])
def test_following_next_hop_is_tried_after_end_of_session(peer, second_host, sut, judge, end):
    """A second queue manager has opened a session with the SUT, and a message waits for another host. The SUT requests
    a session with a next hop of a host name. The peer opens this session and then closes it, or refuses it. The SUT
    tries the following next hops, and then all next hops again. During the next attempt, the session has the elements
    of the following next hop.
    """
    second_host.try_to_open_session()
    sut.send(UNREACHABLE_FORMAT_NAME, body="waiting", time_to_reach_queue_s=LIFETIME_S)
    session = OutgoingSession(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    request = session.poll_request(2 * sut.connect_timeout_ms)
    judge(
        "MQQB-3.1.6.1-04",
        "MQQB-3.1.6.1-05",
        "MQQB-3.1.6.1-06",
        "MQQB-3.1.6.1-09",
        expected=holds("the SUT connects to the address of the peer, which is a later next hop"),
        observed=request is not None or "not connected",
        evidence=[request],
    )
    if request is None:
        judge.mark_not_exercised("MQQB-3.1.6.1-07", "MQQB-3.1.6.1-08", reason="the SUT requested no session")
        return
    hops = find_initiated_session(sut, PEER_QUEUE_BY_HOST_NAME)["NextHopCollection"]
    addresses = [hop["Address"] for hop in hops]
    if peer.address not in addresses:
        raise ConformanceFailure(f"NextHopCollection contains {addresses}, without the address of the peer")
    at = addresses.index(peer.address)
    if end == "lost":
        session.respond()
        session.answer_connection_parameters()
        session.connection.close()
    else:
        session.connection.send(establish_response(peer, request, internal={"CS": 1}))
        session.connection.wait_closed()
    evidence = [request, session.connection.sent[-1]]

    def is_following_next_hop_tried() -> bool:
        return int(find_initiated_session(sut, PEER_QUEUE_BY_HOST_NAME)["NextHopIndexer"]) != at

    if at + 1 == len(hops):
        reason = "the address of the peer is the last next hop"
        judge.mark_not_exercised("MQQB-3.1.6.1-07", "MQQB-3.1.6.1-08", reason=reason)
    else:
        peer.environment.run_until(is_following_next_hop_tried, sut.connect_timeout_ms)
        shown = find_initiated_session(sut, PEER_QUEUE_BY_HOST_NAME)
        for rule, element, attribute in NEXT_HOP_ELEMENTS_WITH_RULES:
            judge(
                rule,
                expected=str(hops[at + 1][attribute]).strip("{}").lower(),
                observed=str(shown[element]).strip("{}").lower(),
                case=f"{element} during the attempt after the session with the peer",
                evidence=evidence,
            )
    request = session.poll_request(2 * sut.connect_timeout_ms)
    history = [entry["AddressList"] for entry in list_connection_history(sut, PEER_QUEUE_BY_HOST_NAME)]
    judge(
        "MQQB-3.1.6.1-04",
        "MQQB-3.1.6.1-05",
        "MQQB-3.1.6.1-06",
        "MQQB-3.1.6.1-09",
        expected=[*addresses, *addresses[: at + 1]],
        observed=[address for address, _ in itertools.groupby(history)],
        case="addresses of the attempts",
        evidence=[*evidence, request],
    )
