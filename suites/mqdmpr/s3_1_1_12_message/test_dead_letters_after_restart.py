"""MS-MQDMPR 3.1.1.12 Message: unacknowledged messages, and the dead-letter queues that they name, after a restart."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import facts, holds, in_queue
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.restarting import UNCHANGED_ACK_OUTCOME, describe_change
from suites.mqqb.steps.sender import Sender

MESSAGE_LIFETIME_S, LONG_LIFETIME_S, BODY_TYPE = 60, 7_654, 0x1011
LONGEST_WAIT_MS = 90_000
TRACE_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d2")
TRANSACTIONAL_DEAD_LETTER_QUEUE = "system$;deadxact"


@needs("send", "receive", "queue_control", "restart")
@covers("MQDMPR-3.1.1.12-02", "MQDMPR-3.1.1.12-D46")
def test_message_expired_after_restart_goes_to_its_dead_letter_queue(peer, sut, judge):
    """Of three transactional messages for an unreachable peer, two name different dead-letter queues, one of them in
    capital letters, and the third names none. The SUT restarts before the messages expire. Each of the two is then in
    the dead-letter queue that it names (erratum E111), and the third message is in the system's dead-letter queue.
    """
    queues = [sut.new_queue("dead", transactional=True) for _ in range(2)]
    for queue, name in zip(queues, (queues[0], queues[1].upper()), strict=True):
        sut.send(
            peer.direct_name("mqc-unreachable"),
            body="lost",
            label=queue,
            delivery="transactional",
            journal=["negative"],
            dead_letter_queue=name,
            time_to_reach_queue_s=MESSAGE_LIFETIME_S,
        )
    unnamed = sut.send(
        peer.direct_name("mqc-unreachable"),
        label="no name",
        body="lost " * 1_000,
        delivery="transactional",
        journal=["negative"],
        time_to_reach_queue_s=MESSAGE_LIFETIME_S,
    )
    sut.restart()
    peer.pass_time(LONGEST_WAIT_MS)
    peer.eventually(lambda: all(sut.labels(queue) for queue in queues))
    first, second = queues
    judge(
        "MQDMPR-3.1.1.12-D46",
        expected=holds("the dead letter that names no queue is in the transactional dead-letter queue of the system"),
        observed=unnamed in [one["message_id"] for one in sut.read_kept_messages(TRANSACTIONAL_DEAD_LETTER_QUEUE)],
    )
    judge(
        "MQDMPR-3.1.1.12-02",
        expected=facts(first_dead_letter_queue=in_queue(first), second_dead_letter_queue=in_queue(second)),
        observed={"first_dead_letter_queue": sut.labels(first), "second_dead_letter_queue": sut.labels(second)},
    )


@needs("send", "restart")
@covers("MQDMPR-3.1.1.12-67")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_message_in_outgoing_queue_is_unchanged_after_restart(peer, sut, judge, delivery):
    """The SUT sends a message with every property set, and the peer does not acknowledge it. After a restart, the SUT
    sends the message again, unchanged.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-unchanged"))
    sender.send(
        1,
        delivery=delivery,
        label=f"unchanged {'x' * 200}",
        priority=0 if delivery == "transactional" else 6,
        trace_queue=str(TRACE_QUEUE_GUID),
        body_type=BODY_TYPE,
        acks=["negative_arrival", "negative_receive"],
        admin_queue=peer.direct_name("mqc-admin"),
        response_queue=peer.direct_name("mqc-response"),
        time_to_reach_queue_s=LONG_LIFETIME_S,
        time_to_be_received_s=LONG_LIFETIME_S,
        journal=["positive"],
    )
    _, (before,) = sender.await_first_messages(1)
    sut.restart()
    session = sender.poll_session()
    while session is not None and session.record.closed_by is not None:  # what it had before the restart
        session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages_until_silence(session, 1)
    change = describe_change(before, frames[0], peer.identifier) if frames else "not sent"
    for frame in frames[:1]:
        traces = [Layout(one).of("BaseHeader.Flags.TR", "DebugHeader.QueueIdentifier") for one in (before, frame)]
        judge(
            "MQDMPR-3.1.1.12-67",
            expected=traces[0],
            observed=traces[1],
            case="trace flag and queue of the message after a restart",
            evidence=[before, frame],
        )
    judge(
        "MQDMPR-3.1.1.12-67",
        expected=UNCHANGED_ACK_OUTCOME,
        observed=change,
        case="message after a restart",
        evidence=[before, *frames],
    )
