"""MS-MQSO 5.1.1.2: outgoing queues that cannot connect, and idle outgoing queues."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender

IDLE_DURATION_MS = 60_000
CONNECT_ATTEMPT_COUNT = 4
"""The number of attempts to connect after which the SUT has used all addresses that it knows."""
HIGHEST_TIMER_ACCELERATION = 4


def _count_outgoing_messages(sut: Sut, *names: str) -> dict[str, int]:
    """Return the number of messages in each existing outgoing queue."""
    counts = {one["format_name"].lower(): one["count"] for one in sut.control.call("list")["outgoing"]}
    return {name: counts[name.lower()] for name in names if name.lower() in counts}


@needs("send", "queue_control", "set_timers", "pause")
@covers("MQSO-5.1.1.2-D08")
def test_outgoing_queue_reconnects_and_ends_when_idle(peer, sut, judge):
    """The connection of an outgoing queue has failed; when the peer listens again, the SUT sends the message of this
    queue. An outgoing queue that is idle disappears from the list, but an outgoing queue that contains a message does
    not. An outgoing queue that is created again after it disappeared, disappears again.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    sut.set_timers(outgoing_queue_idle_ms=IDLE_DURATION_MS)
    idle, waiting = (peer.direct_name(f"mqc-{name}") for name in ("idle", "held"))
    sut.send(idle, body="waits", application_tag=1)
    peer.pass_time(sut.response_timeout_ms)
    sender = Sender(peer, sut, idle)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages(session, 1)
    judge(
        "MQSO-5.1.1.2-D08",
        expected=[1],
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    if session is None:
        return
    session.acknowledge_all()
    peer.eventually(lambda: _count_outgoing_messages(sut, idle) == {idle: 0})
    session.close()
    sut.send(waiting, body="stays", application_tag=2)
    session, _ = sender.await_first_messages(1)
    sut.pause(waiting)
    session.close()
    peer.pass_time(sut.duration_ms(IDLE_DURATION_MS) + sut.slack_ms(IDLE_DURATION_MS) + sut.response_timeout_ms)
    judge(
        "MQSO-5.1.1.2-D08",
        expected={waiting: 1},
        observed=_count_outgoing_messages(sut, idle, waiting),
        evidence=frames,
        case="number of messages in each outgoing queue",
    )
    sut.resume(waiting)
    session = sender.await_session()
    frames = sender.collect_messages(session, 1)
    judge(
        "MQSO-5.1.1.2-D08",
        expected=[2],
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    session.acknowledge_all()
    sender.send(3)
    session = sender.await_session()
    frames = sender.collect_messages(session, 1)
    judge(
        "MQSO-5.1.1.2-D08",
        expected=[3],
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    session.acknowledge_all()
    peer.eventually(lambda: _count_outgoing_messages(sut, idle) == {idle: 0})
    session.close()
    peer.pass_time(sut.duration_ms(IDLE_DURATION_MS) + sut.slack_ms(IDLE_DURATION_MS) + sut.response_timeout_ms)
    judge(
        "MQSO-5.1.1.2-D08",
        expected={},
        observed=_count_outgoing_messages(sut, idle),
        evidence=frames,
        case="messages in each outgoing queue",
    )


@needs("directory", "environment", "set_timers", "queue_control", "send", "inspect")
@covers("MQSO-5.1.1.2-D08")
def test_outgoing_queue_without_connection_resolves_its_destination_again(peer, sut, judge):
    """The SUT cannot connect to send a message to a public queue of the peer, and then the directory becomes
    unavailable. The outgoing queue is in the state Initializing, in which the SUT cannot resolve the destination;
    therefore the SUT does not connect when the peer listens. When the directory is available again, the message
    arrives.
    """
    enterprise = Enterprise(peer, sut)
    sut.set_timers(session_retry_connect_ms=RETRY_INTERVAL_MS)
    attempts_ms = CONNECT_ATTEMPT_COUNT * (sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    to = f"PUBLIC={PEER_PUBLIC_QUEUE}"
    sut.send(to, body="message 1", application_tag=1)
    peer.pass_time(attempts_ms)
    enterprise.go_offline()
    peer.pass_time(attempts_ms)
    sender = Sender(peer, sut, to)
    early = sender.poll_session(attempts_ms)
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    session = early or sender.poll_session()
    frames = [] if session is None else sender.collect_messages(session, 1)
    judge(
        "MQSO-5.1.1.2-D08",
        expected=facts(connected_without_the_directory=False, ApplicationTags_with_the_directory=[1]),
        observed={
            "connected_without_the_directory": early is not None,
            "ApplicationTags_with_the_directory": Sender.list_tags(frames),
        },
        evidence=frames,
    )
    if session is not None:
        session.acknowledge_all()
