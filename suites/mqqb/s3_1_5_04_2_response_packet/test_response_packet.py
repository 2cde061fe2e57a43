"""MS-MQQB 3.1.5.4.2 Response Packet, and how the outgoing queue shows the session on the way there."""

from __future__ import annotations

from harness.expectations import facts, fields, packet
from harness.peer.handshake import WINDOW
from harness.peer.inbox import agreement
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import (
    BY_HOST_NAME,
    accepted,
    agree,
    called,
    find_initiated_session,
    find_outgoing_queue,
    last_entry,
    listen,
    recent_entry,
    respond,
)
from suites.mqqb.steps.sender import Sender


@needs("management")
@covers(
    "MQQB-3.1.5.2.3-14",
    "MQQB-3.1.5.2.3-16",
    "MQQB-3.1.5.3.2-15",
    "MQQB-3.1.5.4.2-03",
    "MQQB-3.1.5.4.2-04",
    "MQQB-3.1.5.4.2-05",
    "MQQB-3.1.5.4.2-08",
    "MQQB-3.1.5.4.2-09",
)
def test_the_outgoing_queue_tells_how_far_its_session_is(peer, sut, judge):
    """Each packet of the opening leaves its entry in ConnectionHistory, and State goes from Waiting to Connected."""
    to = peer.direct_name()

    def judge_entry(rule: str, status: str, frame) -> None:
        entries = find_outgoing_queue(sut, to)["ConnectionHistory"]
        judge(rule, expected=recent_entry(peer, status), observed=last_entry(entries), evidence=frame)

    connection, asked = called(peer, sut, to)
    judge_entry("MQQB-3.1.5.2.3-14", "InProcess", asked)
    judge("MQQB-3.1.5.2.3-16", expected="Waiting", observed=find_outgoing_queue(sut, to)["State"], evidence=asked)
    wanted = respond(connection, asked)
    judge_entry("MQQB-3.1.5.3.2-15", "EstablishPacketReceived", wanted)
    agree(connection, wanted, WindowSize=WINDOW)
    agreed = connection.sent[-1]
    judge_entry("MQQB-3.1.5.4.2-08", "Established", agreed)
    queue = find_outgoing_queue(sut, to)
    judge("MQQB-3.1.5.4.2-09", expected="Connected", observed=queue["State"], evidence=agreed)
    hops = queue["NextHops"]
    last = hops[-1] if hops else "none"
    address = last.partition("=")[2] or last
    judge("MQQB-3.1.5.4.2-03", expected=1, observed=len(hops), case="addresses", evidence=agreed)
    judge("MQQB-3.1.5.4.2-04", expected=peer.address, observed=address, evidence=agreed)
    formatted = f"{'IPv6' if ':' in address else 'IP'}={address}"
    judge("MQQB-3.1.5.4.2-05", expected=formatted, observed=last, evidence=agreed)


@needs("send", "management", "two_addresses")
@covers("MQQB-3.1.5.4.2-08", "MQQB-3.1.5.4.2-04")
def test_the_address_is_told_where_a_name_leads_to_it(peer, sut, judge):
    """The session for a host name leaves its address in ConnectionHistory and NextHops, not the name."""
    sender = Sender(peer, sut, BY_HOST_NAME)
    sender.send(1)
    session = sender.session()
    came = sender.collect(session, 1)
    queue = find_outgoing_queue(sut, sender.to)
    expected, observed = recent_entry(peer, "Established"), last_entry(queue["ConnectionHistory"])
    judge("MQQB-3.1.5.4.2-08", expected=expected, observed=observed, evidence=came)
    hops = [hop.partition("=")[2] or hop for hop in queue["NextHops"]]
    judge("MQQB-3.1.5.4.2-04", expected=[peer.address], observed=hops, evidence=came)
    sender.acknowledge_all(session)


@needs("inspect")
@covers("MQQB-3.1.5.4.2-01")
def test_the_window_of_the_response_is_noted(peer, sut, judge):
    """ReceivedWindowSize is the WindowSize of the acceptor's ConnectionParameters."""
    connection, asked = called(peer, sut)
    agree(connection, respond(connection, asked), WindowSize=WINDOW)
    observed = find_initiated_session(sut, peer.direct_name())["ReceivedWindowSize"]
    judge("MQQB-3.1.5.4.2-01", expected=WINDOW, observed=observed, evidence=connection.sent[-1])


@covers("MQQB-3.1.5.4.2-07", "MQQB-3.1.5.4.2-D01")
def test_a_response_opens_the_session(peer, sut, judge):
    """Nothing is sent before the acceptor's ConnectionParameters; after them the message comes, and one is taken."""
    connection, asked = accepted(listen(peer, sut))
    wanted = respond(connection, asked)
    is_quiet = connection.quiet()
    agreed = connection.send(agreement(wanted))
    message = connection.poll("UserMessage")
    judge(
        "MQQB-3.1.5.4.2-07",
        expected=fields({"quiet before the response": True, "after it": packet("UserMessage")}),
        observed={"quiet before the response": is_quiet, "after it": message},
        evidence=[wanted, agreed, message],
    )
    answer = None if message is None else connection.acknowledgment()
    judge(
        "MQQB-3.1.5.4.2-D01",
        expected=facts(came=packet("UserMessage"), acknowledged=packet("SessionAck")),
        observed={"came": message, "acknowledged": answer},
        evidence=[wanted, agreed, message, answer],
    )
