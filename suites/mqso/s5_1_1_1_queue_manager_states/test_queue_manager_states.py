"""MS-MQSO 5.1.1, 5.1.1.1: a queue manager that is running, stopped, offline, and online again."""

from __future__ import annotations

from harness.expectations import any_order, connection_closed_by_sut, each, facts, fields, holds, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire import ping_request
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import Action
from suites.messages import Sequence
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender
from suites.mqqp.steps.reader import Reader
from suites.mqso.steps.serving import SessionAttempt

OPEN_CONNECTION_OUTCOME, CLOSED_CONNECTION_OUTCOME = "open", "closed"
LONG_READ_TIMEOUT_MS = 600_000


@needs("qm2qm", "ping")
@covers("MQSO-5.1.1-01", "MQSO-6.6.1-D07")
def test_sut_answers_sessions_pings_and_remote_calls(peer, remote, judge):
    """The SUT accepts two sessions at the same time, answers two pings, and answers the remote calls with which two
    clients open a queue.
    """
    attempts = [SessionAttempt(peer) for _ in range(2)]
    pinged = [peer.open_ping_port() for _ in range(2)]
    pings = [one.send(ping_request(Cookie=7 + number)) for number, one in enumerate(pinged)]
    pongs = [one.poll() for one in pinged]
    evidence = [*pings, *(pong for pong in pongs if pong is not None)]
    judge.all(
        expected=each(SessionAttempt.SERVED_OUTCOME, "request"),
        observed=[one.outcome for one in attempts],
        evidence=[frame for one in attempts for frame in one.evidence],
        case="session requests of the peer",
    )
    judge(
        "MQSO-5.1.1-01",
        "MQSO-6.6.1-D07",
        expected=each(True, "ping"),
        observed=[pong is not None for pong in pongs],
        evidence=evidence,
        case="Ping Responses arrived",
    )
    associations = [remote.associate() for _ in range(2)]
    opened = [remote.open_remote(one) for one in associations]
    judge(
        "MQSO-5.1.1-01",
        "MQSO-6.6.1-D07",
        expected=each(True, "call"),
        observed=[bool(one.answered) for one in opened],
        evidence=[frame for one in opened for frame in one.evidence],
        case="remote calls are answered",
    )


