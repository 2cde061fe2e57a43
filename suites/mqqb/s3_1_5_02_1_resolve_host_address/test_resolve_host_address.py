"""MS-MQQB 3.1.5.2.1 Resolve Host Address."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, none
from harness.judging.verdicts import Verdict
from harness.peer.handshake import NULL_GUID
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.sut_file import UNUSED_ADDRESS
from harness.sut.virtual_driver import HOST_WITH_TWO_ADDRESSES
from harness.topology.topology_file import ROUTER_ROLE, SENDER_ROLE
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    PEER_QUEUE_BY_HOST_NAME,
    RETRY_INTERVAL_MS,
    find_initiated_session,
    find_outgoing_queue,
    format_guid,
    is_text_of_ip_address,
    list_connection_history,
    list_outgoing_queues,
    private_name,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqso.steps.routed import RoutedMessages

FIELDS_OF_EMPTY_NEXT_HOP: dict[str, Any] = {"QMGuid": NULL_GUID, "HostName": "", "Address": ""}
LAST_DIGITS_OF_UNKNOWN_GUID = "ff"
"""The last two hexadecimal digits of OTHER_GUID."""
UNREACHABLE_IPV4, UNREACHABLE_IPV6 = "192.0.2.7", "2001:db8::7"
"""Addresses that are reserved for documentation, so that no system has them (RFC 5737, RFC 3849)."""
UNREACHABLE_QUEUE_NAME = f"DIRECT=TCP:{UNREACHABLE_IPV4}\\private$\\mqc-peer"
MESSAGE_LIFETIME_S = 60
TAG_OF_ROUTED_MESSAGE = 0x61
UNRESOLVABLE_HOST_QUEUE_NAME = "DIRECT=OS:no-such-host.invalid\\private$\\mqc-peer"


@covers("MQQB-3.1.5.2.1-01", "MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13")
def test_message_to_a_direct_name_goes_to_its_host_and_queue(peer, sut, judge):
    """The SUT has a message to a direct format name. The SUT connects to the host of that name, and the message
    contains the name of the queue.
    """
    to = peer.direct_name()
    session = OutgoingSession(peer, sut, to)
    request = session.poll_request()
    connected = holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection")
    judge("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13", expected=connected, observed=bool(request), evidence=[request])
    judge.conclude("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13")
    if request is None:
        raise ConformanceFailure("the SUT opened no connection for its message")
    session.respond()
    message = session.answer_connection_parameters()
    named = message["UserHeader"].DestinationQueue.DirectFormatName.removeprefix("DIRECT=")
    judge(
        "MQQB-3.1.5.2.1-01",
        expected=to.removeprefix("DIRECT="),
        observed=named,
        case="DestinationQueue of the message",
        evidence=message,
    )


@needs("private_names")
@covers(
    "MQQB-3.1.5.2.1-14",
    "MQQB-3.1.5.2.1-15",
    "MQQB-3.1.5.2.1-16",
    "MQQB-3.1.5.2.1-25",
    "MQQB-3.1.5.2.3-08",
    "MQQB-3.1.7.5-D01",
    "MQQB-3.1.7.5-D02",
)
def test_message_to_a_private_name_goes_to_its_queue_manager(peer, sut, judge):
    """The SUT has a message for a private format name. It connects to the queue manager whose GUID is in the name, and
    requests a session with that GUID.
    """
    session = OutgoingSession(peer, sut, private_name(peer.identifier))
    request = session.poll_request()
    judge(
        "MQQB-3.1.5.2.1-15",
        "MQQB-3.1.5.2.1-16",
        "MQQB-3.1.5.2.1-25",
        "MQQB-3.1.7.5-D01",
        expected=holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection"),
        observed=bool(request),
        evidence=[request],
    )
    if request is None:
        raise ConformanceFailure("the SUT opened no connection for its message")
    asked_for = format_guid(request["EstablishConnectionHeader"].ServerGuid)
    judge(
        "MQQB-3.1.5.2.1-14",
        "MQQB-3.1.5.2.3-08",
        "MQQB-3.1.7.5-D02",
        expected=format_guid(peer.identifier),
        observed=asked_for,
        case="ServerGuid of the request",
        evidence=request,
    )


@needs("send", "private_names")
@covers("MQQB-3.1.5.2.1-06")
@varied("acknowledgments", "positive journaling", "time to be received", "time to reach queue", "label")
def test_private_name_after_a_direct_name_leads_to_its_queue_manager(peer, sut, judge):
    """The SUT fails to connect for a direct format name of an unreachable host. It then requests a session for a direct
    format name of the peer, and one for a private format name, with the GUID in that name.
    """
    sut.send(UNREACHABLE_QUEUE_NAME, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    session = OutgoingSession(peer, sut)
    for_direct_name = session.poll_request(sut.connect_timeout_ms)
    judge(
        "MQQB-3.1.5.2.1-06",
        expected=holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection"),
        observed=for_direct_name is not None,
        evidence=[for_direct_name],
    )
    if for_direct_name is None:
        return
    sut.send(private_name(peer.identifier), body="opening")
    for_private_name = session.await_request()
    asked_for = format_guid(for_private_name["EstablishConnectionHeader"].ServerGuid)
    judge(
        "MQQB-3.1.5.2.1-06",
        expected=format_guid(peer.identifier),
        observed=asked_for,
        case="ServerGuid of the request",
        evidence=[for_direct_name, for_private_name],
    )


@needs("send", "management")
@covers("MQQB-3.1.5.2.1-02", "MQQB-3.1.5.2.1-03")
def test_messages_to_one_format_name_share_an_outgoing_queue(peer, sut, judge):
    """The SUT puts two messages to one format name into one OutgoingQueue. The State of this OutgoingQueue becomes
    Connected. The State of the OutgoingQueue for a second format name does not.
    """
    to = peer.direct_name()
    session = OutgoingSession(peer, sut, to)
    request = session.await_request()
    sut.send(to, body="the second")
    sut.send(UNRESOLVABLE_HOST_QUEUE_NAME, body="elsewhere")
    count = len(list_outgoing_queues(sut, to))
    judge(
        "MQQB-3.1.5.2.1-02",
        expected=1,
        observed=count,
        case="number of OutgoingQueues for the format name",
        evidence=request,
    )
    judge.conclude("MQQB-3.1.5.2.1-02")
    session.respond()
    message = session.answer_connection_parameters()
    connected = [
        name for name in (to, UNRESOLVABLE_HOST_QUEUE_NAME) if find_outgoing_queue(sut, name)["State"] == "Connected"
    ]
    judge(
        "MQQB-3.1.5.2.1-03",
        expected=[to],
        observed=connected,
        case="format names of the Connected queues",
        evidence=[request, message],
    )
    next_hops = find_outgoing_queue(sut, to)["NextHops"]
    beside = peer.direct_name("mqc-beside")
    sut.send(beside, body="beside", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    peer.eventually(lambda: bool(list_outgoing_queues(sut, beside)))
    peer.settle()
    judge(
        "MQQB-3.1.5.2.1-03",
        expected=next_hops,
        observed=find_outgoing_queue(sut, to)["NextHops"],
        case="NextHops of the first queue after a message to another queue",
        evidence=[request, message],
    )


def judge_unresolvable_name(peer, sut, judge, name, *, waits_rules, state_rule):
    """Let the SUT send to an unresolvable name; judge that the SUT keeps the message and does not connect, and judge
    the state of the outgoing queue.
    """
    sut.send(UNREACHABLE_QUEUE_NAME, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    session = OutgoingSession.create_unless_refused(peer, sut, judge, name)
    if session is None:
        return
    another = name.replace(LAST_DIGITS_OF_UNKNOWN_GUID, "fe")
    with suppress(ControlRefused):
        make_sut_send_message(peer, sut, another)
    peer.eventually(lambda: find_outgoing_queue(sut, name)["State"] == "NeedValidation")
    others = [queue["State"] for queue in list_outgoing_queues(sut, UNREACHABLE_QUEUE_NAME)]
    opened = session.listener.accept(sut.quiet_ms) is not None
    waiting = sut.outgoing(name)["count"]
    expected = fields({"message waits": True, "SUT connected": False})
    judge(*waits_rules, expected=expected, observed={"message waits": bool(waiting), "SUT connected": opened})
    states = {"NeedValidation"} | {find_outgoing_queue(sut, name)["State"]}
    states |= {queue["State"] for queue in list_outgoing_queues(sut, another)}
    peer.pass_time(sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    states.add(find_outgoing_queue(sut, name)["State"])
    judge(
        state_rule,
        expected=["NeedValidation"],
        observed=sorted(states),
        case="State of the outgoing queue, before and after a retry",
    )
    judge(
        state_rule,
        expected=holds("the State of the queue for a known destination is not NeedValidation"),
        observed="NeedValidation" not in others or str(others),
    )


UNRESOLVABLE_NAME_CASES = {
    "no-queue": (f"PUBLIC={OTHER_GUID}", "MQQB-3.1.5.2.1-10"),
    "no-way": (private_name(OTHER_GUID), "MQQB-3.1.5.2.1-20"),
}
"""An unknown public queue, and a private queue of a queue manager without a next hop; each is listed with the rule
about the timer.
"""


@needs("send", "management")
@pytest.mark.parametrize(
    ("name", "rule"), [pytest.param(*one, marks=covers(one[1]), id=key) for key, one in UNRESOLVABLE_NAME_CASES.items()]
)
def test_unresolvable_name_is_tried_again_after_retry_time(peer, sut, judge, name, rule):
    """The SUT sends to two unresolvable names: ConnectionHistory of the second name has an entry at once, and another
    entry whenever the Session Retry Connect Timer expires.
    """
    with suppress(ControlRefused):
        make_sut_send_message(peer, sut, name.replace(LAST_DIGITS_OF_UNKNOWN_GUID, "fe"))
    if OutgoingSession.create_unless_refused(peer, sut, judge, name) is None:
        return
    peer.eventually(lambda: bool(_list_connection_history_times(sut, name)))
    attempts = [_list_connection_history_times(sut, name)]
    for _ in range(2):
        peer.pass_time(sut.duration_ms(2 * RETRY_INTERVAL_MS) + sut.slack_ms(2 * RETRY_INTERVAL_MS))
        attempts.append(_list_connection_history_times(sut, name))
    judge(
        rule,
        expected=fields({"attempt at once": True, "after the retry time": True, "after two retry times": True}),
        observed={
            "attempt at once": bool(attempts[0]),
            "after the retry time": attempts[1] != attempts[0],
            "after two retry times": attempts[2] != attempts[1],
        },
    )


def _list_connection_history_times(sut, name):
    """Return the times in the ConnectionHistory of a format name.

    A SUT may update its only entry instead of adding a second one.
    """
    return [one["ConnectionHistoryTime"] for one in list_connection_history(sut, name)]


@needs("send", "management", "queue_control")
@covers("MQQB-3.1.5.2.1-08", "MQQB-3.1.5.2.1-11")
@varied("acknowledgments", "positive journaling", "negative journaling", "time to reach queue", "trace")
def test_unknown_public_queue_opens_no_session_and_needs_validation(peer, sut, judge):
    """A message to an unknown public queue waits without a connection; its outgoing queue has the State
    NeedValidation.
    """
    judge_unresolvable_name(
        peer,
        sut,
        judge,
        f"PUBLIC={OTHER_GUID}",
        waits_rules=["MQQB-3.1.5.2.1-08"],
        state_rule="MQQB-3.1.5.2.1-11",
    )


@needs("send", "management", "queue_control")
@covers("MQQB-3.1.5.2.1-18", "MQQB-3.1.5.2.1-21", "MQQB-3.1.7.5-D03")
@varied("acknowledgments", "positive journaling", "negative journaling", "response queue", "time to be received")
def test_destination_without_next_hop_needs_validation(peer, sut, judge):
    """A message to a queue manager without a next hop waits without a connection; its queue has the State
    NeedValidation.
    """
    judge_unresolvable_name(
        peer,
        sut,
        judge,
        private_name(OTHER_GUID),
        waits_rules=["MQQB-3.1.5.2.1-18", "MQQB-3.1.7.5-D03"],
        state_rule="MQQB-3.1.5.2.1-21",
    )


FORMAT_NAME_AND_RULE_BY_QUEUE_ON_HOLD = {
    "no-queue": (f"PUBLIC={OTHER_GUID}", "MQQB-3.1.5.2.1-11"),
    "no-way": (private_name(OTHER_GUID), "MQQB-3.1.5.2.1-21"),
}
"""Unresolvable names, each with the rule about the State of its queue."""


@needs("send", "management", "queue_control", "pause")
@pytest.mark.parametrize(
    ("name", "rule"),
    [pytest.param(*one, marks=covers(one[1]), id=key) for key, one in FORMAT_NAME_AND_RULE_BY_QUEUE_ON_HOLD.items()],
)
def test_queue_on_hold_needs_no_validation(peer, sut, judge, name, rule):
    """The SUT pauses the queue of an unresolvable name. Its State is OnHold, and remains OnHold after
    the retry time.
    """
    if OutgoingSession.create_unless_refused(peer, sut, judge, name) is None:
        return
    if not peer.eventually(lambda: find_outgoing_queue(sut, name)["State"] == "NeedValidation"):
        raise ConformanceFailure("the State of the queue is not NeedValidation before the pause")
    sut.pause(name)
    states = [find_outgoing_queue(sut, name)["State"]]
    peer.pass_time(sut.duration_ms(2 * RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    states.append(find_outgoing_queue(sut, name)["State"])
    judge(rule, expected=["OnHold", "OnHold"], observed=states, case="State of the queue at once and later")
    sut.resume(name)


@needs("topology")
@covers("MQQB-3.1.5.2.1-15", "MQQB-3.1.5.2.1-30", "MQQB-3.1.5.2.1-37")
def test_request_to_router_contains_guid_of_router(topology, judge):
    """The SUT has a message for a private name of another site. The SUT connects to the router, and requests a session
    with the Identifier of the router, which is the next hop.
    """
    routed = RoutedMessages(topology, "recoverable")
    routed.send(TAG_OF_ROUTED_MESSAGE)
    frames = routed.await_arrival(TAG_OF_ROUTED_MESSAGE)
    own = format_guid(topology.sender.guid)
    requests = [
        frame
        for frame in topology.traffic.list_packets_from_system("EstablishConnection", by=SENDER_ROLE, to=ROUTER_ROLE)
        if format_guid(frame["EstablishConnectionHeader"].ClientGuid) == own  # else it is a response
    ]
    asked_for = [format_guid(frame["EstablishConnectionHeader"].ServerGuid) for frame in requests]
    judge(
        "MQQB-3.1.5.2.1-15",
        expected=holds("the sender connects to the router", otherwise="the sender does not connect to the router"),
        observed=bool(requests),
        evidence=[*requests, *frames],
    )
    judge(
        "MQQB-3.1.5.2.1-30",
        "MQQB-3.1.5.2.1-37",
        expected={format_guid(topology.router.guid)},
        observed=set(asked_for),
        case="ServerGuid of the requests to the router",
        evidence=[*requests, *frames],
    )


@needs("send", "management", "private_names")
@covers(
    "MQQB-3.1.5.2.1-23",
    "MQQB-3.1.5.2.1-27",
    "MQQB-3.1.5.2.1-30",
    "MQQB-3.1.5.2.3-08",
)
def test_retried_session_keeps_one_next_hop_of_the_destination(peer, sut, judge):
    """The SUT makes three attempts to reach a private name, and the second opens a session. During each attempt,
    NextHops contains one address, and the request contains the GUID in that name.
    """
    name = private_name(peer.identifier)
    session = OutgoingSession(peer, sut, name)
    formatted = f"{'IPv6' if ':' in peer.address else 'IP'}={peer.address}"
    for attempt in range(3):
        request = session.await_request()
        next_hops = find_outgoing_queue(sut, name)["NextHops"]
        judge(
            "MQQB-3.1.5.2.1-23",
            "MQQB-3.1.5.2.1-27",
            expected=[formatted],
            observed=next_hops,
            case="NextHops",
            evidence=request,
        )
        asked_for = format_guid(request["EstablishConnectionHeader"].ServerGuid)
        judge(
            "MQQB-3.1.5.2.1-30",
            "MQQB-3.1.5.2.3-08",
            expected=format_guid(peer.identifier),
            observed=asked_for,
            case="ServerGuid of the request",
            evidence=request,
        )
        judge.conclude()
        if attempt == 1:  # the message is not acknowledged, so that the SUT connects again
            session.respond()
            session.answer_connection_parameters()
        session.connection.close()


@needs("send", "management")
@covers("MQQB-3.1.5.2.1-27")
def test_next_hop_has_prefix_of_its_address_kind(peer, sut, judge):
    """Messages wait for an unreachable IPv4 address and an unreachable IPv6 address: NextHops shows the addresses with
    the prefixes IP= and IPv6=.
    """
    for kind, address in (("IP", UNREACHABLE_IPV4), ("IPv6", UNREACHABLE_IPV6)):
        name = f"DIRECT=TCP:{address}\\private$\\mqc-peer"
        sut.send(name, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
        peer.eventually(lambda: bool(find_outgoing_queue(sut, name)["NextHops"]))  # noqa: B023 - called at once
        next_hops = find_outgoing_queue(sut, name)["NextHops"]
        if kind == "IPv6" and not next_hops:
            judge.give_up(Verdict.NOT_EXERCISED, "the SUT does not support IPv6")
            return
        judge("MQQB-3.1.5.2.1-27", expected=[f"{kind}={address}"], observed=next_hops, case="NextHops")


@needs("send", "inspect", "management", "two_addresses")
@covers(
    "MQQB-3.1.5.2.1-05",
    "MQQB-3.1.5.2.1-13",
    "MQQB-3.1.5.2.1-27",
    "MQQB-3.1.5.2.1-28",
    "MQQB-3.1.5.2.1-29",
    "MQQB-3.1.5.2.1-31",
    "MQQB-3.1.5.2.1-32",
    "MQQB-3.1.5.2.1-36",
    "MQQB-3.1.1.3.1.3-01",
)
def test_next_hops_have_every_address_of_host_name(peer, sut, judge):
    """The SUT connects to a host name with several addresses, while a message waits for another host. NextHopCollection
    of the session and NextHops of the outgoing queue contain every address to which the name resolves. RemoteQMHostName
    of the session is the name.
    """
    sut.send(UNREACHABLE_QUEUE_NAME, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    request = OutgoingSession(peer, sut, PEER_QUEUE_BY_HOST_NAME).poll_request(2 * sut.connect_timeout_ms)
    judge(
        "MQQB-3.1.5.2.1-05",
        "MQQB-3.1.5.2.1-13",
        expected=holds("the SUT connects to the host name", otherwise="the SUT opened no connection"),
        observed=request is not None,
        evidence=[request],
    )
    expected = sorted(peer.environment.resolve(HOST_WITH_TWO_ADDRESSES)) or sorted((UNUSED_ADDRESS, peer.address))
    session = find_initiated_session(sut, PEER_QUEUE_BY_HOST_NAME)
    hops = session["NextHopCollection"]
    judge(
        "MQQB-3.1.5.2.1-28",
        "MQQB-3.1.5.2.1-31",
        "MQQB-3.1.5.2.1-32",
        expected=expected,
        observed=sorted(hop["Address"] for hop in hops),
        case="Addresses in NextHopCollection",
        evidence=[request],
    )
    judge(
        "MQQB-3.1.1.3.1.3-01",
        expected=none("Address that is no network address"),
        observed=[hop["Address"] for hop in hops if not is_text_of_ip_address(hop["Address"])],
        evidence=[request],
    )
    judge(
        "MQQB-3.1.5.2.1-29",
        expected=[PEER_QUEUE_BY_HOST_NAME.partition(":")[2].partition("\\")[0].lower()] * len(hops),
        observed=[str(hop["HostName"]).lower() for hop in hops],
        case="HostNames in NextHopCollection",
        evidence=[request],
    )
    judge(
        "MQQB-3.1.5.2.1-36",
        expected={str(hop["HostName"]).lower() for hop in hops},
        observed={str(session["RemoteQMHostName"]).lower()},
        case="RemoteQMHostName",
        evidence=[request],
    )
    shown = find_outgoing_queue(sut, PEER_QUEUE_BY_HOST_NAME)["NextHops"]
    judge(
        "MQQB-3.1.5.2.1-27",
        expected=sorted(f"{'IPv6' if ':' in one else 'IP'}={one}" for one in expected),
        observed=sorted(shown),
        case="NextHops of the outgoing queue",
        evidence=[request],
    )


@needs("send", "inspect", "management", "private_names")
@covers(
    "MQQB-3.1.5.2.1-28",
    "MQQB-3.1.5.2.1-29",
    "MQQB-3.1.5.2.1-30",
    "MQQB-3.1.5.2.1-31",
    "MQQB-3.1.5.2.1-32",
    "MQQB-3.1.5.2.1-33",
    "MQQB-3.1.5.2.1-34",
    "MQQB-3.1.5.2.1-35",
    "MQQB-3.1.5.2.1-36",
    "MQQB-3.1.5.2.1-37",
    "MQQB-3.1.1.3.1.3-01",
)
def test_session_elements_are_those_of_the_first_next_hop(peer, sut, judge):
    """For a private name, NextHopCollection contains a NextHop for each address. In the first attempt and in a retry,
    the session has the elements of the first NextHop.
    """
    name = private_name(peer.identifier)
    outgoing = OutgoingSession(peer, sut, name)
    for attempt in ("first attempt", "retry"):
        request = outgoing.await_request()
        judge_session_elements(peer, sut, judge, name, request, attempt)
        outgoing.connection.close()


def judge_session_elements(peer, sut, judge, name, request, attempt):
    """Compare NextHopCollection and the elements of the session for a private name with the first NextHop."""
    session = find_initiated_session(sut, name)
    next_hops = find_outgoing_queue(sut, name)["NextHops"]
    hops, indexer = session["NextHopCollection"], session["NextHopIndexer"]
    first_hop = hops[0] if hops else FIELDS_OF_EMPTY_NEXT_HOP
    indexed = hops[indexer] if 0 <= indexer < len(hops) else first_hop
    values = {
        "MQQB-3.1.5.2.1-28": ("number of NextHops", len(next_hops), len(hops)),
        "MQQB-3.1.5.2.1-29": (
            "HostName resolves to the peer's address",
            True,
            peer.address in peer.environment.resolve(first_hop["HostName"]),
        ),
        "MQQB-3.1.5.2.1-30": (
            "QMGuid of the first NextHop",
            format_guid(peer.identifier),
            format_guid(first_hop["QMGuid"]),
        ),
        "MQQB-3.1.5.2.1-31": ("Address of the first NextHop", peer.address, first_hop["Address"]),
        "MQQB-3.1.5.2.1-32": ("number of NextHops", len(next_hops), len(hops)),
        "MQQB-3.1.5.2.1-33": ("NextHopIndexer", 0, indexer),
        "MQQB-3.1.5.2.1-34": (
            "NextHop at NextHopIndexer",
            {"Address": indexed["Address"], "HostName": indexed["HostName"], "QMGuid": format_guid(indexed["QMGuid"])},
            {name: session[f"RemoteQM{name.removeprefix('QM')}"] for name in ("Address", "HostName", "QMGuid")},
        ),
        "MQQB-3.1.5.2.1-35": ("RemoteQMAddress", first_hop["Address"], session["RemoteQMAddress"]),
        "MQQB-3.1.5.2.1-36": ("RemoteQMHostName", first_hop["HostName"], session["RemoteQMHostName"]),
        "MQQB-3.1.5.2.1-37": ("RemoteQMGuid", format_guid(first_hop["QMGuid"]), session["RemoteQMGuid"]),
    }
    for rule, (element, expected, observed) in values.items():
        judge(rule, expected=expected, observed=observed, case=f"{element}, {attempt}", evidence=request)
    addresses = [hop["Address"] for hop in hops if is_text_of_ip_address(hop["Address"])]
    judge("MQQB-3.1.1.3.1.3-01", expected=len(hops), observed=len(addresses), case="number of NextHops with an address")
