"""MS-MQQB 3.1.7.4 Get Destination Info: destinations beside other destinations and sessions."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import pytest

from harness.expectations import holds, one_of
from harness.run.marks import covers, needs
from harness.sut.provisioning import GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.applications import get_request_outcome
from suites.mqqb.steps.opening import OTHER_GUID, private_name
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.sender import Sender


def _expect_connection(peer):
    """Return an expectation that the SUT connects to the peer."""
    return holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection")


def _get_server_guid(request) -> str:
    """Return ServerGuid of an EstablishConnection request as text."""
    return "no request" if request is None else str(UUID(str(request["EstablishConnectionHeader"].ServerGuid)))


@needs("send")
@covers("MQQB-3.1.7.4-02")
@pytest.mark.parametrize("kind", ["direct", pytest.param("private", marks=needs("private_names"))])
def test_prefix_in_lower_case_leads_to_destination(peer, sut, judge, kind):
    """The SUT sends to a direct or private format name whose prefix is in lower case. The SUT connects to the peer."""
    name = peer.direct_name() if kind == "direct" else private_name(peer.identifier)
    prefix, _, rest = name.partition("=")
    request = OutgoingSession(peer, sut, f"{prefix.lower()}={rest}").poll_request()
    judge("MQQB-3.1.7.4-02", expected=_expect_connection(peer), observed=request is not None, evidence=request)


@needs("send", "private_names", "public_names")
@covers("MQQB-3.1.7.4-02")
def test_public_name_after_private_name_leads_to_its_queue_manager(peer, sut, judge):
    """The SUT sends to a private format name, to a direct format name, and to a public format name of the peer. All
    messages arrive.
    """
    peer.listen()
    names = (private_name(peer.identifier), peer.direct_name(), f"PUBLIC={PEER_PUBLIC_QUEUE}")
    for tag, name in enumerate(names, 1):
        sut.send(name, body="for the peer", application_tag=tag)
        came = peer.inbox.wait(lambda frame, wanted=tag: Sender.list_tags([frame]) == [wanted])
        judge(
            "MQQB-3.1.7.4-02",
            expected=holds("the message arrives", otherwise="the message does not arrive"),
            observed=bool(came),
            case=f"message to {name}",
            evidence=came,
        )
        peer.inbox.acknowledge()


@needs("send")
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("direct", marks=covers("MQQB-3.1.7.4-05")),
        pytest.param("private", marks=[covers("MQQB-3.1.7.4-15"), needs("private_names")]),
    ],
)
def test_name_beside_open_direct_session_leads_to_its_own_queue_manager(peer, second_host, sut, judge, kind):
    """The SUT has an open session with a second host by a direct format name, and then sends to a direct or private
    format name of the peer. The SUT connects to the peer. For the private name, ServerGuid is the GUID in the name; for
    the direct name, it is zero or the peer's GUID (erratum E11).
    """
    beside = Sender(second_host, sut)
    beside.send(1)
    session, sent = beside.await_first_messages(1)
    request = OutgoingSession(
        peer, sut, peer.direct_name() if kind == "direct" else private_name(peer.identifier)
    ).poll_request()
    if kind == "direct":
        judge(
            "MQQB-3.1.7.4-05",
            expected=one_of(str(UUID(int=0)), str(peer.identifier)),
            observed=_get_server_guid(request),
            case="ServerGuid of the request",
            evidence=[*sent, request],
            errata="E11",
        )
    else:
        judge(
            "MQQB-3.1.7.4-15",
            expected=str(peer.identifier),
            observed=_get_server_guid(request),
            case="ServerGuid of the request that arrives at the peer",
            evidence=[*sent, request],
        )
    session.acknowledge_all()


@needs("send", "public_names")
@covers("MQQB-3.1.7.4-07")
def test_known_public_name_after_unknown_name_leads_to_connection(peer, sut, judge):
    """The SUT sends to a public format name that no directory contains, and then to a public format name of the peer.
    The SUT connects to the peer.
    """
    get_request_outcome(partial(sut.send, f"PUBLIC={OTHER_GUID}", body="for nobody"))
    request = OutgoingSession(peer, sut, f"PUBLIC={PEER_PUBLIC_QUEUE}").poll_request()
    judge("MQQB-3.1.7.4-07", expected=_expect_connection(peer), observed=request is not None, evidence=request)


@needs("send", "private_names", "security")
@covers("MQQB-3.1.7.4-16")
def test_private_names_of_two_queue_managers_have_their_own_guids(peer, sut, judge):
    """The SUT sends to private format names of two queue managers at the peer's address. ServerGuid of each request is
    the GUID in the name.
    """
    listener = peer.listen_without_core()
    for guid in (peer.identifier, GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY):
        sut.send(private_name(guid), body="for a queue manager")
        request = OutgoingSession(peer, sut, listener=listener).await_request()
        judge(
            "MQQB-3.1.7.4-16",
            expected=str(guid),
            observed=_get_server_guid(request),
            case="ServerGuid of the request",
            evidence=request,
        )


@needs("send")
@covers("MQQB-3.1.7.4-17")
def test_destination_beside_unreachable_destination_is_reached(peer, second_host, sut, judge):
    """The SUT has a message for a second host, which does not listen, and then a message for the peer. The SUT connects
    to the peer.
    """
    sut.send(second_host.direct_name(), body="for an unreachable host")
    peer.pass_time(sut.quiet_ms)
    request = OutgoingSession(peer, sut).poll_request()
    judge("MQQB-3.1.7.4-17", expected=_expect_connection(peer), observed=request is not None, evidence=request)
    second_host.listen()


@covers("MQQB-3.1.7.4-17")
def test_every_session_to_destination_is_opened(peer, sut, judge):
    """The SUT sends one message on each of four sessions. The peer acknowledges each message, and then closes the
    session.
    """
    sender = Sender(peer, sut)
    for number in range(1, 5):
        sender.send(number)
        session = sender.poll_session()
        came = [] if session is None else sender.collect_messages(session, 1)
        judge(
            "MQQB-3.1.7.4-17",
            expected=holds("the SUT sends its message", otherwise="the SUT sends no message"),
            observed=bool(came),
            case=f"session {number}",
            evidence=came,
        )
        if session is None:
            return
        session.acknowledge_all()
        peer.settle()
        session.close()