@needs("pause", "send", "receive", "queue_control")
@covers("MQSO-5.1.1.1-D05")
def test_offline_sut_receives_and_sends_nothing(peer, sut, judge):
    """While the SUT is offline, it refuses a session, stores no message, and sends no message from its two outgoing
    queues. When the SUT is online again, it accepts a session, stores a message, and sends the messages of both queues.
    When it is taken offline a second time, it refuses a session again.
    """
    to, second, queue = peer.direct_name("mqc-offline"), peer.direct_name("mqc-offline-2"), sut.queue()
    connection = peer.open_raw()
    connection.send(peer.recoverable_message(label="before"))
    peer.eventually(lambda: sut.labels(queue) == ["before"])
    sut.take_offline()
    if connection.record.closed_by is None:
        connection.send(peer.recoverable_message(label="meanwhile"))
    refused = SessionAttempt(peer)
    sender = Sender(peer, sut, to)
    sender.send(1)
    sender.send(2, delivery="transactional")
    for tag, delivery in ((3, "recoverable"), (4, "express")):
        sut.send(second, body=f"message {tag}", application_tag=tag, delivery=delivery)
    peer.pass_time(sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    observed = {
        "session_request_of_the_peer": refused.outcome,
        "labels_in_the_queue": sut.labels(queue),
        "number_of_messages_in_the_outgoing_queues": [sut.outgoing_queue(name)["count"] for name in (to, second)],
        "the_SUT_opened_a_connection": sender.poll_session(0) is not None,
    }
    evidence = [connection.last, *refused.evidence]
    judge.all(
        expected=facts(
            session_request_of_the_peer=SessionAttempt.NOT_SERVED_OUTCOME,
            labels_in_the_queue=["before"],
            number_of_messages_in_the_outgoing_queues=[2, 2],
            the_SUT_opened_a_connection=False,
        ),
        observed=observed,
        evidence=evidence,
    )
    sut.bring_online()
    later_attempt = SessionAttempt(peer)
    judge(
        "MQSO-5.1.1.1-D05",
        expected=SessionAttempt.SERVED_OUTCOME,
        observed=later_attempt.outcome,
        evidence=later_attempt.evidence,
        case="session request of the peer",
    )
    second_session = peer.open_raw()
    packet = second_session.send(peer.recoverable_message(label="after"))
    peer.eventually(lambda: sut.labels(queue) == ["before", "after"])
    judge.all(expected=in_queue("before", "after"), observed=sut.labels(queue), evidence=[packet])
    sessions = [session for _ in range(2) if (session := sender.poll_session()) is not None]
    frames = [frame for session in sessions for frame in sender.collect_messages_until_silence(session, 2)]
    judge(
        "MQSO-5.1.1.1-D05",
        expected={1, 2, 3, 4},
        observed=set(Sender.list_tags(frames)),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    for session in sessions:
        session.acknowledge_all()
    sut.take_offline()
    again = SessionAttempt(peer)
    sut.bring_online()
    judge(
        "MQSO-5.1.1.1-D05",
        expected=SessionAttempt.NOT_SERVED_OUTCOME,
        observed=again.outcome,
        evidence=again.evidence,
        case="session request while the SUT is offline again",
    )


STOPPED_SUT_RULES = ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08")


@needs("environment", "send", "receive", "queues")
@covers(*STOPPED_SUT_RULES, "MQDMPR-3.1.1.1-23", "MQSO-5.1.1.1-D01")
def test_stopped_sut_serves_no_request(peer, sut, judge):
    """When the SUT is stopped, it closes the session, a connection during the handshake, a silent connection, and the
    sessions that it opened for two queues. The stopped SUT accepts no session, carries out no peek or send for an
    application, and answers no ping. When it is started again, it accepts a session, still has its recoverable message,
    and sends its unacknowledged recoverable messages.
    """
    queue = sut.new_queue("stopped")
    sut.send_here(queue, ["kept"], delivery="recoverable")
    sender = Sender(peer, sut, peer.direct_name("mqc-stopped"))
    sender.send(1, delivery="recoverable")
    sut.send(peer.direct_name("mqc-stopped-2"), body="message 2", application_tag=2, delivery="recoverable")
    own = [sender.await_session() for _ in range(2)]
    for one in own:
        sender.collect_messages(one, 1)
    connection, incomplete, silent = peer.open_raw(), peer.request_session(), peer.connect()
    sut.change_environment(service=False)
    judge(
        *STOPPED_SUT_RULES,
        "MQDMPR-3.1.1.1-23",
        expected=[CLOSED_CONNECTION_OUTCOME] * 2,
        observed=[CLOSED_CONNECTION_OUTCOME if one.wait_closed() else OPEN_CONNECTION_OUTCOME for one in own],
        case="sessions that the SUT opened",
        evidence=[frame for one in own for frame in one.messages],
    )
    observed = connection.await_close()
    judge(
        *STOPPED_SUT_RULES,
        "MQDMPR-3.1.1.1-23",
        expected=connection_closed_by_sut(),
        observed=observed,
        evidence=[connection.last],
    )
    observed = [
        CLOSED_CONNECTION_OUTCOME if one.wait_closed() else OPEN_CONNECTION_OUTCOME for one in (incomplete, silent)
    ]
    judge(
        *STOPPED_SUT_RULES,
        expected=[CLOSED_CONNECTION_OUTCOME] * 2,
        observed=observed,
        case="connection in the handshake, and silent connection",
        evidence=[incomplete.last],
    )
    stopped = SessionAttempt(peer)
    state_stopped = {
        "session_request_of_the_peer": stopped.outcome,
        "peek_of_an_application": sut.attempt("peek", queue=queue),
        "send_of_an_application": sut.attempt(sut.send_here, queue, ["never"], delivery="recoverable"),
    }
    expected = facts(
        session_request_of_the_peer=SessionAttempt.NOT_SERVED_OUTCOME,
        peek_of_an_application=Outcome.REFUSED,
        send_of_an_application=Outcome.REFUSED,
    )
    judge("MQSO-5.1.1.1-D01", expected=expected, observed=state_stopped, evidence=stopped.evidence)
    sut.change_environment(service=True)
    started = SessionAttempt(peer)
    state_started = {"session_request_of_the_peer": started.outcome, "labels_in_the_queue": sut.labels(queue)}
    expected = facts(session_request_of_the_peer=SessionAttempt.SERVED_OUTCOME, labels_in_the_queue=["kept"])
    judge("MQSO-5.1.1.1-D01", expected=expected, observed=state_started, evidence=started.evidence)
    again = [session for _ in range(2) if (session := sender.poll_session()) is not None]
    frames = [frame for one in again for frame in sender.collect_messages(one, 1)]
    judge(
        "MQSO-5.1.1.1-D01",
        expected={1, 2},
        observed=set(Sender.list_tags(frames)),
        evidence=frames,
        case="ApplicationTags of the messages that are sent again",
    )
    for one in again:
        one.acknowledge_all()


@needs("environment", "qm2qm")
@covers(*STOPPED_SUT_RULES, "MQDMPR-3.1.1.1-23")
def test_stop_closes_connections_of_remote_readers(remote, sut, judge):
    """When the SUT is stopped, it closes the connections of three remote readers. The first reader has a pending
    receive and a pending peek, which return no message, the second has another queue open, which contains a message,
    and the third is only connected.
    """
    queue, idle, new = remote.open(), remote.open("admin"), remote.associate()
    remote.deliver(["kept"], queue="admin")
    reads = [queue.begin(action, ulTimeout=LONG_READ_TIMEOUT_MS) for action in (Action.RECEIVE, Action.PEEK_CURRENT)]
    for read in reads:
        read.state_after_silence()
    readers = [one.of(QM2QM) for one in (queue.association, idle.association, new)]
    evidence = [one.record.frames[-1] for one in readers]
    sut.change_environment(service=False)
    observed = [CLOSED_CONNECTION_OUTCOME if one.wait_closed() else OPEN_CONNECTION_OUTCOME for one in readers]
    judge(
        *STOPPED_SUT_RULES,
        expected=[CLOSED_CONNECTION_OUTCOME] * 3,
        observed=observed,
        evidence=evidence,
        case="connections of the remote readers",
    )
    judge(
        "MQDMPR-3.1.1.1-23",
        expected=[None, None],
        observed=[read.label for read in reads],
        evidence=reads,
        case="labels that the pending reads returned",
    )
    sut.change_environment(service=True)


@needs("environment", "remote_read")
@covers(*STOPPED_SUT_RULES)
def test_stop_closes_sut_connections_to_remote_queues(peer, sut, judge):
    """The SUT has two queues of the peer open, one of them with a pending read. When the SUT is stopped, it closes the
    connections of both queues.
    """
    reader = Reader(peer, sut)
    reader.open()
    reader.leave_start_receives_unanswered()
    reader.begin("remote_receive", remote=reader.open(), timeout_ms=LONG_READ_TIMEOUT_MS)
    read = reader.await_start_receives()[0]
    bound = [call.association for call in reader.server.list_calls_of("RemoteQMOpenQueue")]
    sut.change_environment(service=False)
    observed = [CLOSED_CONNECTION_OUTCOME if one.wait_closed() else OPEN_CONNECTION_OUTCOME for one in bound]
    judge.all(
        expected=[CLOSED_CONNECTION_OUTCOME] * 2,
        observed=observed,
        evidence=read.evidence,
        case="connections of the SUT",
    )
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
    the disk has room again, the SUT stores new messages from both. It also stores the message that it refused, when the
    peer repeats that message.
    """
    queue, transactional = sut.queue(), sut.queue("transactional")
    transaction = sut.control.call("begin")["transaction"] if sut.has("transactions") else None

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
    own_outcomes = {
        "recoverable": sut.attempt(sut.send_here, queue, ["own"], delivery="recoverable"),
        "transactional": sut.attempt(sut.send_here, transactional, ["own"], delivery="transactional"),
    }
    if transaction is not None:
        sent_in_transaction = sut.attempt(sut.send_here, transactional, ["own"], transaction=transaction)
        ended = sut.attempt("commit", transaction=transaction)
        both = (sent_in_transaction, ended)
        own_outcomes["in a transaction"] = Outcome.REFUSED if Outcome.REFUSED in both else Outcome.DONE
    refused = peer.recoverable_message(label="of the peer")
    refused_in_sequence = Sequence(peer).message(label="of the peer")
    packets = [connection.send(refused)]
    packets += [peer.open_raw().send(one) for one in (peer.message(label="express of the peer"), refused_in_sequence)]
    peer.settle()
    judge(
        "MQSO-5.1.1.1-06",
        expected=bool(short),
        observed=is_throttled(),
        case="Throttled after messages are refused",
        evidence=packets,
    )
    if short:
        observed = {"send of the application": own_outcome, "labels in the queue": sut.labels(queue)}
        judge(
            "MQSO-5.1.1.1-05",
            expected=facts(sends=each(Outcome.REFUSED, "send"), labels_in_the_transactional_queue=[]),
            observed={"sends": own_outcomes, "labels_in_the_transactional_queue": sut.labels(transactional)},
            evidence=packets,
        )
        judge(
            "MQSO-5.1.1.1-05",
            "MQDMPR-3.1.7.1.9-04",
            expected=fields({"send of the application": Outcome.REFUSED, "labels in the queue": []}),
            observed=observed,
            evidence=packets,
        )
    else:
        judge.mark_not_exercised(
            "MQSO-5.1.1.1-05",
            "MQDMPR-3.1.7.1.9-04",
            reason="the SUT does not show Throttled as TRUE while its disk is full",
        )
    sut.change_environment(storage=True)
    peer.eventually(lambda: not is_throttled())
    freed = {"while_the_queue_manager_is_full": bool(short), "afterwards": is_throttled()}
    expected = facts(while_the_queue_manager_is_full=True, afterwards=False)
    judge("MQSO-5.1.1.1-D04", expected=expected, observed=freed, case="Throttled")
    if short:
        judge("MQDMPR-3.1.7.2.6-03", expected=expected, observed=freed, case="Throttled")
    else:
        judge.mark_not_exercised(
            "MQDMPR-3.1.7.2.6-03", reason="the SUT does not show Throttled as TRUE while its disk is full"
        )
    packets += [peer.open_raw().send(one) for one in (refused, peer.message(label="second of the peer"))]
    sut.attempt(sut.send_here, queue, ["of an application"])
    peer.eventually(lambda: len(sut.labels(queue)) == 3)
    sut.change_environment(storage=False)
    short_again = peer.eventually(is_throttled)
    judge("MQSO-5.1.1.1-06", expected=True, observed=bool(short_again), case="Throttled while sessions are open")
    sut.change_environment(storage=True)
    peer.eventually(lambda: not is_throttled())
    if short:
        case = "Throttled while the disk is full again, and afterwards"
        repeated = [bool(short_again), is_throttled()]
        for rule in ("MQDMPR-3.1.7.2.5-03", "MQDMPR-3.1.7.2.6-03"):
            judge(rule, expected=[True, False], observed=repeated, case=case)
    if short:
        expected_labels = any_order("of the peer", "second of the peer", "of an application")
        judge(
            "MQSO-5.1.1.1-05",
            expected=expected_labels,
            observed=sut.labels(queue),
            evidence=packets,
            case="labels in the queue",
        )
        packets = [peer.open_raw().send(refused_in_sequence)]
        peer.eventually(lambda: bool(sut.labels(transactional)))
        judge(
            "MQSO-5.1.1.1-05",
            expected=in_queue("of the peer"),
            observed=sut.labels(transactional),
            evidence=packets,
            case="labels in the transactional queue",
        )
    sut.change_environment(storage=False)
    again = bool(peer.eventually(is_throttled))
    sut.change_environment(storage=True)
    peer.eventually(lambda: not is_throttled())
    freed = {"while_the_queue_manager_is_full": again, "afterwards": is_throttled()}
    judge("MQSO-5.1.1.1-D04", expected=expected, observed=freed, case="Throttled for the second time")
