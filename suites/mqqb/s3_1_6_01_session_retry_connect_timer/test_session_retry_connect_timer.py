"""MS-MQQB 3.1.6.1 Session Retry Connect Timer Event, with the reconnection of 3.1.5.9 and 3.1.7.3."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, packet, packets
from harness.peer.durations import IN_TIME_TEXT
from harness.peer.handshake import establish_request
from harness.peer.inbox import establish_response
from harness.run.marks import covers, malforms, needs, varied
from harness.wire import session_ack
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME, SIGNATURE_BYTES, list_connection_history
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, SESSION_SET_UP_PACKET_KINDS, Sender

DELIVERY_MODES = ("express", "recoverable", "transactional")
RECONNECTION_EXPECTATION = holds("the SUT connected again after the retry time")
LARGE_BODY = "body" * 2_500
WRONG_MESSAGE_COUNT = 0x4000
CONNECTION_FAILURE_STATUSES = ("PingFailure", "SocketConnectFailure")
"""The values of Status of an attempt to connect to an address without a listener."""
LONG_RETRY_INTERVAL_MS = 60_000
"""The retry time in ms. The time is long enough for an acknowledgment to arrive on a different session."""


@covers(
    "MQQB-3.1.5.9-04",
    "MQQB-3.1.6.1-01",
    "MQQB-3.1.6.1-03",
    "MQQB-3.1.6.1-10",
    "MQQB-3.1.7.3-01",
)
@malforms(
    "MQQB-3.1.6.4-06",
    "MQMQ-2.2.19.1-21",
    "MQMQ-2.2.19.3-18",
    "MQQB-3.1.5.3.1-08",
    "MQQB-3.1.5.3.1-10",
)
@varied("trace", priority=("3", "0"))
def test_initiator_reconnects_while_messages_are_unacknowledged(peer, sut, judge):
    """The peer drops the session while two of three messages from the SUT are unacknowledged. On each of six further
    sessions, the SUT sends both messages again; the peer drops the session, or the SUT closes it because of a wrong
    packet, and the SUT reconnects. When all messages are acknowledged, the SUT does not reconnect.
    """
    if sut.has("set_timers"):
        sut.set_timers(session_retry_connect_ms=RETRY_INTERVAL_MS)
    sender = Sender(peer, sut)
    sender.send(1, 2)
    sender.send(3, **{"body": LARGE_BODY} if sut.has("send") else {})
    session, sent = sender.await_first_messages(3)
    if Sender.list_tags(sent) != [1, 2, 3]:
        raise ConformanceFailure("the three messages did not arrive in their order")
    ack = session.send(session_ack(AckSequenceNumber=1))
    session.close()

    again = sender.poll_session()
    request = again.received[:1] if again else []
    judge(
        "MQQB-3.1.5.9-04",
        "MQQB-3.1.6.1-01",
        expected=RECONNECTION_EXPECTATION,
        observed=_describe_reconnection_time(again, session, sut),
        evidence=[ack, *request],
    )
    closed = holds("the SUT closed the session", otherwise="the SUT did not react to the loss of the connection")
    judge("MQQB-3.1.7.3-01", expected=closed, observed=again is not None, evidence=[ack, *request])
    set_up = again.received[:2] if again else "not connected again"
    judge(
        "MQQB-3.1.6.1-03",
        expected=packets(*SESSION_SET_UP_PACKET_KINDS),
        observed=set_up,
        case="packets of the SUT on the new connection",
        evidence=[ack, *request],
    )
    came = sorted(set(Sender.list_tags(sender.collect_messages_until_silence(again, 2)))) if again else []
    judge(
        "MQQB-3.1.6.1-10",
        expected=[2, 3],
        observed=came,
        case="numbers of the messages on the new session",
        evidence=[ack],
    )
    if again is None or came != [2, 3]:
        return

    wrong_counts = bytes(session_ack(UserMsgSequenceNumber=WRONG_MESSAGE_COUNT))
    wrong_packets = {
        "after wrong counts": wrong_counts,
        "after a wrong signature": wrong_counts.replace(SIGNATURE_BYTES, b"LIAR"),
        "after a malformed packet": bytes(peer.message(MessageSize=60_000)),
        "after an unexpected packet": bytes(establish_request(peer)),
    }
    for cause in (*wrong_packets, "after a loss", "after another loss"):
        if "loss" in cause:
            again.close()
        else:
            again.send(wrong_packets[cause])
            if not again.wait_closed():
                raise ConformanceFailure(f"the SUT did not close the session {cause}")
        lost, again = again, sender.poll_session()
        request = again.received[:1] if again else []
        judge(
            "MQQB-3.1.5.9-04",
            "MQQB-3.1.6.1-01",
            expected=RECONNECTION_EXPECTATION,
            observed=_describe_reconnection_time(again, lost, sut),
            case=cause,
            evidence=[ack, *request],
        )
        if "loss" in cause:
            judge("MQQB-3.1.7.3-01", expected=closed, observed=again is not None, case=cause, evidence=[ack, *request])
        if again is None:
            return
        came = sorted(set(Sender.list_tags(sender.collect_messages_until_silence(again, 2))))
        case = f"numbers of the messages on the session {cause}"
        judge("MQQB-3.1.6.1-10", expected=[2, 3], observed=came, case=case, evidence=[ack, *request])
    ack = again.acknowledge_all()
    again.close()
    unexpected = sender.poll_session(sut.duration_ms(2 * RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    judge(
        "MQQB-3.1.5.9-04",
        "MQQB-3.1.6.1-01",
        expected=holds(
            "the SUT opens no new session when no messages are left", otherwise="the SUT opened a new session"
        ),
        observed=unexpected is None,
        evidence=[ack, *(unexpected.received[:1] if unexpected else [])],
    )


@covers("MQQB-3.1.1.3.1-D01", "MQQB-3.1.5.9-04", "MQQB-3.1.6.1-01", "MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01")
def test_new_session_brings_unacknowledged_messages_in_order(peer, sut, judge):
    """The SUT sends express, recoverable and transactional messages, and the peer drops two sessions: on each new
    session the SUT sends all messages again, in order within each priority. When the peer has acknowledged all messages
    by a SessionAck and drops a further session, the SUT sends the transactional messages again.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-every-delivery"))
    deliveries = DELIVERY_MODES if sut.has("send") else DELIVERY_MODES[:2]
    sent = list(range(1, 2 * len(deliveries) + 1))
    for tag in sent:
        sender.send(tag, delivery=deliveries[tag % len(deliveries)])
    session = sender.await_session()
    frames = came = sender.collect_messages(session, len(sent))
    order = _group_message_tags_by_priority(came)
    for turn in ("first", "second"):
        session.close()
        next_session = sender.poll_session()
        judge(
            "MQQB-3.1.6.1-01",
            expected=holds("connected again", otherwise="not connected again"),
            observed=next_session is not None,
            case=f"after the {turn} loss of the session",
            evidence=frames,
        )
        judge.conclude("MQQB-3.1.6.1-01")
        if next_session is None:
            raise ConformanceFailure("the SUT did not connect again")
        session = next_session
        frames = sender.collect_messages_until_silence(session, len(sent))
        evidence = [*came, *frames]
        judge(
            "MQQB-3.1.1.3.1-D01",
            expected=order,
            observed=_group_message_tags_by_priority(frames),
            case="numbers of the messages by priority",
            evidence=evidence,
        )
        judge(
            "MQQB-3.1.6.1-10",
            "MQQB-3.1.6.1-D01",
            expected=sent,
            observed=sorted(set(Sender.list_tags(frames))),
            case="numbers of the messages on the new session",
            evidence=evidence,
        )
    session.acknowledge_all()
    transactional = [frame for frame in frames if frame["UserHeader"].TH]
    peer.settle()
    if not transactional:
        judge.mark_not_exercised("MQQB-3.1.5.9-04", reason="the SUT sent no transactional message")
        return
    session.close()
    again = sender.poll_session()
    judge(
        "MQQB-3.1.5.9-04",
        "MQQB-3.1.6.1-01",
        expected=holds("connected again", otherwise="not connected again"),
        observed=again is not None,
        case="only transactional messages",
        evidence=transactional,
    )
    if again is None:
        return
    session = again
    frames = sender.collect_messages_until_silence(session, len(sent) // len(deliveries))
    judge(
        "MQQB-3.1.6.1-10",
        expected=sorted(set(Sender.list_tags(transactional))),
        observed=sorted(set(Sender.list_tags(frames))),
        case="numbers of the messages without an OrderAck on the new session",
        evidence=[*transactional, *frames],
    )
    session.acknowledge_all()
    session.send(build_order_ack(peer, transactional[-1]))
    peer.settle()


@covers("MQQB-3.1.6.1-01", "MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01")
def test_new_session_brings_acknowledgments_of_lost_session(peer, sut, judge):
    """Only two acknowledgments that the SUT itself created are unacknowledged when the peer drops the session. The SUT
    connects again and sends both again.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-own-messages"), own=True)
    sender.send(1, 2)
    session, sent = sender.await_first_messages(2)
    session.close()
    again = sender.poll_session()
    judge(
        "MQQB-3.1.6.1-01",
        expected=RECONNECTION_EXPECTATION,
        observed=again is not None or "not connected again",
        evidence=sent,
    )
    came = sender.collect_messages_until_silence(again, 2) if again else []
    judge(
        "MQQB-3.1.6.1-10",
        "MQQB-3.1.6.1-D01",
        expected=[1, 2],
        observed=sorted(set(Sender.list_tags(came))),
        case="numbers of the acknowledgments on the new session",
        evidence=[*sent, *came],
    )
    if again is not None:
        again.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.6.1-01", "MQQB-3.1.7.12-06")
def test_each_queue_reconnects_for_its_messages(peer, sut, judge):
    """The SUT sends a message to each of three queues of the peer, which drops all sessions. The SUT connects again for
    every queue, and sends each message again.
    """
    peer.listen(ignore_incoming=True)
    tags = [peer.next_message_id() for _ in range(3)]
    for number, tag in enumerate(tags):
        sut.send(peer.direct_name(f"mqc-retried-{number}"), body="again", application_tag=tag)

    def list_tags_of_message_copies(count: int) -> list[int]:
        came = Sender.list_tags(peer.inbox.copies)
        return [tag for tag in tags if came.count(tag) >= count]

    peer.environment.run_until(lambda: list_tags_of_message_copies(1) == tags, sut.connect_timeout_ms)
    judge.all(expected=tags, observed=list_tags_of_message_copies(1), case="messages sent", evidence=peer.inbox.copies)
    peer.hang_up()
    peer.environment.run_until(lambda: list_tags_of_message_copies(2) == tags, 2 * sut.connect_timeout_ms)
    judge(
        "MQQB-3.1.6.1-01",
        expected=tags,
        observed=list_tags_of_message_copies(2),
        case="messages sent again",
        evidence=peer.inbox.copies,
    )
    peer.inbox.acknowledge()


@needs("send", "set_timers")
@covers("MQQB-3.1.6.1-01", "MQQB-3.1.7.12-06", "MQQB-3.1.7.12-14")
@varied("label", "destination", priority=("3", "7"))
def test_message_acknowledged_after_session_loss_causes_no_reconnection(peer, sut, judge):
    """The session with the only unacknowledged message is lost, and the peer sends the OrderAck for this message on a
    session that the peer opened. The SUT does not connect until it has a further message.
    """
    sut.set_timers(session_retry_connect_ms=LONG_RETRY_INTERVAL_MS)
    sender = Sender(peer, sut, peer.direct_name("mqc-late-order-ack"))
    sender.send(1, delivery="transactional")
    session, [sent] = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.settle()
    session.close()
    other = peer.open_raw()
    ack = other.send(build_order_ack(peer, sent))
    other.require_session_ack_for_message()
    if sender.poll_session(0) is not None:
        raise ConformanceFailure("the SUT connected again before its message was acknowledged")
    within_ms = sut.duration_ms(LONG_RETRY_INTERVAL_MS) + sut.slack_ms(LONG_RETRY_INTERVAL_MS)
    early = sender.poll_session(within_ms)
    evidence = [sent, ack, *(early.received[:1] if early else [])]
    none_new = holds("the SUT opens no new session when no messages are left", otherwise="the SUT opened a new session")
    judge("MQQB-3.1.6.1-01", expected=none_new, observed=early is None, evidence=evidence)
    judge.conclude("MQQB-3.1.6.1-01")
    sender.send(2)
    again = early or sender.poll_session(within_ms)
    came = Sender.list_tags(sender.collect_messages(again, 1)) if again else []
    evidence += again.received if again else []
    judge(
        "MQQB-3.1.7.12-06",
        "MQQB-3.1.7.12-14",
        expected=[2],
        observed=came,
        case="numbers of the messages on the new session",
        evidence=evidence,
    )
    if again is not None:
        again.acknowledge_all()


@covers("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05", "MQQB-3.1.6.1-06", "MQQB-3.1.6.1-09")
@needs("send", "two_addresses")
def test_next_attempt_uses_second_address_of_host_name(peer, sut, judge):
    """The SUT sends to a host name with two addresses, the first of which has no listener. The SUT connects to the
    second address and sends its message there.
    """
    sender = Sender(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    sender.send(1)
    session = sender.poll_session()
    came = Sender.list_tags(sender.collect_messages(session, 1)) if session else []
    if session:
        session.acknowledge_all()
    second = holds(f"message 1 arrives at the second address, {peer.address}")
    judge.all(
        expected=second,
        observed=came == [1] or ("connected to the second address" if session else "not connected there"),
        evidence=session.received if session else None,
    )


@covers(
    "MQQB-3.1.6.1-03",
    "MQQB-3.1.6.1-04",
    "MQQB-3.1.6.1-05",
    "MQQB-3.1.6.1-06",
    "MQQB-3.1.6.1-07",
    "MQQB-3.1.6.1-08",
    "MQQB-3.1.6.1-09",
)
@needs("send", "two_addresses", "inspect")
def test_session_has_host_name_and_guid_of_second_next_hop(peer, sut, judge):
    """While the SUT tries the second address of a host name, RemoteQMHostName and RemoteQMGuid are those of this next
    hop. When the peer closes the connection, the SUT connects again.
    """
    sender = Sender(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    peer.change_packets_of_accepted_sessions(lambda packet: None)
    sender.send(1)
    session = peer.await_session(sut.connect_timeout_ms)
    if session is None:
        raise ConformanceFailure("the SUT did not connect to the second address")
    request = session.expect("EstablishConnection")
    trying = [one for one in sut.inspect()["Sessions"] if one["SessionState"] == "WAITING_ECR_MSG"]
    if len(trying) != 1 or len(trying[0]["NextHopCollection"]) < 2:
        raise ConformanceFailure("the SUT shows no session in WAITING_ECR_MSG with two next hops or more")
    hop = trying[0]["NextHopCollection"][1]
    for rule, element, attribute in (
        ("MQQB-3.1.6.1-07", "RemoteQMHostName", "HostName"),
        ("MQQB-3.1.6.1-08", "RemoteQMGuid", "QMGuid"),
    ):
        judge(
            rule,
            expected=fields({element: hop[attribute]}),
            observed={element: trying[0][element]},
            evidence=request,
        )
    session.close()
    again = peer.await_session(2 * sut.connect_timeout_ms)
    tried = [
        one["AddressList"]
        for one in list_connection_history(sut, sender.to)
        if one["Status"] in CONNECTION_FAILURE_STATUSES
    ]
    hops = [one["Address"] for one in trying[0]["NextHopCollection"]]
    judge(
        "MQQB-3.1.6.1-04",
        "MQQB-3.1.6.1-05",
        "MQQB-3.1.6.1-06",
        "MQQB-3.1.6.1-09",
        expected=[hops[0], *hops[2:], hops[0]],
        observed=tried,
        case="addresses of the failed attempts",
        evidence=request,
    )
    came = again.poll("EstablishConnection") if again else None
    judge(
        "MQQB-3.1.6.1-03",
        expected=packet("EstablishConnection"),
        observed=came,
        case="packet of the SUT after the loss of the connection",
        evidence=[request, came],
    )


@covers("MQQB-3.1.6.1-03")
def test_initiator_tries_again_after_each_failed_attempt(peer, sut, judge):
    """The peer closes the connection of the SUT's first and third attempts before it answers, and refuses the second
    and the fourth. The SUT tries again each time, and sends its message when the peer accepts the fifth attempt.
    """
    session = OutgoingSession(peer, sut)
    evidence = [session.await_request()]
    within_ms = sut.response_timeout_ms + sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    for failed in range(1, 5):
        if failed % 2:
            session.connection.close()
        else:
            session.connection.send(establish_response(peer, session.request, internal={"CS": 1}))
            session.connection.wait_closed()
        request = session.poll_request(within_ms)
        case = f"packet of the SUT after {failed} failed attempt{'s' * (failed > 1)}"
        judge("MQQB-3.1.6.1-03", expected=packet("EstablishConnection"), observed=request, case=case, evidence=evidence)
        if request is None:
            return
        evidence = [request]
    session.respond()
    session.answer_connection_parameters()
    session.connection.acknowledge_all()
    peer.settle()


def _group_message_tags_by_priority(frames):
    """Return the tags of the messages of each priority, in the order in which they first arrived; some messages may
    have been resent.
    """
    found: dict[int, dict[int, None]] = {}
    for frame in frames:
        found.setdefault(int(frame["BaseHeader"].PR), {})[Sender.list_tags([frame])[0]] = None
    return {f"priority {priority}": list(found[priority]) for priority in sorted(found)}


def _describe_reconnection_time(again, session, sut):
    """Return True if the SUT connected again after the retry time; otherwise, return a description of the deviation."""
    if again is None:
        return "not connected again"
    if again.received and sut.has("set_timers"):
        took = session.peer.measure_duration(session.record.closed_at_ms, again.received[0])
        when = took.describe_expiry(RETRY_INTERVAL_MS)
        return when == IN_TIME_TEXT or f"connected again {when}"
    return True
