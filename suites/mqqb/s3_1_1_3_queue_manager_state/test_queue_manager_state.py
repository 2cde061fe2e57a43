"""MS-MQQB 3.1.1.3 Queue Manager State: message history, message ordinals and SendInsecureNacks, and their values after
a restart.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.provoking import SecondQueueManager
from suites.mqqb.steps.sender import Sender

REPEATED_MESSAGE_LABEL = "twice"


def _send_and_await_ack(peer, packets):
    connection = peer.open_raw()
    sent = [connection.send(packet) for packet in packets]
    ack = connection.await_session_ack(len(packets))
    if ack is None:
        raise ConformanceFailure("the SUT did not acknowledge the recoverable messages")
    return [*sent, ack]


@needs("restart", "receive")
@covers("MQQB-3.1.1.3-22")
@varied("negative journaling", "response queue", priority=("3", "0"))
def test_message_received_before_restart_is_a_duplicate_after_it(peer, sut, judge):
    """The peer sends two recoverable messages of its own and one from another queue manager. The SUT restarts, and the
    peer sends the same messages again. The queue contains one copy of each message.
    """
    queue = sut.queue()
    sources: tuple[dict[str, Any], ...] = ({}, {"SourceQueueManager": OTHER_GUID, "RC": 1}, {})
    labels = [f"{REPEATED_MESSAGE_LABEL} {number}" for number in range(len(sources))]
    packets = [peer.recoverable_message(user, label=label) for user, label in zip(sources, labels, strict=True)]
    evidence = _send_and_await_ack(peer, packets)
    sut.restart()
    evidence += _send_and_await_ack(peer, packets)
    found = [one["label"] for one in sut.control.call("peek", queue=queue, limit=10_000)["messages"]]
    judge(
        "MQQB-3.1.1.3-22",
        expected=labels,
        observed=sorted(label for label in found if label in labels),
        case="labels of the messages in the queue",
        evidence=evidence,
    )


@needs("restart")
@covers("MQQB-3.1.1.3-24", "MQQB-3.1.1.3-25")
def test_message_ids_increase_by_one_and_over_restarts(peer, sut, judge):
    """The SUT sends a message, an acknowledgment that it creates itself, and two more messages, one of them for a
    second queue. Their MessageIDs are consecutive. A message after each of two restarts has a higher MessageID than all
    earlier messages.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-ordinals"))
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    SecondQueueManager(peer, sender.to).send(2)
    sender.collect_messages(session, 2)
    sender.send(3)
    sender.collect_messages(session, 3)
    if sut.has("send"):
        sut.send(peer.direct_name("mqc-ordinals-2"), body="message 4", application_tag=4)
    else:
        sender.send(4)
    peer.wait(lambda: 4 in Sender.list_tags(peer.inbox.copies), sut.connect_timeout_ms, "message 4")
    of_second_queue = peer.await_session(0) if peer.has_unawaited_connection else None
    came = sorted(peer.inbox.messages, key=lambda frame: Sender.list_tags([frame]))
    if Sender.list_tags(came) != [1, 2, 3, 4]:
        raise ConformanceFailure(f"the messages {Sender.list_tags(came)} arrived, not 1 to 4")
    ids = _list_message_ids(came)
    steps = [later_session - before for before, later_session in pairwise(ids)]
    judge(
        "MQQB-3.1.1.3-24",
        expected=[1, 1, 1],
        observed=steps,
        case="differences between successive MessageIDs",
        evidence=came,
    )
    judge.conclude("MQQB-3.1.1.3-24")
    session.acknowledge_all()
    if of_second_queue is not None:
        of_second_queue.acknowledge_all()
    session.stays_quiet()
    for tag in (5, 6):
        sut.restart()
        sender.send(tag)
        later_session = sender.await_session()
        later = sender.collect_messages(later_session, 1)
        later_session.acknowledge_all()
        if Sender.list_tags(later) != [tag]:
            raise ConformanceFailure("the message that was sent after the restart did not arrive")
        judge(
            "MQQB-3.1.1.3-25",
            expected=holds("the MessageID is higher than the earlier MessageIDs"),
            observed=_list_message_ids(later)[0] > max(ids) or f"{_list_message_ids(later)[0]} after {max(ids)}",
            evidence=[*came, *later],
        )
        ids += _list_message_ids(later)
        later_session.stays_quiet()


def _list_message_ids(frames):
    return [int(frame["UserHeader"].MessageID) for frame in frames]


@needs("configure", "restart")
@covers("MQQB-3.1.1.3-27")
def test_send_insecure_nacks_is_false_and_kept_over_restart(peer, sut, judge):
    """SendInsecureNacks is FALSE in the usual configuration. When it is set to TRUE, it is still TRUE
    after a restart.
    """
    judge(
        "MQQB-3.1.1.3-27",
        expected=False,
        observed=_read_send_insecure_nacks(sut),
        case="SendInsecureNacks in the usual configuration",
        note="<28>",
    )
    sut.configure(send_insecure_nacks=True)
    sut.restart()
    judge(
        "MQQB-3.1.1.3-27",
        expected=True,
        observed=_read_send_insecure_nacks(sut),
        case="SendInsecureNacks after a restart",
        note="<29>",
    )


