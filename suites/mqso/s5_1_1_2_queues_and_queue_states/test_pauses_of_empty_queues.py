"""MS-MQSO 5.1.1.2: pauses of outgoing queues that have no messages."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender
from suites.mqso.steps.routed import DELIVERY_MODES


@needs("send", "queue_control", "pause")
@covers("MQSO-5.1.1.2-D10")
@pytest.mark.parametrize("session_is_open", [False, True], ids=["without a session", "with a session"])
def test_queue_paused_without_messages_sends_after_resume(peer, sut, judge, session_is_open):
    """The peer acknowledges the message of an outgoing queue, and closes the session in one of two cases. The empty
    queue is then paused. During the pause, the application sends a message of each kind, and the peer closes the
    session if it is still open. The SUT sends none of the messages. After the queue is resumed, the SUT connects and
    sends all of them.
    """
    sender = Sender(peer, sut, peer.direct_name(f"mqc-empty-{int(session_is_open)}"))
    sender.send(1, delivery="recoverable")
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.eventually(lambda: sut.outgoing_queue(sender.to)["count"] == 0)
    if not session_is_open:
        session.close()
        peer.settle()
    sut.pause(sender.to)
    for tag, delivery in enumerate(DELIVERY_MODES, 2):
        sender.send(tag, delivery=delivery)
    peer.pass_time(sut.quiet_ms)
    if session_is_open and session.record.closed_by is None:
        session.close()
        peer.pass_time(sut.quiet_ms)
    before = {tag for tag in Sender.list_tags(peer.inbox.copies) if tag > 1}
    sut.resume(sender.to)
    later = sender.poll_session()
    frames = [*frames, *([] if later is None else sender.collect_messages(later, len(DELIVERY_MODES)))]
    judge(
        "MQSO-5.1.1.2-D10",
        expected=facts(sent_during_the_pause=set(), sent_after_the_resumption=set(range(2, 2 + len(DELIVERY_MODES)))),
        observed={
            "sent_during_the_pause": before,
            "sent_after_the_resumption": {tag for tag in Sender.list_tags(frames) if tag > 1},
        },
        evidence=frames,
    )
    if later is not None:
        later.acknowledge_all()
