"""MS-MQDMPR 3.1.7.1.28, 3.1.7.1.29, 3.1.7.3.9: messages that wait to be sent, and the order in which they are sent."""

from __future__ import annotations

import itertools

import pytest

from harness.expectations import any_order, none
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.sender import Sender

MESSAGE_PRIORITIES = (3, 0, 7, 3, 5, 7, 1, 6, 4, 2)
MESSAGE_LIFETIME_S = 1
DELIVERY_MODES_OF_SUCCESSIVE_MESSAGES = ("recoverable", "express", "express")
LARGE_BODY_LENGTH_IN_UNITS_OF_10_BYTES = 4_000
"""The length of the body of a large message, in tens of characters."""
HIGH_PRIORITY_MESSAGE_TAG, LATER_MESSAGE_TAG, EXPIRED_MESSAGE_TAG = 97, 98, 99
"""The ApplicationTags of two messages that are sent later, and of an expired message."""
SENDING_ORDER_RULES = ("MQDMPR-3.1.7.1.28-06", "MQDMPR-3.1.7.3.9-04")
DISPATCH_AND_SENDING_RULES = (
    "MQDMPR-3.1.7.1.28-03",
    "MQDMPR-3.1.7.1.28-07",
    "MQDMPR-3.1.7.1.28-08",
    "MQDMPR-3.1.7.1.29-04",
)
MESSAGE_CONTENT_RULES = ("MQDMPR-3.1.7.1.28-04", "MQDMPR-3.1.7.1.28-05", "MQDMPR-3.1.7.3.9-07")
RULES_OF_SENDING_MESSAGE_ONLY_ONCE = ("MQDMPR-3.1.7.1.29-03", "MQDMPR-3.1.7.3.9-06")


