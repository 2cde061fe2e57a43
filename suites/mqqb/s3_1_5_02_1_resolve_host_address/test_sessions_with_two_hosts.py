"""MS-MQQB 3.1.5.2.1 Resolve Host Address: sessions with two hosts, each with its own outgoing queue."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import find_outgoing_queue
from suites.mqqb.steps.two_destinations import Destination, TwoDestinations


@needs("send", "management")
@covers("MQQB-3.1.5.2.1-03", "MQQB-3.1.5.2.1-35")
def test_outgoing_queue_shows_only_its_own_session(peer, second_host, sut, judge):
    """The SUT opens a session with the peer, and then a session with a second queue manager. ConnectionHistory of each
    outgoing queue contains only the address of its own destination, and both queues are Connected. When the second
    queue manager closes its session, only the queue of this session is no longer Connected.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.first.send()
    two.first.await_messages()
    two.second.send()

    def list_addresses(destination: Destination) -> list[str]:
        history = find_outgoing_queue(sut, destination.sender.to)["ConnectionHistory"]
        return sorted({entry["AddressList"] for entry in history})

    def list_states() -> list[str]:
        return [find_outgoing_queue(sut, one.sender.to)["State"] for one in two.both_destinations]

    peer.eventually(lambda: bool(list_addresses(two.second)))
    evidence = [two.first.session.received[0]]
    judge(
        "MQQB-3.1.5.2.1-35",
        expected=[second_host.address],
        observed=list_addresses(two.second),
        case="addresses in ConnectionHistory of the second queue manager's queue",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.2.1-35")
    two.second.await_messages()
    evidence += [one.session.acknowledge_all() for one in two.both_destinations]
    peer.settle()
    judge(
        "MQQB-3.1.5.2.1-03",
        expected=[[peer.address], [second_host.address]],
        observed=[list_addresses(one) for one in two.both_destinations],
        case="addresses in ConnectionHistory of each queue",
        evidence=evidence,
    )
    states = [list_states()]
    two.second.session.end()
    peer.eventually(lambda: list_states()[1] != "Connected")
    states.append(list_states())
    judge(
        "MQQB-3.1.5.2.1-03",
        expected=[["Connected", "Connected"], ["Connected", "not Connected"]],
        observed=[states[0], [states[1][0], "Connected" if states[1][1] == "Connected" else "not Connected"]],
        case="States of the queues before and after the end of the second session",
        evidence=evidence,
    )
