"""MS-MQSO 5.1.1, 5.1.1.1: a queue manager that is running, stopped, offline, and online again."""

from __future__ import annotations

from harness.expectations import any_order, closed, facts, fields, holds, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire import ping_request
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import Action
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender
from suites.mqqp.steps.reader import Reader
from suites.mqso.steps.serving import SessionAttempt

OPEN, CLOSED = "open", "closed"
LONG_READ_TIMEOUT_MS = 600_000


@needs("qm2qm", "ping")
@covers("MQSO-5.1.1-01", "MQSO-6.6.1-D07")
def test_sut_answers_sessions_pings_and_remote_calls(peer, remote, judge):
    """The SUT accepts a session, answers a ping, and answers a remote call that opens a queue."""
    attempt = SessionAttempt(peer)
    pinged = peer.udp()
    ping = pinged.send(ping_request(Cookie=7))
    pong = pinged.poll()
    evidence = [ping] if pong is None else [ping, pong]
    judge.all(
        expected=SessionAttempt.SERVED,
        observed=attempt.outcome,
        evidence=attempt.evidence,
        case="session request of the peer",
    )
    judge(
        "MQSO-5.1.1-01",
        expected=holds("a Ping Response", otherwise="the SUT sent no answer"),
        observed=pong is not None,
        evidence=evidence,
        case="answer to the ping",
    )
    association = remote.associate()
    opened_queue = remote.open_remote(association)
    judge(
        "MQSO-5.1.1-01",
        expected=holds("an answer", otherwise="the SUT sent no answer"),
        observed=bool(opened_queue.answered),
        evidence=opened_queue.evidence,
        case="answer to the remote call",
    )


