"""MS-MQQB 3.1.5.2.1 Resolve Host Address."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.judging.verdicts import Verdict
from harness.peer.handshake import NULL_GUID
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    RETRY_MS,
    accepted,
    agree,
    connection_history,
    find_initiated_session,
    find_outgoing_queue,
    guid_text,
    is_address,
    list_outgoing_queues,
    listen,
    listen_unless_refused,
    private_name,
    respond,
)

NO_HOP: dict[str, Any] = {"QMGuid": NULL_GUID, "HostName": "", "Address": ""}
NOWHERE_IPV4, NOWHERE_IPV6 = "192.0.2.7", "2001:db8::7"
"""Addresses for documentation: RFC 5737, RFC 3849."""
LIFETIME_S = 60
NOWHERE = "DIRECT=OS:no-such-host.invalid\\private$\\mqc-peer"


@covers("MQQB-3.1.5.2.1-01", "MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13")
def test_a_direct_name_tells_host_and_queue(peer, sut, judge):
    """The SUT connects to the host that a direct format name names, and its message names the queue."""
    to = peer.direct_name()
    connection = listen(peer, sut, to).accept()
    request = connection.expect("EstablishConnection") if connection else None
    connected = holds(f"a connection to {peer.address}", otherwise="no connection")
    judge("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13", expected=connected, observed=bool(connection), evidence=[request])
    judge.conclude("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13")
    if connection is None or request is None:
        raise ConformanceFailure("the SUT opened no connection for its message")
    message = agree(connection, respond(connection, request))
    named = message["UserHeader"].DestinationQueue.DirectFormatName.removeprefix("DIRECT=")
    judge("MQQB-3.1.5.2.1-01", expected=to.removeprefix("DIRECT="), observed=named, evidence=message)


@needs("send", "private_names")
@covers(
    "MQQB-3.1.5.2.1-14",
    "MQQB-3.1.5.2.1-15",
    "MQQB-3.1.5.2.1-16",
    "MQQB-3.1.5.2.1-25",
    "MQQB-3.1.5.2.3-08",
    "MQQB-3.1.7.5-D01",
    "MQQB-3.1.7.5-D02",
)
def test_a_private_name_tells_the_queue_manager(peer, sut, judge):
    """For a private format name the SUT connects to the queue manager with this GUID, and asks for it."""
    connection = listen(peer, sut, private_name(peer.identifier)).accept()
    request = connection.expect("EstablishConnection") if connection else None
    judge(
        "MQQB-3.1.5.2.1-15",
        "MQQB-3.1.5.2.1-16",
        "MQQB-3.1.5.2.1-25",
        "MQQB-3.1.7.5-D01",
        expected=holds(f"a connection to {peer.address}", otherwise="no connection"),
        observed=bool(connection),
        evidence=[request],
    )
    if request is None:
        raise ConformanceFailure("the SUT opened no connection for its message")
    asked_for = guid_text(request["EstablishConnectionHeader"].ServerGuid)
    judge(
        "MQQB-3.1.5.2.1-14",
        "MQQB-3.1.5.2.3-08",
        "MQQB-3.1.7.5-D02",
        expected=guid_text(peer.identifier),
        observed=asked_for,
        evidence=request,
    )


@needs("send", "private_names")
@covers("MQQB-3.1.5.2.1-06")
def test_each_destination_is_that_of_its_own_name(peer, sut, judge):
    """After a session for a direct name, one for a private name asks for its GUID: each name leads its own way."""
    listener = listen(peer, sut, peer.direct_name())
    _, first = accepted(listener)
    sut.send(private_name(peer.identifier), body="opening")
    _, second = accepted(listener)
    asked_for = guid_text(second["EstablishConnectionHeader"].ServerGuid)
    judge("MQQB-3.1.5.2.1-06", expected=guid_text(peer.identifier), observed=asked_for, evidence=[first, second])


@needs("send", "management")
@covers("MQQB-3.1.5.2.1-02", "MQQB-3.1.5.2.1-03")
def test_a_format_name_has_one_outgoing_queue(peer, sut, judge):
    """Messages to one format name share its OutgoingQueue, and what the session does shows on no other."""
    to = peer.direct_name()
    listener = listen(peer, sut, to)
    connection, request = accepted(listener)
    sut.send(to, body="the second")
    sut.send(NOWHERE, body="elsewhere")
    shown = len(list_outgoing_queues(sut, to))
    judge("MQQB-3.1.5.2.1-02", expected=1, observed=shown, case="OutgoingQueues", evidence=request)
    judge.conclude("MQQB-3.1.5.2.1-02")
    message = agree(connection, respond(connection, request))
    connected = [name for name in (to, NOWHERE) if find_outgoing_queue(sut, name)["State"] == "Connected"]
    judge("MQQB-3.1.5.2.1-03", expected=[to], observed=connected, case="Connected", evidence=[request, message])


def check_leads_nowhere(peer, sut, judge, name, *, waits_rules, state_rule):
    """Send to a name that leads nowhere; judge that the message waits, and the state of its queue."""
    listener = listen_unless_refused(peer, sut, judge, name)
    if listener is None:
        return
    opened = listener.accept(sut.quiet_ms) is not None
    waiting = sut.outgoing(name)["count"]
    expected = fields({"message waits": True, "connection": False})
    judge(*waits_rules, expected=expected, observed={"message waits": bool(waiting), "connection": opened})
    judge(state_rule, expected="NeedValidation", observed=find_outgoing_queue(sut, name)["State"])


LEADS_NOWHERE = {
    "no-queue": (f"PUBLIC={OTHER_GUID}", "MQQB-3.1.5.2.1-10"),
    "no-way": (private_name(OTHER_GUID), "MQQB-3.1.5.2.1-20"),
}
"""A public name of no queue, a private name of a queue manager without a next hop, and the rules of the retry timer."""


@needs("send", "management")
@pytest.mark.parametrize(
    ("name", "rule"), [pytest.param(*one, marks=covers(one[1]), id=key) for key, one in LEADS_NOWHERE.items()]
)
def test_what_leads_nowhere_is_tried_again_when_the_retry_time_is_over(peer, sut, judge, name, rule):
    """ConnectionHistory of a name that leads nowhere has an attempt at once, and another after the retry time."""
    if listen_unless_refused(peer, sut, judge, name) is None:
        return
    peer.eventually(lambda: bool(_attempts(sut, name)))
    first = len(_attempts(sut, name))
    peer.pass_time(sut.duration_ms(2 * RETRY_MS) + sut.slack_ms(2 * RETRY_MS))
    again = len(_attempts(sut, name)) > first
    expected = fields({"tried": True, "tried again": True})
    judge(rule, expected=expected, observed={"tried": bool(first), "tried again": again})


def _attempts(sut, name):
    """Return the moments of ConnectionHistory of the name, which may be one entry that is renewed."""
    return [one["ConnectionHistoryTime"] for one in connection_history(sut, name)]


@needs("send", "management", "queue_control")
@covers("MQQB-3.1.5.2.1-08", "MQQB-3.1.5.2.1-11")
def test_a_queue_that_no_directory_knows_is_tried_again_later(peer, sut, judge):
    """A public format name of no queue opens no session: its outgoing queue needs validation."""
    check_leads_nowhere(
        peer,
        sut,
        judge,
        f"PUBLIC={OTHER_GUID}",
        waits_rules=["MQQB-3.1.5.2.1-08"],
        state_rule="MQQB-3.1.5.2.1-11",
    )


@needs("send", "management", "queue_control")
@covers("MQQB-3.1.5.2.1-18", "MQQB-3.1.5.2.1-21", "MQQB-3.1.7.5-D03")
def test_a_queue_manager_without_a_way_to_it_is_tried_again_later(peer, sut, judge):
    """A private format name without a next hop opens no session: its queue needs validation."""
    check_leads_nowhere(
        peer,
        sut,
        judge,
        private_name(OTHER_GUID),
        waits_rules=["MQQB-3.1.5.2.1-18", "MQQB-3.1.7.5-D03"],
        state_rule="MQQB-3.1.5.2.1-21",
    )


@needs("send", "management", "private_names")
@covers(
    "MQQB-3.1.5.2.1-23",
    "MQQB-3.1.5.2.1-27",
    "MQQB-3.1.5.2.1-30",
    "MQQB-3.1.5.2.1-37",
)
def test_a_session_goes_where_the_destination_resolves_to(peer, sut, judge):
    """The address found is the next hop of the queue; the session goes there, asks for that queue manager, twice."""
    name = private_name(peer.identifier)
    listener = listen(peer, sut, name)
    formatted = f"{'IPv6' if ':' in peer.address else 'IP'}={peer.address}"
    for _ in range(2):
        connection, request = accepted(listener)
        next_hops = find_outgoing_queue(sut, name)["NextHops"]
        judge("MQQB-3.1.5.2.1-23", "MQQB-3.1.5.2.1-27", expected=[formatted], observed=next_hops, evidence=request)
        asked_for = guid_text(request["EstablishConnectionHeader"].ServerGuid)
        judge(
            "MQQB-3.1.5.2.1-30",
            "MQQB-3.1.5.2.1-37",
            expected=guid_text(peer.identifier),
            observed=asked_for,
            evidence=request,
        )
        connection.close()


@needs("send", "management")
@covers("MQQB-3.1.5.2.1-27")
def test_a_next_hop_says_which_kind_of_address_it_is(peer, sut, judge):
    """Of two direct names, where nobody answers, one has an IPv6 address: both are next hops, each with its kind."""
    for kind, address in (("IP", NOWHERE_IPV4), ("IPv6", NOWHERE_IPV6)):
        name = f"DIRECT=TCP:{address}\\private$\\mqc-peer"
        sut.send(name, time_to_reach_queue_s=LIFETIME_S)
        peer.eventually(lambda: bool(find_outgoing_queue(sut, name)["NextHops"]))  # noqa: B023 - called at once
        next_hops = find_outgoing_queue(sut, name)["NextHops"]
        if kind == "IPv6" and not next_hops:
            judge.give_up(Verdict.NOT_EXERCISED, "the SUT has no IPv6")
            return
        judge("MQQB-3.1.5.2.1-27", expected=[f"{kind}={address}"], observed=next_hops)


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
def test_next_hops_are_what_the_destination_resolves_to(peer, sut, judge):
    """The addresses found make NextHops and NextHopCollection, and the session's elements are of the first."""
    name = private_name(peer.identifier)
    _, request = accepted(listen(peer, sut, name))
    session = find_initiated_session(sut, name)
    next_hops = find_outgoing_queue(sut, name)["NextHops"]
    hops, indexer = session["NextHopCollection"], session["NextHopIndexer"]
    first = hops[0] if hops else NO_HOP
    in_turn = hops[indexer] if 0 <= indexer < len(hops) else first
    found = {
        "MQQB-3.1.5.2.1-28": (len(next_hops), len(hops)),
        "MQQB-3.1.5.2.1-29": (True, peer.address in peer.environment.resolve(first["HostName"])),
        "MQQB-3.1.5.2.1-30": (guid_text(peer.identifier), guid_text(first["QMGuid"])),
        "MQQB-3.1.5.2.1-31": (peer.address, first["Address"]),
        "MQQB-3.1.5.2.1-32": (len(next_hops), len(hops)),
        "MQQB-3.1.5.2.1-33": (0, indexer),
        "MQQB-3.1.5.2.1-34": (
            {"Address": in_turn["Address"], "HostName": in_turn["HostName"], "QMGuid": guid_text(in_turn["QMGuid"])},
            {name: session[f"RemoteQM{name.removeprefix('QM')}"] for name in ("Address", "HostName", "QMGuid")},
        ),
        "MQQB-3.1.5.2.1-35": (first["Address"], session["RemoteQMAddress"]),
        "MQQB-3.1.5.2.1-36": (first["HostName"], session["RemoteQMHostName"]),
        "MQQB-3.1.5.2.1-37": (guid_text(first["QMGuid"]), session["RemoteQMGuid"]),
    }
    for rule, (expected, observed) in found.items():
        judge(rule, expected=expected, observed=observed, evidence=request)
    textual = [hop["Address"] for hop in hops if is_address(hop["Address"])]
    judge("MQQB-3.1.1.3.1.3-01", expected=len(hops), observed=len(textual), case="addresses")
