"""MS-MQQB 3.1.5.2.1 Resolve Host Address: the initiator resolves the host name of a queue for later sessions."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.run.marks import covers, needs
from harness.sut.virtual_driver import HOST_WITH_TWO_ADDRESSES
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME, find_initiated_session
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message


@needs("send", "inspect", "two_addresses")
@covers("MQQB-3.1.5.2.1-28", "MQQB-3.1.5.2.1-29", "MQQB-3.1.5.2.1-31", "MQQB-3.1.5.2.1-32")
def test_next_hops_of_later_sessions_have_every_address_of_host_name(peer, sut, judge):
    """The SUT connects to a host name with several addresses three times. The peer closes the first session during the
    handshake, and the second after a message. At each request, NextHopCollection has the same addresses and the host
    name.
    """
    session = OutgoingSession(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    request: Frame | None = session.await_request()
    expected = sorted(peer.environment.resolve(HOST_WITH_TWO_ADDRESSES)) or _list_next_hop_addresses(sut)
    for attempt in ("first session", "session after an end in the handshake", "session after a delivered message"):
        if request is None and not peer.eventually(lambda: bool(_list_next_hop_addresses(sut))):
            return  # the SUT makes no further attempt
        judge(
            "MQQB-3.1.5.2.1-29",
            expected={HOST_WITH_TWO_ADDRESSES.lower()},
            observed=_list_next_hop_names(sut),
            case=f"HostNames in NextHopCollection, {attempt}",
            evidence=request or session.request,
        )
        judge(
            "MQQB-3.1.5.2.1-28",
            "MQQB-3.1.5.2.1-31",
            "MQQB-3.1.5.2.1-32",
            expected=expected,
            observed=_list_next_hop_addresses(sut),
            case=f"Addresses in NextHopCollection, {attempt}",
            evidence=request or session.request,
        )
        judge.conclude()
        if request is None:
            return
        if attempt == "session after an end in the handshake":
            session.respond()
            session.answer_connection_parameters()
            session.connection.acknowledge_all()
            peer.settle()
            make_sut_send_message(peer, sut, PEER_QUEUE_BY_HOST_NAME, tag=2)
        session.connection.close()
        request = session.poll_request(2 * sut.connect_timeout_ms)  # after any further addresses


def _list_next_hop_addresses(sut):
    """Return the addresses in NextHopCollection of the session of the queue."""
    hops = find_initiated_session(sut, PEER_QUEUE_BY_HOST_NAME)["NextHopCollection"]
    return sorted(hop["Address"] for hop in hops)


def _list_next_hop_names(sut):
    """Return the host names in NextHopCollection of the session of the queue, in lower case."""
    hops = find_initiated_session(sut, PEER_QUEUE_BY_HOST_NAME)["NextHopCollection"]
    return {str(hop["HostName"]).lower() for hop in hops}