def _read_send_insecure_nacks(sut):
    return sut.control.call("configure")["send_insecure_nacks"]


LARGE_BODY = "a large body " * 800
TAGS_OF_SURVIVING_MESSAGES = [1, 3, 4, 5, 6]
"""The tags of the messages that survive a restart."""


def _get_label_and_sequence_number(frame: Frame) -> tuple[str, int]:
    """Return the label of a message and its TxSequenceNumber, or 0 for a message without a TransactionHeader."""
    label = str(frame["MessagePropertiesHeader"].Label).rstrip("\0")
    return label, int(frame["TransactionHeader"].TxSequenceNumber) if frame["UserHeader"].TH else 0


def _get_destination_name(frame: Frame) -> str:
    """Return the direct name of the destination of a message, without its prefix."""
    return str(frame["UserHeader"].DestinationQueue.DirectFormatName).lower()


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-12", "MQQB-3.1.1.3.2-01", "MQQB-3.1.1.3.2-02", "MQQB-3.1.4.1-02", "MQDMPR-3.1.1.3-D01")
def test_recoverable_messages_of_two_queues_come_after_two_restarts(peer, sut, judge):
    """The SUT has recoverable messages and an express message for two unreachable queues, and a transactional message
    for a third. After two restarts, an application sends a further transactional message. The SUT sends all messages
    except the express message, in order, with their labels and numbers.
    """
    to = [peer.direct_name(name) for name in ("mqc-survive-1", "mqc-survive-2", "mqc-survive-3")]
    for tag, queue, delivery in (
        (1, 0, "recoverable"),
        (2, 0, "express"),
        (3, 0, "recoverable"),
        (4, 1, "recoverable"),
        (5, 2, "transactional"),
    ):
        body = LARGE_BODY if tag == 3 else f"message {tag}"
        sut.send(to[queue], body=body, label=f"label {tag}", application_tag=tag, delivery=delivery)
    sut.restart()
    sut.restart()
    sender = Sender(peer, sut, to[0])
    came: list[Frame] = []
    while not {4, 5, 6} <= {*Sender.list_tags(came)} or len(came) < len(TAGS_OF_SURVIVING_MESSAGES):
        session = sender.poll_session()
        more = [] if session is None else sender.collect_messages_until_silence(session, 1)
        if session is None or not more:
            break
        if 5 in Sender.list_tags(more):
            sut.send(to[2], body="message 6", label="label 6", application_tag=6, delivery="transactional")
            more = sender.collect_messages_until_silence(session, len(more) + 1)
        came += more
        session.acknowledge_all()
        for frame in [one for one in more if one["UserHeader"].TH]:
            session.send(build_order_ack(peer, frame))
    queues = {min(5, max(3, tag)) for tag in Sender.list_tags(came)}
    judge(
        "MQQB-3.1.4.1-02",
        expected=3,
        observed=len(queues),
        case="number of queues whose messages the SUT sends",
        evidence=came,
    )
    of_first_queue = [tag for tag in Sender.list_tags(came) if tag < 4]
    judge(
        "MQQB-3.1.1.3.1-12",
        "MQQB-3.1.1.3.2-02",
        expected=[1, 3],
        observed=of_first_queue,
        case="numbers of the messages of the first queue",
        evidence=came,
    )
    destinations = {
        tag: _get_destination_name(frame) for tag, frame in zip(Sender.list_tags(came), came, strict=True) if tag != 2
    }
    expected_destinations = {
        tag: to[min(2, max(0, tag - 3))].partition("=")[2].lower() for tag in TAGS_OF_SURVIVING_MESSAGES
    }
    judge(
        "MQDMPR-3.1.1.3-D01",
        expected=sorted(expected_destinations.items()),
        observed=sorted(destinations.items()),
        case="messages and destinations",
        evidence=came,
    )
    shown = {
        tag: _get_label_and_sequence_number(frame)
        for tag, frame in zip(Sender.list_tags(came), came, strict=True)
        if tag != 2
    }
    numbers = {5: 1, 6: 2}
    judge(
        "MQQB-3.1.1.3.2-02",
        expected=[(tag, f"label {tag}", numbers.get(tag, 0)) for tag in sorted(shown)],
        observed=[(tag, *shown[tag]) for tag in sorted(shown)],
        case="number, label and TxSequenceNumber of the messages",
        evidence=came,
    )
    recoverable = sorted(set(Sender.list_tags(came)) - {2})
    judge(
        "MQQB-3.1.1.3.1-12",
        "MQQB-3.1.1.3.2-01",
        "MQQB-3.1.1.3.2-02",
        expected=TAGS_OF_SURVIVING_MESSAGES,
        observed=recoverable,
        case="numbers of the messages that survive the restarts",
        evidence=came,
    )
    peer.settle()
