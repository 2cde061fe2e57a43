"""MS-MQQB 3.1.1.3.1 Session State: the order of sent and unsent messages after a restart."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.sender import Sender

TAGS_OF_SENT_MESSAGES, TAGS_OF_UNSENT_MESSAGES = (2, 3), (4, 5)
OPENING_TAG = 1


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-12")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_sent_and_unsent_messages_keep_their_order_over_restart(peer, sut, judge, delivery):
    """The SUT has sent two messages, which are not acknowledged. The peer closes the connection and stops listening,
    and an application sends two more messages. The SUT restarts, the peer listens again, and the SUT sends all four
    messages in the order in which the application sent them.
    """
    to = peer.direct_name("mqc-partly-sent")
    opened = OutgoingSession(peer, sut, to)
    opened.open()
    opened.connection.acknowledge_all()
    peer.settle()
    known = len(opened.connection.messages)

    def send_messages(*tags: int) -> None:
        for tag in tags:
            sut.send(to, body=f"message {tag}", application_tag=tag, delivery=delivery)

    send_messages(*TAGS_OF_SENT_MESSAGES)
    wanted = known + len(TAGS_OF_SENT_MESSAGES)
    if not peer.eventually(lambda: len(opened.connection.messages) >= wanted):
        raise ConformanceFailure("the SUT did not send its messages on the open session")
    opened.listener.close()
    opened.connection.close()
    peer.settle()
    send_messages(*TAGS_OF_UNSENT_MESSAGES)
    sut.restart()
    resumed = OutgoingSession(peer, sut, to, listener=peer.listen_without_core(ping=False))
    resumed.open()
    tags = [*TAGS_OF_SENT_MESSAGES, *TAGS_OF_UNSENT_MESSAGES]
    peer.eventually(lambda: set(tags) <= set(Sender.list_tags(resumed.connection.messages)))
    frames = resumed.connection.messages
    judge(
        "MQQB-3.1.1.3.1-12",
        expected=tags,
        observed=[tag for tag in dict.fromkeys(Sender.list_tags(frames)) if tag != OPENING_TAG],
        case="messages after a restart, in order",
        evidence=[*opened.connection.messages, *frames],
    )
    resumed.connection.acknowledge_all()
    if delivery == "transactional":
        resumed.connection.send(build_order_ack(peer, frames[-1]))
    peer.settle()
