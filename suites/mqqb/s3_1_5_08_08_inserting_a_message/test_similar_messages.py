"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue, and 3.1.5.8.5: messages that resemble their predecessors,
and messages with either address of this queue manager.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.expectations import any_order
from harness.run.marks import covers, malforms, needs
from suites.messages import Sequence

GUID_OF_SECOND_SOURCE = UUID("6d71636f-6e66-4f72-8d00-0000000000e4")
"""The identifier of a queue manager whose message the peer forwards."""
NULL_GUID = UUID(int=0)
LABEL_SHARED_BY_MESSAGES = "equal labels"
BODY_OF_FORWARDED_MESSAGE = "body 4"
"""The body of a message that a SUT may discard as a duplicate, because another message has its MessageID (E18)."""


def _await_messages(peer, sut, queues, count: int) -> list[tuple[str, str]]:
    """Wait for messages of the check; return the kind of the queue and the body of each message."""

    def list_messages() -> list[tuple[str, str]]:
        return [
            (kind, one["body"])
            for kind in queues
            for one in sut.messages(kind)
            if one["label"] == LABEL_SHARED_BY_MESSAGES
        ]

    peer.eventually(lambda: len(list_messages()) >= count)
    return list_messages()


@needs("receive")
@covers("MQQB-3.1.5.8.8-02")
def test_similar_messages_have_their_own_bodies(peer, sut, judge):
    """The peer sends three pairs of messages that have the same label and bodies of the same size: two express
    messages, two recoverable messages with the same MessageID, the second of which the peer forwards for another queue
    manager, and two transactional messages. Each message has its own body.
    """
    session, sequence = peer.open_raw(), Sequence(peer, ordinal=7)
    number = {"MessageID": peer.next_message_id()}
    forwarded = number | {"SourceQueueManager": GUID_OF_SECOND_SOURCE, "RC": 1}
    packets = [
        *(peer.message(label=LABEL_SHARED_BY_MESSAGES, body=body) for body in (b"body 1", b"body 2")),
        *(
            peer.recoverable_message(user, label=LABEL_SHARED_BY_MESSAGES, body=body)
            for user, body in ((number, b"body 3"), (forwarded, BODY_OF_FORWARDED_MESSAGE.encode()))
        ),
        *(sequence.message(label=LABEL_SHARED_BY_MESSAGES, body=body) for body in (b"body 5", b"body 6")),
    ]
    sent = [session.send(packet) for packet in packets]
    session.require_session_ack_for_message()
    found = [body for _, body in _await_messages(peer, sut, ("plain", "transactional"), len(sent))]
    bodies = [f"body {at}" for at in range(1, len(sent) + 1)]
    if BODY_OF_FORWARDED_MESSAGE not in found:
        bodies.remove(BODY_OF_FORWARDED_MESSAGE)
    judge(
        "MQQB-3.1.5.8.8-02",
        expected=any_order(*bodies),
        observed=found,
        case="bodies of the messages with the same label",
        evidence=sent,
    )


@needs("receive", "queue_control")
@covers("MQQB-3.1.5.8.8-04")
def test_transactional_messages_in_turn_are_in_their_queues(peer, sut, judge):
    """The peer sends transactional messages alternately to two queues. Each message begins a new sequence (erratum
    E41), and is in its queue.
    """
    session = peer.open_raw()
    queues = {"first": sut.queue("transactional"), "second": sut.new_queue("turn", transactional=True)}
    sent: list[Frame] = []
    for number in (1, 2):
        for name, queue in queues.items():
            body = f"message {number} for the {name} queue"
            destination = rf"TCP:{sut.address}\{queue}"
            sequence = Sequence(peer, ordinal=len(sent) + 1)
            packet = sequence.message(label=LABEL_SHARED_BY_MESSAGES, destination=destination, body=body.encode())
            sent.append(session.send(packet))
    session.require_session_ack_for_message()

    def list_bodies() -> list[str]:
        return [
            f"{name} queue: {one['body']}"
            for name, queue in queues.items()
            for one in sut.control.call("peek", queue=queue, limit=10_000)["messages"]
            if one["label"] == LABEL_SHARED_BY_MESSAGES
        ]

    peer.eventually(lambda: len(list_bodies()) >= len(sent))
    judge(
        "MQQB-3.1.5.8.8-04",
        expected=any_order(*(f"{name} queue: message {at} for the {name} queue" for at in (1, 2) for name in queues)),
        observed=list_bodies(),
        case="queue and body of each message",
        evidence=sent,
    )


@malforms("MQMQ-2.2.19.2-04")
@needs("receive", "queue_control", "private_names")
@covers("MQQB-3.1.5.8.5-D01")
def test_message_with_either_own_address_is_in_its_queue(peer, sut, judge):
    """In each delivery mode, the peer sends messages to direct format names with the Identifier of the SUT as
    QueueManagerAddress, and messages to private format names with zero as QueueManagerAddress. Each message is in its
    queue.
    """
    session = peer.open_raw()
    sent, expected = [], []
    for name, address in (("direct", sut.guid), ("private", NULL_GUID)):
        sequence = Sequence(peer, ordinal=10 if name == "direct" else 11)
        for delivery, queue in (("express", "plain"), ("recoverable", "plain"), ("transactional", "transactional")):
            user: dict[str, Any] = {"QueueManagerAddress": address}
            rest: dict[str, Any] = {
                "label": LABEL_SHARED_BY_MESSAGES,
                "body": f"{delivery} message to a {name} name".encode(),
            }
            if name == "private":
                user = peer.build_fields_for_private_name_of_sut_queue(sut.queue(queue)) | user
                rest["destination"] = None
            if delivery == "transactional":
                packet = sequence.message(user, **rest)
            else:
                packet = peer.message(user | {"DM": int(delivery == "recoverable")}, **rest)
            sent.append(session.send(packet))
            expected.append(f"{queue} queue: {delivery} message to a {name} name")
    session.require_session_ack_for_message()
    found = _await_messages(peer, sut, ("plain", "transactional"), len(sent))
    judge(
        "MQQB-3.1.5.8.5-D01",
        expected=any_order(*expected),
        observed=[f"{kind} queue: {body}" for kind, body in found],
        case="queue and body of each message",
        evidence=sent,
    )
