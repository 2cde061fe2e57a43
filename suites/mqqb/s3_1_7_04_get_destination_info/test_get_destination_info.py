"""MS-MQQB 3.1.7.4 Get Destination Info, observed through the SUT's connection and its ServerGuid."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import pytest

from harness.expectations import fields, holds, one_of
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import (
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    PEER_PUBLIC_QUEUE,
)
from suites.applications import DONE, get_request_outcome
from suites.mqqb.steps.opening import OTHER_GUID, PEER_QUEUE_BY_HOST_NAME, RETRY_INTERVAL_MS
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.sender import Sender


def expect_connection_to_peer(peer):
    """Wait until the SUT connects to the address of the peer."""
    return holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection")


def send_and_observe_connection(peer, sut, name: str):
    """Let the SUT send to a format name; return whether the SUT connects to the peer, the ServerGuid of the SUT's
    request, and the request.
    """
    connection = OutgoingSession(peer, sut, name).listener.accept()
    request = None if connection is None else connection.poll("EstablishConnection")
    asked = "no request" if request is None else str(UUID(str(request["EstablishConnectionHeader"].ServerGuid)))
    return connection is not None, asked, request


@covers("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-03", "MQQB-3.1.7.4-04", "MQQB-3.1.7.4-05", "MQQB-3.1.7.4-17")
@varied("priority", "negative journaling", "response queue", "time to be received", "time to reach queue")
def test_direct_name_leads_to_connection_to_its_address(peer, sut, judge):
    """The SUT sends to a direct format name of the peer. The SUT connects to the address in the name; ServerGuid of its
    request is zero, or the peer's GUID (erratum E11).
    """
    where, asked, request = send_and_observe_connection(peer, sut, peer.direct_name())
    judge(
        "MQQB-3.1.7.4-02",
        "MQQB-3.1.7.4-03",
        "MQQB-3.1.7.4-04",
        "MQQB-3.1.7.4-17",
        expected=expect_connection_to_peer(peer),
        observed=where,
    )
    either = one_of(str(UUID(int=0)), str(peer.identifier))
    judge(
        "MQQB-3.1.7.4-05",
        expected=either,
        observed=asked,
        case="ServerGuid of the request",
        evidence=request,
        errata="E11",
    )


@needs("send", "private_names")
@covers("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-14", "MQQB-3.1.7.4-15", "MQQB-3.1.7.4-16", "MQQB-3.1.7.4-17")
@varied("positive journaling", "response queue", priority=("3", "0"))
def test_private_name_leads_to_connection_to_its_queue_manager(peer, sut, judge):
    """The SUT sends to a private format name of the peer. The SUT connects to the peer, and ServerGuid of its request
    is the GUID in the name.
    """
    where, asked, request = send_and_observe_connection(peer, sut, f"PRIVATE={peer.identifier}\\00000001")
    judge(
        "MQQB-3.1.7.4-02",
        "MQQB-3.1.7.4-15",
        "MQQB-3.1.7.4-17",
        expected=expect_connection_to_peer(peer),
        observed=where,
    )
    judge(
        "MQQB-3.1.7.4-14",
        "MQQB-3.1.7.4-16",
        expected=str(peer.identifier),
        observed=asked,
        case="ServerGuid of the request",
        evidence=request,
    )


@needs("send", "private_names")
@covers("MQQB-3.1.7.4-14", "MQQB-3.1.7.4-15", "MQQB-3.1.7.4-16")
def test_private_names_of_same_number_lead_to_their_own_queue_managers(peer, sut, judge):
    """The SUT sends to a private format name of an unknown queue manager, and then to the private format name of the
    peer with the same queue number. The SUT connects to the peer, and ServerGuid of its request is the peer's GUID.
    """
    sut.send(f"PRIVATE={OTHER_GUID}\\00000001", body="for nobody")
    where, asked, request = send_and_observe_connection(peer, sut, f"PRIVATE={peer.identifier}\\00000001")
    judge("MQQB-3.1.7.4-15", "MQQB-3.1.7.4-16", expected=expect_connection_to_peer(peer), observed=where)
    judge(
        "MQQB-3.1.7.4-14",
        "MQQB-3.1.7.4-16",
        expected=str(peer.identifier),
        observed=asked,
        case="ServerGuid of the request",
        evidence=request,
    )


@needs("send", "private_names")
@covers("MQQB-3.1.7.4-14", "MQQB-3.1.7.4-15")
def test_private_name_in_upper_case_leads_to_its_queue_manager(peer, second_host, sut, judge):
    """The SUT sends to a direct format name of another host, and then to a private format name of the peer with a GUID
    in upper case and a high queue number. The SUT connects to the peer, and ServerGuid of its request is the peer's
    GUID.
    """
    send_and_observe_connection(second_host, sut, second_host.direct_name())
    where, asked, request = send_and_observe_connection(peer, sut, f"PRIVATE={str(peer.identifier).upper()}\\7FFF0001")
    judge("MQQB-3.1.7.4-15", expected=expect_connection_to_peer(peer), observed=where)
    judge(
        "MQQB-3.1.7.4-14",
        expected=str(peer.identifier),
        observed=asked,
        case="ServerGuid of the request",
        evidence=request,
    )


@needs("send", "private_names")
@covers("MQQB-3.1.7.4-15", "MQQB-3.1.7.5-D03")
@pytest.mark.parametrize("delivery", ["express", "transactional"])
def test_unknown_private_name_after_known_name_opens_no_connection(peer, sut, judge, delivery):
    """The SUT sends to a private format name of the peer, and then two messages to a private format name of an unknown
    queue manager. The SUT opens only the connection for the first name.
    """
    known = OutgoingSession(peer, sut, f"PRIVATE={peer.identifier}\\00000001")
    known.await_request()
    send_unknown = partial(sut.send, f"PRIVATE={OTHER_GUID}\\00000002", body="for nobody", delivery=delivery)
    if [get_request_outcome(send_unknown) for _ in range(2)] != [DONE, DONE]:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT refuses a queue of an unknown queue manager")
        return
    second = known.listener.accept(sut.quiet_ms)
    judge.all(
        expected=holds("the SUT opened no connection", otherwise="the SUT opened a connection"),
        observed=not second,
    )


@needs("send")
@covers("MQQB-3.1.7.4-03", "MQQB-3.1.7.4-05")
def test_later_direct_name_leads_to_its_own_address(peer, second_host, sut, judge):
    """The SUT sends to a direct format name of another host, and then to a public queue of the peer by a direct format
    name. The SUT connects to the peer. ServerGuid of this request, and of the request after the peer has closed the
    connection, is zero, or the peer's GUID (erratum E11).
    """
    send_and_observe_connection(second_host, sut, second_host.direct_name())
    session = OutgoingSession(peer, sut, f"DIRECT=TCP:{peer.address}\\mqc-public")
    requests = [session.poll_request()]
    judge("MQQB-3.1.7.4-03", expected=expect_connection_to_peer(peer), observed=requests[0] is not None)
    if requests[0] is not None:
        session.connection.close()
        requests.append(session.await_request())
    for when, request in zip(("first", "second"), requests, strict=False):
        judge(
            "MQQB-3.1.7.4-05",
            expected=one_of(str(UUID(int=0)), str(peer.identifier)),
            observed="no request"
            if request is None
            else str(UUID(str(request["EstablishConnectionHeader"].ServerGuid))),
            case=f"ServerGuid of the {when} request",
            evidence=request,
            errata="E11",
        )


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
@varied("acknowledgments", "positive journaling", "negative journaling", "time to be received", "trace")
def test_public_name_leads_to_connection_to_owner_of_queue(peer, sut, judge):
    """The SUT sends to a public format name of a queue of the peer. The SUT connects to the peer, and ServerGuid of its
    request is the peer's GUID.
    """
    where, asked, request = send_and_observe_connection(peer, sut, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    judge(
        "MQQB-3.1.7.4-02",
        "MQQB-3.1.7.4-06",
        "MQQB-3.1.7.4-07",
        "MQQB-3.1.7.4-12",
        "MQQB-3.1.7.4-17",
        expected=expect_connection_to_peer(peer),
        observed=where,
    )
    expected = fields({"GUID": str(peer.identifier), "address": expect_connection_to_peer(peer)})
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
    judge(
        "MQQB-3.1.7.4-08",
        "MQQB-3.1.7.4-13",
        expected=str(peer.identifier),
        observed=asked,
        case="ServerGuid of the request",
        evidence=request,
    )


DESTINATION_RULES_BY_FORMAT_NAME_KIND = {
    "public": (
        "MQQB-3.1.7.4-06",
        "MQQB-3.1.7.4-07",
        "MQQB-3.1.7.4-08",
        "MQQB-3.1.7.4-12",
        "MQQB-3.1.7.4-13",
        "MQQB-3.1.7.5-D01",
        "MQQB-3.1.7.5-D02",
    ),
    "private": ("MQQB-3.1.7.4-15", "MQQB-3.1.7.4-16", "MQQB-3.1.7.5-D01", "MQQB-3.1.7.5-D02"),
}
"""The rules about the destination and the next hops of a format name, by the kind of the name."""


@needs("send")
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[covers(*rules), needs(f"{kind}_names")])
        for kind, rules in DESTINATION_RULES_BY_FORMAT_NAME_KIND.items()
    ],
)
def test_name_beside_other_queue_leads_again_to_its_queue_manager(peer, second_host, sut, judge, kind):
    """The SUT sends to another host, and then a transactional message to a public or private format name of the peer.
    The SUT connects to the peer, and again after the peer has closed the connection. ServerGuid of both requests and
    QueueManagerAddress of the message are the peer's GUID.
    """
    send_and_observe_connection(second_host, sut, second_host.direct_name())
    name = {"public": f"PUBLIC={PEER_PUBLIC_QUEUE}", "private": f"PRIVATE={peer.identifier}\\00000001"}[kind]
    listener = peer.listen_without_core()
    sut.send(name, body="opening", label="opening", delivery="transactional")
    session = OutgoingSession(peer, sut, listener=listener)
    for when in ("first", "second"):
        request = session.poll_request(
            sut.response_timeout_ms + sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
        )
        judge.all(
            expected=expect_connection_to_peer(peer),
            observed=request is not None,
            case=f"{when} connection",
            evidence=request,
        )
        if request is None:
            return
        judge.all(
            expected=str(peer.identifier),
            observed=str(UUID(str(request["EstablishConnectionHeader"].ServerGuid))),
            case=f"ServerGuid of the {when} request",
            evidence=request,
        )
        if when == "first":
            session.connection.close()
    session.respond()
    message = session.answer_connection_parameters()
    judge.all(
        expected=str(peer.identifier),
        observed=str(UUID(str(message["UserHeader"].QueueManagerAddress))),
        case="QueueManagerAddress of the message",
        evidence=message,
    )


@needs("send", "two_addresses")
@covers("MQQB-3.1.7.4-02", "MQQB-3.1.7.4-03", "MQQB-3.1.7.4-04", "MQQB-3.1.7.4-05", "MQQB-3.1.7.4-17")
def test_direct_name_of_host_leads_to_connection_to_its_address(peer, sut, judge):
    """The SUT sends to a direct format name with a host name in a domain; the host name resolves to the peer's address.
    The SUT connects to the peer, and ServerGuid of its request is zero, or the peer's GUID (erratum E11).
    """
    where, asked, request = send_and_observe_connection(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    judge(
        "MQQB-3.1.7.4-02",
        "MQQB-3.1.7.4-03",
        "MQQB-3.1.7.4-04",
        "MQQB-3.1.7.4-17",
        expected=expect_connection_to_peer(peer),
        observed=where,
    )
    judge(
        "MQQB-3.1.7.4-05",
        expected=one_of(str(UUID(int=0)), str(peer.identifier)),
        observed=asked,
        case="ServerGuid of the request",
        evidence=request,
        errata="E11",
    )


@needs("send", "public_names")
@covers("MQQB-3.1.7.4-07", "MQQB-3.1.7.4-08", "MQQB-3.1.7.4-11")
def test_unknown_public_name_opens_no_connection(peer, sut, judge):
    """The SUT sends to a public format name that no directory contains: the SUT does not connect."""
    outgoing = OutgoingSession.create_unless_refused(peer, sut, judge, f"PUBLIC={OTHER_GUID}")
    if outgoing is None:
        return
    connection = outgoing.listener.accept(sut.quiet_ms)
    judge.all(
        expected=holds("the SUT opened no connection", otherwise="the SUT opened a connection"), observed=not connection
    )


@needs("send", "public_names")
@covers("MQQB-3.1.7.4-08", "MQQB-3.1.7.4-11")
@pytest.mark.parametrize("delivery", ["express", "transactional"])
def test_unknown_public_name_after_known_name_opens_no_connection(peer, sut, judge, delivery):
    """The SUT sends to a public format name of the peer, and then two messages to a public format name that no
    directory contains. The SUT opens only the connection for the first name.
    """
    known = OutgoingSession(peer, sut, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    known.await_request()
    send_unknown = partial(sut.send, f"PUBLIC={OTHER_GUID}", body="for nobody", delivery=delivery)
    if [get_request_outcome(send_unknown) for _ in range(2)] != [DONE, DONE]:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT refuses a queue that is in no directory")
        return
    second = known.listener.accept(sut.quiet_ms)
    judge.all(
        expected=holds("the SUT opened no connection", otherwise="the SUT opened a connection"),
        observed=not second,
    )


@needs("directory", "send")
@covers(
    "MQQB-3.1.7.4-06",
    "MQQB-3.1.7.4-13",
    "MQQB-3.1.7.5-D01",
    "MQDMPR-3.1.7.1.5-64",
    "MQDMPR-3.1.7.1.5-65",
    "MQDMPR-3.1.7.1.5-68",
    "MQDMPR-3.1.7.1.5-71",
)
def test_messages_to_two_public_names_have_their_own_queue_managers(peer, sut, judge):
    """The SUT sends to a public format name of the peer, and to a public format name of a remote computer, to which the
    peer is the next hop: QueueManagerAddress of each message is the GUID of the queue manager that owns the queue.
    The GUID in the second name is in upper case. The last message is transactional.
    """
    sender = Sender(peer, sut)
    came = []
    for tag, queue, delivery in (
        (1, PEER_PUBLIC_QUEUE, "express"),
        (2, str(GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE).upper(), "express"),
        (3, GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, "transactional"),
    ):
        sender.to = f"PUBLIC={queue}"
        sender.send(tag, delivery=delivery)
        came += peer.inbox.wait(lambda frame, tag=tag: Sender.list_tags([frame]) == [tag])
        peer.inbox.acknowledge()
    judge.all(
        expected=[
            str(peer.identifier),
            str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE),
            str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE),
        ],
        observed=[str(UUID(str(frame["UserHeader"].QueueManagerAddress))) for frame in came],
        case="QueueManagerAddress of the messages",
        evidence=came,
    )