@needs("send")
@covers(
    *SENDING_ORDER_RULES,
    *DISPATCH_AND_SENDING_RULES,
    *MESSAGE_CONTENT_RULES,
    *RULES_OF_SENDING_MESSAGE_ONLY_ONCE,
    "MQDMPR-3.1.7.1.28-09",
)
@varied("positive journaling", "label", priority=("3", "0"))
def test_waiting_messages_are_sent_once_by_priority(peer, sut, judge):
    """Ten messages wait: express and recoverable messages of all priorities, and a transactional message. The SUT sends
    each of them once, with its own contents, by priority and, within a priority, in the order of sending. It does not
    send two expired messages of different priorities. On the open session, it sends two later messages, one of them
    with the highest priority, and repeats no earlier message.
    """
    to = peer.direct_name("mqc-dispatched")
    expiring = {"application_tag": EXPIRED_MESSAGE_TAG, "time_to_reach_queue_s": MESSAGE_LIFETIME_S}
    for priority in (max(MESSAGE_PRIORITIES), min(MESSAGE_PRIORITIES)):
        sut.send(to, body="too late", priority=priority, **expiring)
    of_deliveries = zip(MESSAGE_PRIORITIES, itertools.cycle(DELIVERY_MODES_OF_SUCCESSIVE_MESSAGES))
    every = [{"priority": priority, "delivery": delivery} for priority, delivery in of_deliveries]
    priorities = [*MESSAGE_PRIORITIES]
    if sut.has("transactions"):
        every.append({"delivery": "transactional"})
        priorities.append(0)
    identifiers = {
        tag: sut.send(to, body=f"message {tag}", application_tag=tag, **fields) for tag, fields in enumerate(every, 1)
    }
    peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)
    sender = Sender(peer, sut, to)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, len(priorities))
    by_priority = sorted(identifiers, key=lambda tag: -priorities[tag - 1])
    observed = Sender.list_tags(frames)
    judge(
        *SENDING_ORDER_RULES,
        expected=by_priority,
        observed=list(dict.fromkeys(observed)),
        evidence=frames,
        case="ApplicationTags of the sent messages in order",
    )
    judge(
        *DISPATCH_AND_SENDING_RULES,
        expected=sorted(identifiers),
        observed=sorted({*observed} - {EXPIRED_MESSAGE_TAG}),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    expected = {"number_of_messages": len(identifiers), "messages_sent_again": none("message")}
    repeated = sorted({tag for tag in observed if observed.count(tag) > 1})
    judge(
        *RULES_OF_SENDING_MESSAGE_ONLY_ONCE,
        expected=expected,
        observed={"number_of_messages": len({*observed} - {EXPIRED_MESSAGE_TAG}), "messages_sent_again": repeated},
        evidence=frames,
    )
    expected_contents = {
        tag: _format_message_number_and_body(identifier.rpartition("\\")[2], f"message {tag}")
        for tag, identifier in identifiers.items()
    }
    contents = {
        tag: _format_message_number_and_body(
            str(frame["UserHeader"].MessageID), bytes(frame["MessagePropertiesHeader"].MessageBody).decode()
        )
        for tag, frame in zip(observed, frames, strict=True)
        if tag in expected_contents
    }
    judge(
        *MESSAGE_CONTENT_RULES,
        expected=expected_contents,
        observed=dict(sorted(contents.items())),
        evidence=frames,
        case="messages by ApplicationTag",
    )
    sender.send(LATER_MESSAGE_TAG)
    frames = sender.collect_messages_until_silence(session, len(frames) + 1)
    later = [tag for tag in Sender.list_tags(frames) if tag == LATER_MESSAGE_TAG]
    judge(
        "MQDMPR-3.1.7.1.28-07",
        "MQDMPR-3.1.7.1.28-09",
        "MQDMPR-3.1.7.1.29-04",
        expected=[LATER_MESSAGE_TAG],
        observed=later,
        evidence=frames,
        case="ApplicationTag of the later message",
    )
    sender.send(HIGH_PRIORITY_MESSAGE_TAG, priority=max(MESSAGE_PRIORITIES))
    frames = sender.collect_messages_until_silence(session, len(frames) + 1)
    observed = Sender.list_tags(frames)
    judge(
        *RULES_OF_SENDING_MESSAGE_ONLY_ONCE,
        expected=none("message"),
        observed=sorted({tag for tag in observed if observed.count(tag) > 1}),
        evidence=frames,
        case="messages sent again after a later message of the highest priority",
    )
    session.acknowledge_all()


@needs("send")
@covers(*SENDING_ORDER_RULES)
def test_waiting_message_of_higher_priority_is_sent_first_on_open_session(peer, sut, judge):
    """The SUT fills its window, and then four messages of different priorities wait. The application did not send these
    messages in the order of their priorities. When the peer acknowledges the messages in the window, the SUT sends the
    waiting messages by priority.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-window"))
    session, window = sender.fill_window()
    tags = {priority: 10_000 + priority for priority in (3, 5, 7, 4)}
    for priority, tag in tags.items():
        sender.send(tag, priority=priority)
    session.acknowledge_all()
    frames = sender.collect_messages_until_silence(session, window + len(tags))[window:]
    judge.all(
        expected=[tags[priority] for priority in sorted(tags, reverse=True)],
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the messages that waited",
    )
    session.acknowledge_all()


BODY_OF_SEVERAL_MESSAGES, LARGE_BODY = "equal body", "large body " * 300


@needs("send")
@covers(*DISPATCH_AND_SENDING_RULES, *MESSAGE_CONTENT_RULES[:2], "MQDMPR-3.1.7.1.29-03")
@varied("positive journaling", "time to be received")
def test_messages_to_two_queues_wait_beside_each_other(peer, sut, judge):
    """Express and recoverable messages to two queues of the peer wait at the same time: some have the same body, one
    has a large body, and labels and lifetimes differ. The SUT sends each message once, with its own properties.
    """
    queues = [peer.direct_name(f"mqc-beside-{number}") for number in (1, 2)]
    sent = {}
    for number, to in enumerate(queues):
        for place, body in enumerate(
            (BODY_OF_SEVERAL_MESSAGES, LARGE_BODY + str(number), BODY_OF_SEVERAL_MESSAGES, f"small {number}"), start=1
        ):
            tag = 10 * number + place
            fields = {
                "label": f"label {tag}",
                "body": body,
                "time_to_reach_queue_s": 3_600 + tag,
                "delivery": "recoverable" if place % 2 else "express",
            }
            sut.send(to, application_tag=tag, **fields)
            sent[tag] = (fields["label"], body, fields["time_to_reach_queue_s"], place % 2)
    sender = Sender(peer, sut, queues[0])
    frames = []
    for _ in queues:
        session = sender.poll_session()
        if session is not None:
            frames += sender.collect_messages_until_silence(session, len(sent) // 2)
            session.acknowledge_all()
    tags = Sender.list_tags(frames)
    judge(
        *DISPATCH_AND_SENDING_RULES,
        "MQDMPR-3.1.7.1.29-03",
        expected=sorted(sent),
        observed=sorted(tags),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    judge(
        *MESSAGE_CONTENT_RULES[:2],
        expected=sent,
        observed={
            tag: (
                *_read_label_and_body(frame),
                frame["BaseHeader"].TimeToReachQueue,
                frame["UserHeader"].DM,
            )
            for tag, frame in zip(tags, frames, strict=True)
        },
        evidence=frames,
        case="label, body, TimeToReachQueue and DM of each message by ApplicationTag",
    )


@needs("send", "pause")
@covers("MQDMPR-3.1.7.1.28-03", *MESSAGE_CONTENT_RULES[:2])
@pytest.mark.parametrize("connected", [False, True], ids=["before the session", "on an open session"])
def test_messages_of_resumed_queue_are_sent_with_their_contents(peer, sut, judge, connected):
    """An application pauses an outgoing queue, before the SUT connects or while its session is open. Express and
    recoverable messages wait until the queue is resumed. The SUT sends each of them with its own label and body.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-resumed"))
    sender.send(1, label="label 1")
    session = None
    if connected:
        session = sender.await_session()
        sender.collect_messages_until_silence(session, 1)
        session.acknowledge_all()
    sut.pause(sender.to)
    tags = [1, 2, 3, 4]
    for tag in tags[1:]:
        sender.send(tag, label=f"label {tag}", delivery="recoverable" if tag % 2 else "express")
    sut.resume(sender.to)
    session = session or sender.await_session()
    frames = sender.collect_messages_until_silence(session, len(tags))
    session.acknowledge_all()
    judge(
        "MQDMPR-3.1.7.1.28-03",
        *MESSAGE_CONTENT_RULES[:2],
        expected=any_order(*((tag, f"label {tag}", f"message {tag}") for tag in tags)),
        observed=sorted(
            {(tag, *_read_label_and_body(one)) for tag, one in zip(Sender.list_tags(frames), frames, strict=True)}
        ),
        evidence=frames,
        case="ApplicationTag, label and body of the sent messages",
    )


@covers("MQDMPR-3.1.7.1.28-09", "MQDMPR-3.1.7.1.29-04")
def test_message_is_sent_when_all_earlier_messages_are_acknowledged(peer, sut, judge):
    """No message waits on the session. The SUT sends two messages, which the peer acknowledges, and then a third. It
    sends each of them at once on this session.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-idle"))
    sender.send(1)
    session = sender.await_session()
    for number in (1, 2, 3):
        frames = sender.collect_messages_until_silence(session, number)
        judge.all(expected=[*range(1, number + 1)], observed=Sender.list_tags(frames), evidence=frames)
        session.acknowledge_all()
        peer.settle()
        if number < 3:
            sender.send(number + 1)


@needs("send")
@covers("MQDMPR-3.1.7.3.9-07")
def test_large_message_is_sent_again_unchanged(peer, sut, judge):
    """The SUT sends a recoverable message with a large body, and the session is lost before an acknowledgment. On the
    next session, the SUT sends the message again, with the same label and the whole body.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-large"))
    body = "0123456789" * LARGE_BODY_LENGTH_IN_UNITS_OF_10_BYTES
    sender.send(1, delivery="recoverable", label="large", body=body)
    session = sender.await_session()
    frames = [*sender.collect_messages_until_silence(session, 1)]
    session.close()
    again = sender.await_session()
    frames += sender.collect_messages_until_silence(again, 1)
    judge(
        "MQDMPR-3.1.7.3.9-07",
        expected=[("large", len(body), True)] * 2,
        observed=[_describe_label_and_body(frame, body) for frame in frames],
        evidence=frames,
        case="label, length of the body, and whether the body is that of the application, of each packet",
    )
    again.acknowledge_all()


def _read_label_and_body(frame):
    """Return the label and the body of a message as texts."""
    properties = frame["MessagePropertiesHeader"]
    return str(properties.Label).rstrip("\0"), bytes(properties.MessageBody).decode(errors="replace")


def _describe_label_and_body(frame, body):
    """Return the label of a message, the length of its body, and whether its body is the given text."""
    label, text = _read_label_and_body(frame)
    return label, len(text), text == body


def _format_message_number_and_body(number, body):
    """Return the number in a MessageID and the body of a message as one text."""
    return f"MessageID {number} and body {body}"
