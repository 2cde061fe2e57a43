"""MS-MQDMPR 3.1.4.1, 3.1.4.11 to 3.1.4.13: the start of a queue manager, a coordinator that does not answer, and a
system that is taken offline and online.
"""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import any_order, each
from harness.peer.handshake import build_parameters_request
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, needs, varied
from harness.sut.control import UNUSABLE_CHANNEL_ERRORS, ControlRefused
from harness.sut.outcomes import Outcome
from harness.wire import session_ack
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender

SESSION_OPENED_OUTCOME, SESSION_NOT_OPENED_OUTCOME = "opened", "not opened"


def is_peer_session_accepted(peer):
    """Return whether the SUT accepts a session from the peer and receives a message on it."""
    try:
        connection = peer.open_raw()
    except UNUSABLE_CHANNEL_ERRORS:
        raise
    except ConformanceFailure:
        return SESSION_NOT_OPENED_OUTCOME
    connection.send(peer.recoverable_message())
    accepted = connection.request_acknowledgment() is not None
    connection.close()
    return SESSION_OPENED_OUTCOME if accepted else SESSION_NOT_OPENED_OUTCOME


@needs("send", "pause")
@covers("MQDMPR-3.1.4.12-03", "MQDMPR-3.1.4.13-03")
@varied("extension", "correlation", "trace", priority=("3", "0"))
def test_offline_sut_has_no_sessions_until_online(peer, sut, judge):
    """While the SUT is offline, it opens no session, neither for a new message nor for a message whose session was
    lost. It accepts no session, and completes no session that was being set up. When it is online again, it sends the
    messages of all outgoing queues, including a new queue, and accepts a session. When it is taken offline a second
    time, it accepts no session.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-offline"))
    sender.send(1, delivery="recoverable")
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    session.stays_quiet()
    sut.send(peer.direct_name("mqc-lost"), body="message 3", application_tag=3, delivery="recoverable")
    lost_session, lost_frames = sender.await_first_messages(1)
    lost_session.close()
    half_open = peer.request_session()
    sut.take_offline()
    half_open.send(build_parameters_request())
    completed = SESSION_NOT_OPENED_OUTCOME if half_open.poll("ConnectionParameters") is None else SESSION_OPENED_OUTCOME
    sender.send(2, delivery="recoverable")
    sut.send(peer.direct_name("mqc-new"), body="message 4", application_tag=4, delivery="recoverable")
    retry_ms = sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    of_the_sut = (
        SESSION_NOT_OPENED_OUTCOME
        if sender.poll_session(sut.connect_timeout_ms + retry_ms) is None
        else SESSION_OPENED_OUTCOME
    )
    judge(
        "MQDMPR-3.1.4.12-03",
        expected=each(SESSION_NOT_OPENED_OUTCOME, "session with the peer"),
        observed={
            "requested by the SUT": of_the_sut,
            "requested by the peer": is_peer_session_accepted(peer),
            "being set up": completed,
        },
        evidence=[*frames, *lost_frames, session.last],
    )
    sut.bring_online()
    later_frames = collect_messages_from_all_sessions(sender, 3)
    judge(
        "MQDMPR-3.1.4.13-03",
        expected={"numbers_of_the_messages_sent": {2, 3, 4}, "session_of_the_peer": SESSION_OPENED_OUTCOME},
        observed={
            "numbers_of_the_messages_sent": set(Sender.list_tags(later_frames)),
            "session_of_the_peer": is_peer_session_accepted(peer),
        },
        evidence=later_frames,
    )
    judge.conclude("MQDMPR-3.1.4.13-03")
    sut.take_offline()
    judge(
        "MQDMPR-3.1.4.12-03",
        expected=SESSION_NOT_OPENED_OUTCOME,
        observed=is_peer_session_accepted(peer),
        case="session of the peer when the SUT is offline again",
        evidence=session.last,
    )
    sut.bring_online()


@needs("send", "pause")
@covers("MQDMPR-3.1.4.12-03")
@pytest.mark.parametrize("last", ["EstablishConnection", "ConnectionParameters"])
@varied("extension", "correlation", "trace", priority=("3", "0"))
def test_offline_sut_completes_no_session_that_it_requested(peer, sut, judge, last):
    """The SUT is taken offline after it has sent an EstablishConnection or a ConnectionParameters request. When the
    peer answers this request, the SUT sends neither the next request nor its message. When the SUT is online again, it
    sends the message.
    """
    session = OutgoingSession(peer, sut, peer.direct_name("mqc-requested"))
    request = session.await_request()
    parameters = session.respond() if last == "ConnectionParameters" else None
    sut.take_offline()
    if parameters is None:
        session.connection.send(establish_response(peer, request))
        following = session.connection.poll("ConnectionParameters")
    else:
        session.connection.send(parameters_response(parameters))
        peer.eventually(lambda: bool(session.connection.messages))
        following = next(iter(session.connection.messages), None)
    judge(
        "MQDMPR-3.1.4.12-03",
        expected=SESSION_NOT_OPENED_OUTCOME,
        observed=SESSION_NOT_OPENED_OUTCOME if following is None else SESSION_OPENED_OUTCOME,
        case=f"session with an unanswered {last} request",
        evidence=[request, parameters, following],
    )
    judge.conclude("MQDMPR-3.1.4.12-03")
    sut.bring_online()
    session.open()
    session.connection.send(session_ack(AckSequenceNumber=1))


def collect_messages_from_all_sessions(sender, count):
    """Wait for the given number of messages, on one session or on several; acknowledge and return them."""
    frames: list[Frame] = []
    while len(frames) < count and (session := sender.poll_session()) is not None:
        frames += sender.collect_messages_until_silence(session, 1)
        session.acknowledge_all()
    return frames


@needs("send", "restart", "transactions")
@covers("MQDMPR-3.1.4.1-03", "MQDMPR-3.1.4.11-D01", "MQDMPR-3.1.4.11-D02")
def test_silent_coordinator_stops_start(peer, sut, judge):
    """The SUT restarts with two prepared transactions, and the coordinator does not answer. After the reenlistment
    timeout, the SUT reports both transactions as in doubt, accepts no session, and opens no session for a waiting
    message. After a second restart, it sends the waiting message. It sends the message of a transaction when that
    transaction is committed.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-silent"))
    transaction = sut.control.call("begin", external=True)["transaction"]
    sender.send(1, transaction=transaction)
    empty = sut.control.call("begin", external=True)["transaction"]
    for one in (transaction, empty):
        sut.control.call("prepare", transaction=one)
    sender.send(2, delivery="recoverable")
    sender.await_first_messages(1)
    sut.restart()
    peer.settle()
    while peer.has_unawaited_connection:  # what the SUT opens before the timeout
        sender.poll_session(0)
    try:
        in_doubt = sut.control.call("reenlistment_timeout")["in_doubt"]
    except ControlRefused:  # nothing is in doubt
        in_doubt = []
    mine = [one for one in in_doubt if str(one).lower() in (transaction.lower(), empty.lower())]
    judge(
        "MQDMPR-3.1.4.11-D01",
        expected=any_order(transaction, empty),
        observed=mine,
        case="transactions that the SUT lists",
    )
    judge.conclude("MQDMPR-3.1.4.11-D01")
    judge(
        "MQDMPR-3.1.4.11-D02",
        expected=SESSION_NOT_OPENED_OUTCOME,
        observed=is_peer_session_accepted(peer),
        case="session of the peer",
    )
    of_the_sut = SESSION_NOT_OPENED_OUTCOME if sender.poll_session() is None else SESSION_OPENED_OUTCOME
    judge(
        "MQDMPR-3.1.4.11-D02",
        expected=Outcome.REFUSED,
        observed=sut.attempt(sut.send, sender.to, label="refused"),
        case="request of an application to send a message",
    )
    judge(
        "MQDMPR-3.1.4.11-D02",
        expected=SESSION_NOT_OPENED_OUTCOME,
        observed=of_the_sut,
        case="session for the waiting message",
    )
    judge.conclude("MQDMPR-3.1.4.11-D02")
    sut.restart()
    session = sender.poll_session()
    while session is not None and session.record.closed_by is not None:  # what it had before the restart
        session = sender.poll_session()
    waited = [] if session is None else Sender.list_tags(sender.collect_messages_until_silence(session, 1))
    accepted, commit = is_peer_session_accepted(peer), sut.attempt("commit", transaction=transaction)
    frames = [] if session is None else sender.collect_messages_until_silence(session, 2)
    judge(
        "MQDMPR-3.1.4.1-03",
        expected={
            "numbers_of_the_messages_sent_after_the_restart": [2],
            "session_of_the_peer": SESSION_OPENED_OUTCOME,
            "commit of the transaction": Outcome.DONE,
            "numbers_of_the_messages_sent_after_the_commit": [2, 1],
        },
        observed={
            "numbers_of_the_messages_sent_after_the_restart": waited,
            "session_of_the_peer": accepted,
            "commit of the transaction": commit,
            "numbers_of_the_messages_sent_after_the_commit": Sender.list_tags(frames),
        },
        evidence=frames,
    )
    sut.attempt("abort", transaction=empty)
    if session is not None and frames:
        session.acknowledge_all()
        session.send(build_order_ack(peer, frames[-1]))
        peer.settle()
