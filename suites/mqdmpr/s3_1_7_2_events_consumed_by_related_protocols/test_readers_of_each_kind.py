"""MS-MQDMPR 3.1.7.2.2 Message Position Available: reads that wait through several handles and by cursors, and the size
of restored messages.
"""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from harness.wire.rpc_qmcomm import PEEK_ACCESS
from suites.applications import Application

LONG_READ_TIMEOUT_MS = 600_000


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2.2-07")
def test_message_completes_peeks_of_four_handles(remote, judge):
    """Peeks wait through four handles: two were opened to peek, and two to receive. One message completes all of them.
    A message then completes a receive through each of the last two handles in turn.
    """
    handles = [remote.open(access=PEEK_ACCESS), remote.open(), remote.open(access=PEEK_ACCESS), remote.open()]
    peeks = [one.begin(Action.PEEK_CURRENT, ulTimeout=LONG_READ_TIMEOUT_MS) for one in handles]
    states = [read.state_after_silence() for read in peeks]
    remote.deliver(["a"])
    labels = [read.wait().label_or_outcome for read in peeks]
    removed = handles[1].receive()
    receives = []
    for handle, label in ((handles[3], "b"), (handles[1], "c")):
        receives.append(handle.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS))
        states.append(receives[-1].state_after_silence())
        remote.deliver([label])
        receives[-1].wait()
    judge(
        "MQDMPR-3.1.7.2.2-07",
        expected=facts(before=[Call.WAITING] * 6, peeks=["a"] * 4, receives=["b", "c"]),
        observed={
            "before": states,
            "peeks": labels,
            "receives": [read.label_or_outcome for read in receives],
        },
        evidence=[*peeks, removed, *receives],
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2.2-14")
@pytest.mark.parametrize("kind", ["peek", "peek by a cursor", "peek next"])
def test_message_that_completes_peek_completes_next_reads(remote, judge, kind):
    """A peek with or without a cursor begins to wait before a second peek and a receive. The message that completes the
    first peek also completes the other reads.
    """
    queue = remote.open_with_messages(*(["first"] if kind == "peek next" else []))
    by = {}
    if kind != "peek":
        by["hCursor"] = queue.open_cursor()
    if kind == "peek next":
        queue.peek(**by).expect_success()
        queue.receive()
    action = Action.PEEK_NEXT if kind == "peek next" else Action.PEEK_CURRENT
    reads = [queue.begin(action, ulTimeout=LONG_READ_TIMEOUT_MS, **by)]
    states = [reads[0].state_after_silence()]
    for later in (Action.PEEK_CURRENT, Action.RECEIVE):
        reads.append(queue.begin(later, ulTimeout=LONG_READ_TIMEOUT_MS))
        states.append(reads[-1].state_after_silence())
    remote.deliver(["a"])
    judge(
        "MQDMPR-3.1.7.2.2-14",
        expected=facts(before=[Call.WAITING] * 3, after=["a"] * 3),
        observed={"before": states, "after": [read.wait().label_or_outcome for read in reads]},
        evidence=reads,
    )


@needs("queue_control", "receive", "restart")
@covers("MQDMPR-3.1.7.2.2-03")
def test_size_includes_restored_messages(peer, sut, judge):
    """A queue with two recoverable messages has the same size after a restart as before, and the size 0 when the
    messages have been received.
    """
    application = Application(peer, sut)
    packets = application.fill_queue("a", "b")

    def read_size() -> int:
        return int(application.call("get_queue", name=application.queue)["bytes"])

    before = read_size()
    sut.restart()
    application.await_message_count(2)
    restored = read_size()
    labels = [application.receive() for _ in range(2)]
    judge(
        "MQDMPR-3.1.7.2.2-03",
        expected=facts(size_after_the_restart=before, messages=["a", "b"], size_at_the_end=0),
        observed={"size_after_the_restart": restored, "messages": labels, "size_at_the_end": read_size()},
        evidence=packets,
    )


@needs("send", "pause", "queue_control")
@covers("MQDMPR-3.1.7.2.3-03")
def test_queue_that_is_paused_again_stays_on_hold(peer, sut, judge):
    """An application pauses an outgoing queue twice after the queue's message was sent, and pauses it again while a
    message waits there. After each request, the State of the queue is OnHold.
    """
    session, name = peer.open_session(), peer.direct_name("mqc-paused")
    sut.send(name, body="sent")
    sent = peer.inbox.wait(lambda frame: True)
    peer.inbox.acknowledge()
    states = []
    for _ in range(2):
        sut.attempt(sut.pause, name)
        states.append(sut.outgoing(name)["state"])
    sut.send(name, body="held")
    sut.attempt(sut.pause, name)
    states.append(sut.outgoing(name)["state"])
    sut.resume(name)
    held = peer.inbox.wait(lambda frame: True, 2)
    peer.inbox.acknowledge()
    judge(
        "MQDMPR-3.1.7.2.3-03",
        expected=["OnHold"] * 3,
        observed=states,
        evidence=[*sent, *held, session.last],
        case="State of the queue after each pause",
    )
