"""MS-MQQB 3.1.5.2.1 Resolve Host Address: the initiator has messages for several queues, hosts and queue managers."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    RETRY_INTERVAL_MS,
    format_guid,
    list_outgoing_queues,
    private_name,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.sender import list_tags

UNREACHABLE_FORMAT_NAME = "DIRECT=TCP:192.0.2.7\\private$\\mqc-peer"
"""A format name with an address that is reserved for documentation, so that no system has it (RFC 5737)."""
MESSAGE_LIFETIME_S = 60


def _count_message_sent_to_unresolvable_name(sut, name, delivery):
    """Let the SUT send a message to an unresolvable name; return 1, or 0 if the SUT refuses the name.

    Spec: MS-MQDMPR 3.1.7.1.5: a queue that is not found cannot be opened.
    """
    try:
        sut.send(name, body="waiting", delivery=delivery, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    except ControlRefused:
        return 0
    return 1


@needs("send")
@covers("MQQB-3.1.5.2.1-01", "MQQB-3.1.5.2.1-13")
def test_messages_for_queues_of_one_host_name_their_queues(peer, sut, judge):
    """The SUT sends three messages, alternately to two queues of the peer. Each message arrives and names its own
    queue.
    """
    peer.listen(ignore_incoming=True)
    names = [peer.direct_name(), peer.direct_name("mqc-beside"), peer.direct_name()]
    for tag, name in enumerate(names, 1):
        sut.send(name, application_tag=tag, body=f"message {tag}")
        found = _await_messages_with_tag(peer, sut, tag)
        judge(
            "MQQB-3.1.5.2.1-01",
            "MQQB-3.1.5.2.1-13",
            expected=[name.removeprefix("DIRECT=").lower()],
            observed=[
                one["UserHeader"].DestinationQueue.DirectFormatName.removeprefix("DIRECT=").lower() for one in found
            ],
            case=f"DestinationQueue of message {tag}",
            evidence=found,
        )
        for message in found:
            peer.inbox.conversation(message).acknowledge_all()
        peer.settle()


def _await_messages_with_tag(peer, sut, tag):
    """Return the messages with an ApplicationTag that arrive on any session of the SUT."""

    def list_messages():
        return peer.inbox.find(lambda frame: list_tags([frame]) == [tag])

    peer.wait(lambda: bool(list_messages()), sut.connect_timeout_ms, f"message {tag}")
    return list_messages()


@needs("send", "private_names")
@covers(
    "MQQB-3.1.5.2.1-01",
    "MQQB-3.1.5.2.1-05",
    "MQQB-3.1.5.2.1-13",
    "MQQB-3.1.5.2.1-14",
    "MQQB-3.1.5.2.1-15",
    "MQQB-3.1.5.2.1-16",
    "MQQB-3.1.5.2.1-25",
)
def test_retried_direct_name_and_private_name_lead_to_peer(peer, sut, judge):
    """Messages wait for an unreachable host and for a queue manager without a next hop. The SUT connects to the peer
    for a direct name, and connects again after the peer has closed the connection. It then requests a session with the
    GUID in a private name.
    """
    sut.send(UNREACHABLE_FORMAT_NAME, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    sut.send(private_name(OTHER_GUID), time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    session = OutgoingSession(peer, sut)
    connected = holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection")
    for attempt in ("first attempt", "retry"):
        request = session.poll_request(
            sut.connect_timeout_ms + sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
        )
        judge(
            "MQQB-3.1.5.2.1-05",
            "MQQB-3.1.5.2.1-13",
            "MQQB-3.1.5.2.1-25",
            expected=connected,
            observed=request is not None,
            case=f"direct name, {attempt}",
            evidence=[request],
        )
        if request is None:
            return
        if attempt == "first attempt":
            session.connection.close()
    session.respond()
    message = session.answer_connection_parameters()
    judge(
        "MQQB-3.1.5.2.1-01",
        "MQQB-3.1.5.2.1-13",
        expected=peer.direct_name().removeprefix("DIRECT=").lower(),
        observed=message["UserHeader"].DestinationQueue.DirectFormatName.removeprefix("DIRECT=").lower(),
        case="DestinationQueue of the message after the retry",
        evidence=message,
    )
    session.connection.acknowledge_all()
    sut.send(private_name(peer.identifier), body="opening")
    request = session.poll_request(sut.connect_timeout_ms)
    asked_for = request and format_guid(request["EstablishConnectionHeader"].ServerGuid)
    judge(
        "MQQB-3.1.5.2.1-15",
        "MQQB-3.1.5.2.1-16",
        "MQQB-3.1.5.2.1-25",
        expected=connected,
        observed=request is not None,
        case="private name",
        evidence=[request],
    )
    judge(
        "MQQB-3.1.5.2.1-01",
        "MQQB-3.1.5.2.1-05",
        "MQQB-3.1.5.2.1-14",
        expected=format_guid(peer.identifier),
        observed=asked_for or "no request",
        case="ServerGuid of the request",
        evidence=[request],
    )


@needs("send", "management")
@covers("MQQB-3.1.5.2.1-02")
def test_every_format_name_has_one_outgoing_queue(peer, sut, judge):
    """The SUT sends two messages to each of two queues of the peer, and to a queue of an unreachable host. Each format
    name has one OutgoingQueue, whose DestinationFormatName is the format name.
    """
    first, second = peer.direct_name(), peer.direct_name("mqc-beside")
    session = OutgoingSession(peer, sut, first)
    session.open()
    session.connection.acknowledge_all()
    names = (first, second, UNREACHABLE_FORMAT_NAME)
    for name in (second, UNREACHABLE_FORMAT_NAME, first, second, UNREACHABLE_FORMAT_NAME):
        sut.send(name, body="one of several", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
        peer.settle()
    for name in names:
        queues = list_outgoing_queues(sut, name)
        judge(
            "MQQB-3.1.5.2.1-02",
            expected=[name.lower()],
            observed=[str(one["DestinationFormatName"]).lower() for one in queues],
            case=f"DestinationFormatName of the OutgoingQueues for {name}",
        )


@needs("send", "management", "queue_control")
@covers("MQQB-3.1.5.2.1-08", "MQQB-3.1.5.2.1-18")
def test_messages_to_unresolvable_names_wait_after_retry(peer, sut, judge):
    """While a session with the peer is open, express and recoverable messages wait for an unknown public queue and for
    a queue manager without a next hop. After a retry, all of them still wait, and the SUT has opened no session.
    """
    session = OutgoingSession(peer, sut)
    session.open()
    session.connection.acknowledge_all()
    unresolvable = {"MQQB-3.1.5.2.1-08": f"PUBLIC={OTHER_GUID}", "MQQB-3.1.5.2.1-18": private_name(OTHER_GUID)}
    for rule, name in unresolvable.items():
        sent = 0
        for delivery in ("express", "recoverable"):
            sent += _count_message_sent_to_unresolvable_name(sut, name, delivery)
        if not sent:
            judge.mark_not_exercised(rule, reason="the SUT refuses messages to this name, which is allowed")
            continue
        opened = session.listener.accept(sut.quiet_ms)
        peer.pass_time(sut.duration_ms(2 * RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
        opened = opened or session.listener.accept(sut.quiet_ms)
        judge(
            rule,
            expected=holds("the SUT opens no connection for the messages"),
            observed=opened is None or "the SUT opened a connection",
            case=name,
        )
        judge(rule, expected=sent, observed=sut.outgoing(name)["count"], case=f"waiting messages after a retry, {name}")
