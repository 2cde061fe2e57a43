"""MS-MQQB 3.1.5.2.1 Resolve Host Address, 3.1.5.2.2 Ping Mechanism: the initiator resolves a destination while another
session is open.
"""

from __future__ import annotations

from harness.expectations import holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.virtual_driver import HOST_WITH_TWO_ADDRESSES
from suites.mqqb.steps.opening import (
    PEER_QUEUE_BY_HOST_NAME,
    list_connection_history,
    list_sessions_that_are_not_closed,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.pinging import PingingSut
from suites.mqqb.steps.two_destinations import TwoDestinations


@needs("send")
@covers("MQQB-3.1.5.2.1-13", "MQQB-3.1.5.2.1-34")
def test_second_direct_name_leads_to_its_own_host(peer, second_host, sut, judge):
    """While a session with the peer is open, the SUT gets a message for a second queue manager. The SUT connects to the
    second queue manager, and the message arrives there.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.first.send()
    evidence = [*two.first.await_messages(), two.first.session.acknowledge_all()]
    two.second.send()
    session = two.second.sender.poll_session()
    judge.all(
        expected=holds(f"the SUT connects to {second_host.address}", otherwise="the SUT opened no connection"),
        observed=session is not None,
        evidence=evidence,
    )
    if session is not None:
        two.second.sender.collect_messages(session, 1)
        session.acknowledge_all()


@needs("send", "inspect", "management", "two_addresses")
@covers("MQQB-3.1.5.2.1-33", "MQQB-3.1.5.2.1-36")
def test_session_for_host_name_begins_with_its_first_next_hop(peer, sut, judge):
    """While a session for a direct name with an address is open, the SUT gets a message for a host name with several
    addresses. The first entry of ConnectionHistory contains the Address of the first NextHop, and RemoteQMHostName is
    the host name.
    """
    first = OutgoingSession(peer, sut)
    first.open()
    first.connection.acknowledge_all()
    sut.send(PEER_QUEUE_BY_HOST_NAME, body="beside")
    second = OutgoingSession(peer, sut, listener=first.listener)
    request = second.poll_request(2 * sut.connect_timeout_ms)
    if request is None:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT opened no second session (E16)")
        return
    shown = [
        one
        for one in list_sessions_that_are_not_closed(sut)
        if one["OutgoingQueueReference"] == PEER_QUEUE_BY_HOST_NAME
    ]
    tried = [entry["AddressList"] for entry in list_connection_history(sut, PEER_QUEUE_BY_HOST_NAME)]
    judge(
        "MQQB-3.1.5.2.1-33",
        expected=[hop["Address"] for one in shown for hop in one["NextHopCollection"][:1]],
        observed=tried[:1],
        case="address of the first attempt",
        evidence=request,
    )
    judge(
        "MQQB-3.1.5.2.1-36",
        expected=[HOST_WITH_TWO_ADDRESSES.lower()],
        observed=[str(one["RemoteQMHostName"]).lower() for one in shown],
        case="RemoteQMHostName of the session for the host name",
        evidence=request,
    )
    second.respond()
    second.answer_connection_parameters()
    second.connection.acknowledge_all()


@needs("send", "ping_initiator")
@covers("MQQB-3.1.5.2.2-02")
def test_ping_request_arrives_at_resolved_address_of_second_destination(peer, second_host, sut, judge):
    """While a session with the peer is open, the SUT gets a message for a second queue manager. If the SUT sends a Ping
    Request before its second session, this request arrives at the address of the second queue manager.
    """
    first = OutgoingSession(peer, sut)
    first.open()
    first.connection.acknowledge_all()
    known = len(peer.recorder.list_pings(from_sut=True))
    pinging = PingingSut(second_host, sut)
    asked = pinging.poll_ping()
    elsewhere = peer.recorder.list_pings(from_sut=True)[known:]
    if asked is None and not elsewhere:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT sends no Ping Request before its second session")
        return
    judge(
        "MQQB-3.1.5.2.2-02",
        expected=holds(f"the Ping Request arrives at {second_host.address}"),
        observed=asked is not None or "the Ping Request arrives at the address of the first session",
        evidence=asked or elsewhere,
    )
    if asked is None:
        return
    pinging.answer_ping(asked)
    second = OutgoingSession(second_host, sut, listener=pinging.listener)
    if second.poll_request() is not None:
        second.respond()
        second.answer_connection_parameters()
        second.connection.acknowledge_all()
