"""MS-MQQB 3.1.7.12 Message Position Available Event: a second queue, a later session and a paused queue."""

from __future__ import annotations

from functools import partial

import pytest

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.applications import DONE, get_request_outcome
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.provoking import read_application_tag
from suites.mqqb.steps.sender import Sender

TAG_OF_SECOND_QUEUE, TAG_OF_HTTP_MESSAGE = 200, 201


@needs("send")
@covers("MQQB-3.1.7.12-14")
def test_message_beside_unacknowledged_message_of_other_queue_is_sent(peer, sut, judge):
    """The SUT has sent a message that is unacknowledged, and then sends a message to a second queue of the peer, which
    arrives.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-unacknowledged"))
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    sut.send(peer.direct_name("mqc-second"), body="beside", application_tag=TAG_OF_SECOND_QUEUE)
    came = peer.inbox.wait(lambda frame: read_application_tag(frame) == TAG_OF_SECOND_QUEUE)
    judge(
        "MQQB-3.1.7.12-14",
        expected=holds("the message arrives", otherwise="the message does not arrive"),
        observed=bool(came),
        case="message to the second queue",
        evidence=[*sent, *came],
    )
    session.acknowledge_all()
    peer.inbox.acknowledge()


def _list_labels_and_bodies(frames) -> list[tuple[str, str]]:
    """Return the label and the body of each message."""
    return [
        (str(one.Label).rstrip("\0"), bytes(one.MessageBody).decode(errors="replace"))
        for one in (frame["MessagePropertiesHeader"] for frame in frames)
    ]


@needs("send")
@covers("MQQB-3.1.7.12-16")
@pytest.mark.parametrize("when", ["on the next session", pytest.param("after a pause", marks=needs("pause"))])
def test_each_waiting_message_is_sent_with_its_own_contents(peer, sut, judge, when):
    """Three messages with different labels and bodies wait for the next session, or for the end of a pause. The SUT
    sends each message with its own label and body.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.settle()
    if when == "after a pause":
        sut.pause(sender.to)
    known = len(session.messages) if when == "after a pause" else 0
    for tag in (2, 3, 4):
        sender.send(tag, label=f"label {tag}", body=f"body {tag}", delivery="recoverable")
    if when == "after a pause":
        sut.resume(sender.to)
    else:
        sender.collect_messages_until_silence(session, 4)
        session.close()
        session = sender.await_session()
    came = sender.collect_messages_until_silence(session, known + 3)[known:]
    judge(
        "MQQB-3.1.7.12-16",
        expected=[(f"label {tag}", f"body {tag}") for tag in (2, 3, 4)],
        observed=_list_labels_and_bodies(came),
        case=f"labels and bodies {when}",
        evidence=came,
    )
    session.acknowledge_all()


@needs("send", "inspect", "pause")
@covers("MQQB-3.1.7.12-12")
def test_new_entry_of_paused_queue_has_no_recoverable_number(peer, sut, judge):
    """The SUT has sent a recoverable message. A further recoverable message and an express message wait in the paused
    queue: RecoverableSequenceNumber of their entries is 0.
    """
    sender = Sender(peer, sut)
    sender.send(1, delivery="recoverable")
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.settle()
    sut.pause(sender.to)
    sender.send(2, delivery="recoverable")
    sender.send(3)
    entries = find_initiated_session(sut, sender.to)["OutgoingMessageTable"]
    judge(
        "MQQB-3.1.7.12-12",
        expected=[0, 0],
        observed=[entry["RecoverableSequenceNumber"] for entry in entries],
        case="RecoverableSequenceNumber of the waiting entries",
        evidence=sent,
    )
    sut.resume(sender.to)
    sender.collect_messages_until_silence(session, 3)
    session.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.7.12-05")
def test_http_message_beside_session_is_not_sent_on_session(peer, sut, judge):
    """The SUT has a session with the peer. An application sends messages to HTTP and HTTPS names of the peer in the
    form of MS-MQMQ 2.1.2. The SUT may refuse to send the messages. It opens no session for them, and does not send
    them on the open session.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    for protocol in ("HTTP", "HTTPS"):
        to = rf"DIRECT={protocol}://{peer.address}/msmq\private$\mqc-peer"
        send = partial(sut.send, to, body="by another protocol", application_tag=TAG_OF_HTTP_MESSAGE)
        taken = get_request_outcome(send) == DONE
        peer.pass_time(sut.quiet_ms)
        came = peer.inbox.find(lambda frame: read_application_tag(frame) == TAG_OF_HTTP_MESSAGE)
        judge(
            "MQQB-3.1.7.12-05",
            expected=holds("the SUT opens no session for the message, and sends no packet of it"),
            observed=not came and not peer.has_unawaited_connection,
            case=f"message to {to}",
            note=None if taken else "the SUT refuses such a message",
            evidence=[*sent, *came],
        )
