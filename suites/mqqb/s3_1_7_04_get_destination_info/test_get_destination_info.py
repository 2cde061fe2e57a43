"""MS-MQQB 3.1.7.4 Get Destination Info, by where the SUT connects and which queue manager it asks for there."""

from __future__ import annotations

from harness.expectations import Expectation, fields, holds, one_of
from harness.peer.handshake import NULL_GUID
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.opening import OTHER_GUID, listen, listen_unless_refused, private_name, text


def connected_to(peer) -> Expectation:
    """Expect a connection to the address of the peer."""
    return holds(f"a connection to {peer.address}", otherwise="no connection")


def connection_for(peer, sut, name: str):
    """Send to a name; return whether the SUT connects to the peer, the GUID that it asks for and its request."""
    connection = listen(peer, sut, name).accept()
    request = None if connection is None else connection.poll("EstablishConnection")
    asked = "nobody" if request is None else text(request["EstablishConnectionHeader"].ServerGuid)
    return connection is not None, asked, request


@covers("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-03", "MQQB-3.1.7.4-04", "MQQB-3.1.7.4-05", "MQQB-3.1.7.4-17")
def test_a_direct_name_leads_to_its_address(peer, sut, judge):
    """For a direct format name the SUT connects to the address in it, and asks for no queue manager by GUID."""
    where, asked, request = connection_for(peer, sut, peer.direct_name())
    judge(
        "MQQB-3.1.7.4-02",
        "MQQB-3.1.7.4-03",
        "MQQB-3.1.7.4-04",
        "MQQB-3.1.7.4-17",
        expected=connected_to(peer),
        observed=where,
    )
    either = one_of(text(NULL_GUID), text(peer.identifier))
    judge("MQQB-3.1.7.4-05", expected=either, observed=asked, evidence=request, errata="E11")


@needs("send", "private_names")
@covers("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-14", "MQQB-3.1.7.4-15", "MQQB-3.1.7.4-16", "MQQB-3.1.7.4-17")
def test_a_private_name_leads_to_its_queue_manager(peer, sut, judge):
    """For a private format name the SUT connects to the queue manager with the GUID in it, and asks for that."""
    where, asked, request = connection_for(peer, sut, private_name(peer.identifier))
    judge(
        "MQQB-3.1.7.4-02",
        "MQQB-3.1.7.4-15",
        "MQQB-3.1.7.4-17",
        expected=connected_to(peer),
        observed=where,
    )
    judge("MQQB-3.1.7.4-14", "MQQB-3.1.7.4-16", expected=text(peer.identifier), observed=asked, evidence=request)


@needs("send", "public_names")
@covers(
    "MQQB-3.1.7.4-02",
    "MQQB-3.1.7.4-06",
    "MQQB-3.1.7.4-07",
    "MQQB-3.1.7.4-08",
    "MQQB-3.1.7.4-12",
    "MQQB-3.1.7.4-13",
    "MQQB-3.1.7.4-17",
    "MQDMPR-3.1.7.1.5-64",
    "MQDMPR-3.1.7.1.5-65",
    "MQDMPR-3.1.7.1.5-68",
    "MQDMPR-3.1.7.1.5-71",
    "MQDMPR-3.1.7.1.5-86",
    "MQDMPR-3.1.7.1.5-87",
    "MQDMPR-3.1.7.1.5-90",
)
def test_a_public_name_leads_to_the_queue_manager_of_its_queue(peer, sut, judge):
    """For a public format name the SUT connects to the computer that has the queue, and asks for its queue manager."""
    where, asked, request = connection_for(peer, sut, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    judge(
        "MQQB-3.1.7.4-02",
        "MQQB-3.1.7.4-06",
        "MQQB-3.1.7.4-07",
        "MQQB-3.1.7.4-12",
        "MQQB-3.1.7.4-17",
        expected=connected_to(peer),
        observed=where,
    )
    expected = fields({"GUID": text(peer.identifier), "address": connected_to(peer)})
    observed = {"GUID": asked, "address": where}
    judge(
        "MQDMPR-3.1.7.1.5-64",
        "MQDMPR-3.1.7.1.5-65",
        "MQDMPR-3.1.7.1.5-68",
        "MQDMPR-3.1.7.1.5-71",
        "MQDMPR-3.1.7.1.5-86",
        "MQDMPR-3.1.7.1.5-87",
        "MQDMPR-3.1.7.1.5-90",
        expected=expected,
        observed=observed,
        evidence=request,
    )
    judge("MQQB-3.1.7.4-08", "MQQB-3.1.7.4-13", expected=text(peer.identifier), observed=asked, evidence=request)


@needs("send", "public_names")
@covers("MQQB-3.1.7.4-07", "MQQB-3.1.7.4-08", "MQQB-3.1.7.4-11")
def test_a_public_name_that_nobody_knows_leads_nowhere(peer, sut, judge):
    """A public format name of a queue that is in no directory opens no connection."""
    listener = listen_unless_refused(peer, sut, judge, f"PUBLIC={OTHER_GUID}")
    if listener is None:
        return
    connection = listener.accept(sut.quiet_ms)
    judge.all(expected=holds("no connection", otherwise="a connection"), observed=not connection)