@needs("pause", "send", "receive", "queue_control")
@covers("MQSO-5.1.1.1-D05")
def test_offline_sut_receives_and_sends_nothing(peer, sut, judge):
    """While the SUT is offline, it refuses a session, stores no message and does not send an outgoing message. When it
    is online again, it accepts a session, stores a message and sends the outgoing message. A SUT that is taken offline
    again refuses a session again.
    """
    to, queue = peer.direct_name("mqc-offline"), sut.queue()
    connection = peer.open_raw()
    connection.send(peer.recoverable_message(label="before"))
    peer.eventually(lambda: sut.labels(queue) == ["before"])
    sut.take_offline()
    if connection.record.closed_by is None:
        connection.send(peer.recoverable_message(label="meanwhile"))
    refused = SessionAttempt(peer)
    sender = Sender(peer, sut, to)
    sender.send(1)
    peer.pass_time(sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    observed = {
        "session_request_of_the_peer": refused.outcome,
        "labels_in_the_queue": sut.labels(queue),
        "number_of_messages_in_the_outgoing_queue": sut.outgoing_queue(to)["count"],
    }
    evidence = [connection.last, *refused.evidence]
    judge.all(
        expected=facts(
            session_request_of_the_peer=SessionAttempt.NOT_SERVED,
            labels_in_the_queue=["before"],
            number_of_messages_in_the_outgoing_queue=1,
        ),
        observed=observed,
        evidence=evidence,
    )
    sut.bring_online()
    later_attempt = SessionAttempt(peer)
    judge(
        "MQSO-5.1.1.1-D05",
        expected=SessionAttempt.SERVED,
        observed=later_attempt.outcome,
        evidence=later_attempt.evidence,
        case="session request of the peer",
    )
    second_session = peer.open_raw()
    packet = second_session.send(peer.recoverable_message(label="after"))
    peer.eventually(lambda: sut.labels(queue) == ["before", "after"])
    judge.all(expected=in_queue("before", "after"), observed=sut.labels(queue), evidence=[packet])
    session = sender.poll_session()
    frames = [] if session is None else sender.collect(session, 1)
    judge(
        "MQSO-5.1.1.1-D05",
        expected=[1],
        observed=Sender.tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    if session is not None:
        session.acknowledge_all()
    sut.take_offline()
    again = SessionAttempt(peer)
    sut.bring_online()
    judge(
        "MQSO-5.1.1.1-D05",
        expected=SessionAttempt.NOT_SERVED,
        observed=again.outcome,
        evidence=again.evidence,
        case="session request while the SUT is offline again",
    )


STOP_RULES = ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08")


@needs("environment", "send", "receive", "queues")
@covers(*STOP_RULES, "MQSO-5.1.1.1-D01")
def test_stopped_sut_serves_no_request(peer, sut, judge):
    """When the SUT is stopped, it closes the session, a connection in the handshake and a silent connection. The
    stopped SUT refuses a session and an application's peek; when it is started again, it accepts a session and still
    has its recoverable message.
    """
    queue = sut.new_queue("stopped")
    sut.send_here(queue, ["kept"], delivery="recoverable")
    connection, incomplete, silent = peer.open_raw(), peer.request_session(), peer.connect()
    sut.change_environment(service=False)
    observed = connection.await_close()
    judge(*STOP_RULES, expected=closed(), observed=observed, evidence=[connection.last])
    observed = [CLOSED if one.wait_closed() else OPEN for one in (incomplete, silent)]
    judge(
        *STOP_RULES,
        expected=[CLOSED] * 2,
        observed=observed,
        case="connection in the handshake, and silent connection",
        evidence=[incomplete.last],
    )
    stopped = SessionAttempt(peer)
    state_stopped = {
        "session_request_of_the_peer": stopped.outcome,
        "peek_of_an_application": sut.attempt("peek", queue=queue),
    }
    expected = facts(session_request_of_the_peer=SessionAttempt.NOT_SERVED, peek_of_an_application=Outcome.REFUSED)
    judge("MQSO-5.1.1.1-D01", expected=expected, observed=state_stopped, evidence=stopped.evidence)
    sut.change_environment(service=True)
    started = SessionAttempt(peer)
    state_started = {"session_request_of_the_peer": started.outcome, "labels_in_the_queue": sut.labels(queue)}
    expected = facts(session_request_of_the_peer=SessionAttempt.SERVED, labels_in_the_queue=["kept"])
    judge("MQSO-5.1.1.1-D01", expected=expected, observed=state_started, evidence=started.evidence)


@needs("environment", "qm2qm")
@covers(*STOP_RULES)
def test_stop_closes_connections_of_remote_readers(remote, sut, judge):
    """When the SUT is stopped, it closes the connections of three remote readers: the first has a pending read, the
    second has an open queue, and the third has only connected.
    """
    queue, idle, new = remote.open(), remote.open("admin"), remote.associate()
    queue.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS).state_after_silence()
    readers = [one.of(QM2QM) for one in (queue.association, idle.association, new)]
    evidence = [one.record.frames[-1] for one in readers]
    sut.change_environment(service=False)
    observed = [CLOSED if one.wait_closed() else OPEN for one in readers]
    judge.all(expected=[CLOSED] * 3, observed=observed, evidence=evidence, case="connections of the remote readers")
    sut.change_environment(service=True)


@needs("environment", "remote_read")
@covers(*STOP_RULES)
def test_stop_closes_sut_connections_to_remote_queues(peer, sut, judge):
    """When the SUT is stopped, it closes the connections on which it has opened two queues of the peer, one of them
    with a pending read.
    """
    reader = Reader(peer, sut)
    reader.open()
    reader.let_reads_wait()
    reader.begin("remote_receive", remote=reader.open(), timeout_ms=LONG_READ_TIMEOUT_MS)
    read = reader.await_reads()[0]
    bound = [call.association for call in reader.server.named("RemoteQMOpenQueue")]
    sut.change_environment(service=False)
    observed = [CLOSED if one.wait_closed() else OPEN for one in bound]
    judge.all(expected=[CLOSED] * 2, observed=observed, evidence=read.evidence, case="connections of the SUT")
    sut.change_environment(service=True)


@needs("environment", "inspect", "send", "receive", "queues")
@covers(
    "MQSO-5.1.1.1-05",
    "MQSO-5.1.1.1-06",
    "MQSO-5.1.1.1-D04",
    "MQDMPR-3.1.7.2.5-03",
    "MQDMPR-3.1.7.2.6-03",
    "MQDMPR-3.1.7.1.9-04",
)
def test_sut_is_throttled_while_disk_is_full(peer, sut, judge):
    """While its disk is full, the SUT shows Throttled and stores no message from an application or from the peer. When
    the disk has room again, the SUT stores new messages from both, and also the refused message of the peer when the
    peer repeats it.
    """
    queue = sut.queue()

    def is_throttled() -> bool:
        return bool(sut.inspect_queue_manager()["Throttled"])

    sut.change_environment(storage=False)
    short = peer.eventually(is_throttled)
    judge(
        "MQSO-5.1.1.1-06",
        "MQDMPR-3.1.7.2.5-03",
        expected=holds("throttled", otherwise="not throttled"),
        observed=bool(short),
        case="queue manager",
    )
    connection = peer.open_raw()
    own_outcome = sut.attempt(sut.send_here, queue, ["own"])
    refused = peer.recoverable_message(label="of the peer")
    packets = [connection.send(refused)]
    peer.settle()
    if short:
        observed = {"send of the application": own_outcome, "labels in the queue": sut.labels(queue)}
        judge(
            "MQSO-5.1.1.1-05",
            "MQDMPR-3.1.7.1.9-04",
            expected=fields({"send of the application": Outcome.REFUSED, "labels in the queue": []}),
            observed=observed,
            evidence=packets,
        )
    else:
        judge.mark_not_exercised(
            "MQSO-5.1.1.1-05", "MQDMPR-3.1.7.1.9-04", reason="the SUT is not Throttled while its disk is full"
        )
    sut.change_environment(storage=True)
    peer.eventually(lambda: not is_throttled())
    freed = {"while_the_queue_manager_is_full": bool(short), "afterwards": is_throttled()}
    expected = facts(while_the_queue_manager_is_full=True, afterwards=False)
    judge("MQSO-5.1.1.1-D04", expected=expected, observed=freed, case="Throttled")
    if short:
        judge("MQDMPR-3.1.7.2.6-03", expected=expected, observed=freed, case="Throttled")
    else:
        judge.mark_not_exercised("MQDMPR-3.1.7.2.6-03", reason="the SUT is not Throttled while its disk is full")
    packets += [peer.open_raw().send(one) for one in (refused, peer.message(label="second of the peer"))]
    sut.attempt(sut.send_here, queue, ["of an application"])
    peer.eventually(lambda: len(sut.labels(queue)) == 3)
    if short:
        expected_labels = any_order("of the peer", "second of the peer", "of an application")
        judge(
            "MQSO-5.1.1.1-05",
            expected=expected_labels,
            observed=sut.labels(queue),
            evidence=packets,
            case="labels in the queue",
        )
