"""MS-MQQB 3.1.5.4.2 Response Packet: a ConnectionParameters response concerns only its own session and queue."""

from __future__ import annotations

from harness.peer.handshake import UNUSUAL_WINDOW_SIZE
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import find_initiated_session, find_outgoing_queue
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqqb.steps.two_destinations import TwoDestinations


@needs("inspect")
@covers("MQQB-3.1.5.4.2-01")
def test_received_window_size_of_open_session_outlasts_next_response(peer, sut, judge):
    """The SUT opens a session for a queue of the peer, and then a session for another queue, with another WindowSize of
    the peer. ReceivedWindowSize of each session is the WindowSize of its own response.
    """
    names = [peer.direct_name(), peer.direct_name("mqc-beside")]
    windows = [UNUSUAL_WINDOW_SIZE + 0x100, UNUSUAL_WINDOW_SIZE]
    first = OutgoingSession(peer, sut, names[0])
    first.await_request()
    first.respond()
    first.answer_connection_parameters(WindowSize=windows[0])
    first.connection.acknowledge_all()
    evidence = [first.connection.sent[-1]]
    make_sut_send_message(peer, sut, names[1], tag=2)
    second = OutgoingSession(peer, sut, listener=first.listener)
    opened = second.poll_request() is not None  # else the message comes on the open session (E16)
    if opened:
        second.respond()
        second.answer_connection_parameters(WindowSize=windows[1])
        evidence.append(second.connection.sent[-1])
    count = 1 + opened
    judge(
        "MQQB-3.1.5.4.2-01",
        expected=windows[:count],
        observed=[find_initiated_session(sut, name)["ReceivedWindowSize"] for name in names[:count]],
        case="ReceivedWindowSize of each session",
        evidence=evidence,
    )


@needs("send", "management")
@covers("MQQB-3.1.5.4.2-03", "MQQB-3.1.5.4.2-04")
def test_next_hops_of_open_session_outlast_next_response(peer, second_host, sut, judge):
    """The SUT opens a session with the peer, and then a session with a second queue manager. NextHops of each outgoing
    queue contains only the address of its own session.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately((1, 1))
    addresses = [peer.address, second_host.address]
    judge(
        "MQQB-3.1.5.4.2-03",
        "MQQB-3.1.5.4.2-04",
        expected=[[f"{'IPv6' if ':' in one else 'IP'}={one}"] for one in addresses],
        observed=[find_outgoing_queue(sut, one.sender.to)["NextHops"] for one in two.both_destinations],
        case="NextHops of the two outgoing queues",
        evidence=[one.session.acknowledge_all() for one in two.both_destinations],
    )
