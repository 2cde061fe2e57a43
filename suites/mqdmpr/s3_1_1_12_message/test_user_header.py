"""MS-MQDMPR 3.1.1.12 Message: journaling of delivered and undelivered messages."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, fields, none
from harness.run.marks import covers, needs, varied
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.sender import Sender
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

SYSTEM_JOURNAL, NONTRANSACTIONAL_DEAD_LETTER_QUEUE = "system$;journal", "system$;deadletter"
TRANSACTIONAL_DEAD_LETTER_QUEUE = "system$;deadxact"


SHORT_LIFETIME_S = 1
EXPIRY_WAIT_S, PAUSE_BETWEEN_MESSAGES_S = 5, 3
SECONDS_PER_DAY = 86_400


@needs("send", "receive")
@covers("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-23", "MQDMPR-3.1.1.12-21", "MQDMPR-3.1.1.2-17")
@covers("MQDMPR-3.1.1.12-31", "MQDMPR-3.1.1.12-46")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
@varied("time to reach queue", "label", acknowledgments=("none", "of receipt"))
def test_delivered_message_with_jp_is_journaled(peer, sut, judge, delivery):
    """Three messages are delivered. The message with JP and the large message with JP and JN are in the sender's
    journal, with all their properties. The message with JN is not.
    """
    sender = Sender(peer, sut)
    (positive,) = sender.send(1, delivery=delivery, journal=["positive"], label="journaled", priority=5)
    (negative,) = sender.send(2, delivery=delivery, journal=["negative"])
    also = {"journal": ["positive", "negative"], "body": "large" * 12_001}
    (second,) = sender.send(3, delivery=delivery, label="journaled, too", priority=5, **also)
    session, frames = sender.await_first_messages(3)
    session.acknowledge_all()
    names = {"second message with JP": second, "first message with JP": positive, "message with JN": negative}
    kept_messages = _await_messages_in_system_queue(peer, sut, SYSTEM_JOURNAL, names)
    judge(
        "MQMQ-2.2.19.2-14",
        "MQDMPR-3.1.1.12-21",
        "MQDMPR-3.1.1.2-17",
        expected=["second message with JP", "first message with JP"],
        observed=kept_messages,
        evidence=frames,
        case="messages in the journal",
    )
    without_jp = [one for one in kept_messages if "JP" not in one]
    judge("MQDMPR-3.1.1.12-23", expected=none("journaled message without JP"), observed=without_jp, evidence=frames)
    copies = {one["message_id"]: one for one in sut.read_kept_messages(SYSTEM_JOURNAL)}
    by_tag = dict(zip(sender.list_tags(frames), frames, strict=True))
    for tag, message in ((1, positive), (3, second)):
        observed = describe_differences(by_tag[tag], copies.get(message), sut.guid)
        judge(
            "MQMQ-2.2.19.2-14",
            "MQDMPR-3.1.1.12-21",
            expected=UNCHANGED_PROPERTIES_OUTCOME,
            observed=observed,
            evidence=frames,
        )
        shown = copies.get(message, {})
        for rule, (name, value) in {
            "MQDMPR-3.1.1.12-31": ("application_tag", tag),
            "MQDMPR-3.1.1.12-46": ("label", "journaled, too" if tag == 3 else "journaled"),
        }.items():
            if name in shown:
                judge(rule, expected={name: value}, observed={name: shown[name]}, case="journal", evidence=frames)
            else:
                judge.mark_not_exercised(rule, reason=f"the journal shows no {name} of the message")


@needs("send", "pause")
@covers("MQDMPR-3.1.1.12-D60", "MQDMPR-3.1.7.1.32-03", "MQDMPR-3.1.7.1.32-08")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_sent_time_is_time_at_which_application_sends(peer, sut, judge, delivery):
    """Two messages, sent 3 s apart, wait in their paused outgoing queue for several seconds. The difference of their
    SentTimes shows that SentTime is the time at which the application sent the message.
    """
    to = peer.direct_name(f"mqc-waiting-{delivery}")
    sender = Sender(peer, sut, to)
    begin_s = peer.environment.now().utc_s
    sender.send(1, delivery="recoverable")
    session, _ = sender.await_first_messages(1)
    session.acknowledge_all()
    sut.pause(to)
    sender.send(2, delivery=delivery)
    elapsed_s = peer.environment.now().utc_s - begin_s
    peer.pass_time(PAUSE_BETWEEN_MESSAGES_S * 1_000)
    sender.send(3, delivery=delivery)
    peer.pass_time(EXPIRY_WAIT_S * 1_000)
    sut.resume(to)
    frames = sender.collect_messages(session, 3)
    sent_s = [frame["UserHeader"].SentTime for frame in frames]
    judge(
        "MQDMPR-3.1.1.12-D60",
        expected=between(sent_s[0], sent_s[0] + elapsed_s + 1),
        observed=sent_s[1] if len(frames) > 1 else "no second message",
        case="SentTime in seconds",
        evidence=frames,
    )
    judge(
        "MQDMPR-3.1.1.12-D60",
        "MQDMPR-3.1.7.1.32-03",
        "MQDMPR-3.1.7.1.32-08",
        expected=between(PAUSE_BETWEEN_MESSAGES_S - 1, PAUSE_BETWEEN_MESSAGES_S + EXPIRY_WAIT_S - 1),
        observed=sent_s[-1] - sent_s[-2],
        case="seconds between the SentTimes of the two messages that waited",
        evidence=frames,
    )
    session.acknowledge_all()


@needs("send")
@covers("MQDMPR-3.1.7.1.32-03")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_repeated_message_has_time_at_which_application_sent_it(peer, sut, judge, delivery):
    """The session is lost before the peer acknowledges a message, and the SUT sends the message again several seconds
    later. Both copies have the same SentTime.
    """
    sender = Sender(peer, sut, peer.direct_name(f"mqc-repeated-{delivery}"))
    sender.send(1, delivery=delivery)
    session = sender.await_session()
    frames = sender.collect_messages(session, 1)
    peer.pass_time(PAUSE_BETWEEN_MESSAGES_S * 1_000)
    session.close()
    later = sender.await_session()
    copies = sender.collect_messages(later, 1)
    later.acknowledge_all()
    if not frames or not copies:
        judge.mark_not_exercised("MQDMPR-3.1.7.1.32-03", reason="the SUT did not send the message twice")
        return
    judge(
        "MQDMPR-3.1.7.1.32-03",
        expected=frames[0]["UserHeader"].SentTime,
        observed=copies[0]["UserHeader"].SentTime,
        case="SentTime of the second copy in seconds",
        evidence=[*frames, *copies],
    )


@covers("MQDMPR-3.1.1.12-D60")
@varied("trace", "positive journaling", "negative journaling", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_sent_time_of_acknowledgment_is_present_time(peer, sut, judge):
    """Messages with a SentTime of a day ago, or a day ahead, request acknowledgments. An express, a recoverable and a
    transactional message arrive, and the transactional queue refuses a nontransactional message. If a queue can be
    created and read, one further message is received and another is purged. The SentTime of each administration
    acknowledgment is the present time.
    """
    now_s = peer.environment.now().utc_s
    receiver = AcknowledgingReceiver(peer, sut)
    ago, ahead = ({"SentTime": now_s + shift_s} for shift_s in (-SECONDS_PER_DAY, SECONDS_PER_DAY))
    requested = {"PA": 1, "NA": 1}
    sent = [
        receiver.send_packet(receiver.build_message({**ago, "DM": 0}, properties=requested)),
        receiver.send_packet(receiver.build_message({**ahead, "DM": 1}, properties=requested)),
        receiver.send_packet(Sequence(peer).message(receiver.add_admin_queue_fields(ago), properties=requested)),
        receiver.send_packet(receiver.build_message(ago, queue="transactional", properties=requested)),
    ]
    if sut.has("receive") and sut.has("queue_control"):
        queue = sut.new_queue("read")
        to = {"destination": rf"TCP:{sut.address}\{queue}"}
        sent += [
            receiver.send_packet(receiver.build_message(ago, properties={bit: 1}, label=bit, **to))
            for bit in ("PR", "NR")
        ]
        if not peer.eventually(lambda: len(sut.labels(queue)) > 1):
            raise ConformanceFailure("the messages did not arrive in their queue")
        sut.control.call("receive", queue=queue, timeout_ms=0)
        sut.control.call("purge", queue=queue)
    acks = receiver.await_acks(len(sent))
    if not acks:
        raise ConformanceFailure("the SUT did not acknowledge the messages")
    present = between(now_s - CLOCK_TOLERANCE_S, peer.environment.now().utc_s + CLOCK_TOLERANCE_S)
    for ack in acks:
        judge.all(expected=fields({"UserHeader.SentTime": present}), observed=ack, evidence=[*sent, ack])
    receiver.acknowledge_all()


@needs("send", "receive")
@covers("MQDMPR-3.1.1.12-21")
def test_each_copy_for_several_queues_is_journaled(peer, sut, judge):
    """The SUT sends a message with JP to two queues of the peer, which acknowledges both copies. The sender's journal
    contains both copies.
    """
    queues = [peer.direct_name(f"mqc-{sut.own}-{number}") for number in (1, 2)]
    label = f"copied {sut.own}"
    peer.listen(ignore_incoming=True)
    sut.send(",".join(queues), body="copied", label=label, journal=["positive"], delivery="recoverable")
    frames = peer.inbox.wait(lambda frame: bytes(frame["MessagePropertiesHeader"].MessageBody) == b"copied", 2)
    peer.inbox.acknowledge()

    def list_copies() -> list[str]:
        kept = sut.control.call("peek", queue=SYSTEM_JOURNAL, limit=10_000)["messages"]
        return sorted(one["message_id"] for one in kept if one["label"] == label)

    peer.eventually(lambda: len(list_copies()) >= len(frames))
    sent = sorted(f"{{{frame['UserHeader'].SourceQueueManager}}}\\{frame['UserHeader'].MessageID}" for frame in frames)
    judge(
        "MQDMPR-3.1.1.12-21",
        expected=[one.lower() for one in sent],
        observed=[one.lower() for one in list_copies()],
        evidence=frames,
        case="copies in the journal",
    )


@needs("send", "receive")
@covers("MQMQ-2.2.19.2-13", "MQDMPR-3.1.1.12-D46", "MQDMPR-3.1.1.12-26", "MQDMPR-3.1.1.12-24", "MQDMPR-3.1.1.2-17")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("acknowledgments", "response queue", "time to be received", "trace", "label")
def test_expired_message_with_jn_is_dead_letter(peer, sut, judge, delivery):
    """Three messages expire unsent. The messages with JN are in the dead-letter queue, and the message with only JP is
    not.
    """
    to = peer.direct_name()
    limits = {"time_to_reach_queue_s": SHORT_LIFETIME_S, "delivery": delivery}
    names = {
        name: sut.send(to, body="late", label="late", journal=journal, **limits)
        for name, journal in (
            ("message with JN", ["negative"]),
            ("message with JP", ["positive"]),
            ("message with JN and JP", ["positive", "negative"]),
        )
    }
    peer.pass_time((SHORT_LIFETIME_S + 2) * 1_000)
    sender = Sender(peer, sut)
    sender.send(1)
    session = sender.await_session()
    frames = sender.collect_messages(session, 1)
    dead_letters = (
        TRANSACTIONAL_DEAD_LETTER_QUEUE if delivery == "transactional" else NONTRANSACTIONAL_DEAD_LETTER_QUEUE
    )
    kept_messages = _await_messages_in_system_queue(peer, sut, dead_letters, names)
    judge(
        "MQMQ-2.2.19.2-13",
        "MQDMPR-3.1.1.12-24",
        "MQDMPR-3.1.1.12-D46",
        "MQDMPR-3.1.1.2-17",
        expected=["message with JN", "message with JN and JP"],
        observed=kept_messages,
        evidence=frames,
        case="messages in the dead-letter queue",
    )
    without_jn = [one for one in kept_messages if "JN" not in one]
    judge("MQDMPR-3.1.1.12-26", expected=none("dead letter without JN"), observed=without_jn, evidence=frames)
    session.acknowledge_all()


def _await_messages_in_system_queue(peer, sut, queue, names):
    """Wait for the first message of a system queue; return the names of all its messages."""

    def find_names_of_kept_messages():
        identifiers = [message["message_id"] for message in sut.read_kept_messages(queue)]
        return [name for name, identifier in names.items() if identifier in identifiers]

    peer.eventually(lambda: next(iter(names)) in find_names_of_kept_messages())
    return find_names_of_kept_messages()
