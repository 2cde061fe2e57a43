"""MS-MQQB 3.1.7.4 Get Destination Info, by where the SUT connects and which queue manager it asks for there."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.opening import NULL_GUID, OTHER_GUID, direct_name, listen, private_name, text

RULE = "MQQB-3.1.7.4-"


def check_leads_to_the_peer(peer, sut, judge, name, where, whom):
    """Send to a name: the SUT connects to the peer (rules ``where``) and asks for a queue manager (``whom``)."""
    connection = listen(peer, sut, name).accept()
    observed = f"{'a' if connection else 'no'} connection to {peer.address}"
    for rule in where:
        judge(f"{RULE}{rule}", expected=f"a connection to {peer.address}", observed=observed)
    request = None if connection is None else connection.poll("EstablishConnection")
    asked = "nobody" if request is None else text(request["EstablishConnectionHeader"].ServerGuid)
    rules, guid = whom
    for rule in rules:
        judge(f"{RULE}{rule}", expected=text(guid), observed=asked, evidence=request)


@needs("send")
@covers(*(f"{RULE}{number}" for number in ("02", "03", "04", "05", "17")))
def test_a_direct_name_leads_to_its_address(peer, sut, judge):
    """For a direct format name the SUT connects to the address in it, and asks for no queue manager by GUID."""
    check_leads_to_the_peer(peer, sut, judge, direct_name(peer), ("02", "03", "04", "17"), (("05",), NULL_GUID))


@needs("send", "private_names")
@covers(*(f"{RULE}{number}" for number in ("02", "14", "15", "16", "17")))
def test_a_private_name_leads_to_its_queue_manager(peer, sut, judge):
    """For a private format name the SUT connects to the queue manager with the GUID in it, and asks for that."""
    name = private_name(peer.identifier)
    check_leads_to_the_peer(peer, sut, judge, name, ("02", "15", "17"), (("14", "16"), peer.identifier))


@needs("send", "public_names")
@covers(*(f"{RULE}{number}" for number in ("02", "06", "07", "08", "12", "13", "17")))
def test_a_public_name_leads_to_the_queue_manager_of_its_queue(peer, sut, judge):
    """For a public format name the SUT connects to the computer that has the queue, and asks for its queue manager."""
    name = f"PUBLIC={PEER_PUBLIC_QUEUE}"
    where = ("02", "06", "07", "12", "17")
    check_leads_to_the_peer(peer, sut, judge, name, where, (("08", "13"), peer.identifier))


@needs("send", "public_names")
@covers(*(f"{RULE}{number}" for number in ("07", "08", "11")))
def test_a_public_name_that_nobody_knows_leads_nowhere(peer, sut, judge):
    """A public format name of a queue that is in no directory opens no connection."""
    connection = listen(peer, sut, f"PUBLIC={OTHER_GUID}").accept(sut.quiet_ms)
    for rule in ("07", "08", "11"):
        judge(f"{RULE}{rule}", expected="no connection", observed=f"{'a' if connection else 'no'} connection")
