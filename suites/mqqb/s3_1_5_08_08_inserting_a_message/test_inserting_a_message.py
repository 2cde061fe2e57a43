"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.expectations import (
    acknowledged,
    acknowledgments_of_classes,
    any_order,
    connection_closed_by_sut,
    facts,
    holds,
    in_queue,
    none,
)
from harness.run.marks import covers, needs, sut_survives, varied
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    ADMINISTRATION_QUEUE_NAME,
    AckClass,
    AcknowledgingReceiver,
    get_correlation_id,
    get_final_ack_identifier,
    identifier,
)
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

SMALL_QUOTA_KB = 8
LARGE_BODY_REPETITIONS = 3_000
"""The number of repetitions of a text of about 30 bytes. The repeated text makes a body of more than 64 KB."""
LONGEST_SHOWN_BODY_BYTES = 60
LONG_LABEL_PRIORITY = 5
LONG_LABEL_SUFFIX = " with a long label" * 5
OVERSIZE_BODY = b"x" * 16_384
RECEIVING_QUEUE_KINDS = ("plain", "admin", "transactional")
DEAD_LETTER_QUEUE_NAME, TRANSACTIONAL_DEAD_LETTER_QUEUE_NAME = "system$;deadletter", "system$;deadxact"
MESSAGES_ABOVE_AND_BELOW_QUOTA = (
    (OVERSIZE_BODY, "", "", 0),
    (b"fits", "A", "", 0),
    (OVERSIZE_BODY, "A", "", 0),
    (OVERSIZE_BODY, "ANJP", "", 0),
    (OVERSIZE_BODY, "7", "", 0),
    (OVERSIZE_BODY, "N", "-2", 0),
    (OVERSIZE_BODY, "J", "", 0),
    (b"fits", "AJ", "", 0),
    (b"fits", "A", "", 1),
    (OVERSIZE_BODY, "A", "", 1),
)
"""The messages to the queues with a quota: body, requests (A: PA, N: NA, J: JN, P: JP, 7: priority 7), end of the name
of the administration queue, and number of the queue.
"""


@covers(
    "MQQB-3.1.5.8.5-D01",
    "MQQB-3.1.5.8.8-01",
    "MQQB-3.1.5.8.8-02",
    "MQQB-3.1.5.8.8-04",
    "MQQB-3.1.5.8.8-05",
    "MQQB-3.1.5.8-10",
)
@needs("receive")
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("queue_control"))])
def test_received_message_is_in_its_queue_with_its_properties(peer, sut, judge, name):
    """The peer sends messages of every priority and delivery (express, recoverable, transactional) to three queues; one
    body has about 90 KB, and one message is an acknowledgment. Each message is in its destination queue with all its
    properties, and in no other queue.
    """
    session = peer.open_raw()
    sequence = Sequence(peer, ordinal=6)
    sent: dict[str, Frame] = {}
    for queue in RECEIVING_QUEUE_KINDS:
        user = {} if name == "direct" else peer.build_fields_for_private_name_of_sut_queue(sut.queue(queue))
        rest: dict[str, Any] = {"queue": queue} | ({} if name == "direct" else {"destination": None})
        for priority in range(8):
            text_ = f"message for {queue}, priority {priority}" + LONG_LABEL_SUFFIX * (priority == LONG_LABEL_PRIORITY)
            tag = 0xC0FF_EE00 + priority
            times = LARGE_BODY_REPETITIONS if (queue, priority) == ("plain", 7) else 1
            more: dict[str, Any] = {
                "label": text_,
                "body": text_.encode() * times + bytes(priority // 2),
                "ApplicationTag": tag,
                "ExtensionData": text_.encode()[: 3 * priority],
                "CorrelationID": bytes(range(priority + 1, priority + 21)),
                **rest,
            }
            if (queue, priority) == ("admin", 5):
                more["MessageClass"] = AckClass.REACH_QUEUE
            user = user | {"ResponseQueue": rf"TCP:{peer.address}\private$\response-{priority}"}
            if queue == "transactional":
                packet = sequence.message(user, base={"PR": 0}, **more)
            else:
                packet = peer.message(user | {"DM": priority & 1}, base={"PR": priority}, **more)
            sent[text_] = session.send(packet)
    session.require_session_ack_for_message()

    def list_stored_messages() -> list[tuple[str, dict[str, Any]]]:
        return [(queue, one) for queue in RECEIVING_QUEUE_KINDS for one in sut.messages(queue) if one["label"] in sent]

    peer.eventually(lambda: len(list_stored_messages()) >= len(sent))
    evidence = list(sent.values())
    places = [f"queue {label.split(',')[0].removeprefix('message for ')}: {label}" for label in sent]
    judge(
        "MQQB-3.1.5.8.5-D01",
        "MQQB-3.1.5.8.8-04",
        "MQQB-3.1.5.8-10",
        expected=any_order(*places),
        observed=[f"queue {queue}: {one['label']}" for queue, one in list_stored_messages()],
        evidence=evidence,
        case="queue and label of each message",
    )
    judge(
        "MQQB-3.1.5.8.8-01",
        "MQQB-3.1.5.8.8-02",
        "MQQB-3.1.5.8.8-05",
        expected=any_order(*map(_describe_sent_properties, sent.values())),
        observed=[_describe_stored_properties(one) for _, one in list_stored_messages()],
        evidence=evidence,
        case="properties of each message",
    )
    stored = {one["label"]: one for _, one in list_stored_messages()}
    judge(
        "MQQB-3.1.5.8.8-01",
        "MQQB-3.1.5.8.8-02",
        "MQQB-3.1.5.8.8-05",
        expected=dict.fromkeys(sent, UNCHANGED_PROPERTIES_OUTCOME),
        observed={label: describe_differences(frame, stored.get(label), sut.guid) for label, frame in sent.items()},
        evidence=evidence,
        case="each property of each message",
    )


def _describe_body(body: str) -> str:
    """Return a short body, or the beginning, the length and the checksum of a long body."""
    if len(body) <= LONGEST_SHOWN_BODY_BYTES:
        return repr(body)
    return f"{body[:LONGEST_SHOWN_BODY_BYTES]!r} of {len(body)} characters with CRC {zlib.crc32(body.encode()):08X}"


def _describe_sent_properties(frame) -> str:
    """Return label, body, priority, tag and number of a packet."""
    properties = frame["MessagePropertiesHeader"]
    return (
        f"label {properties.Label!r}, body {_describe_body(bytes(properties.MessageBody).decode())}, "
        f"priority {frame['BaseHeader'].PR}, tag {properties.ApplicationTag:X}, number {frame['UserHeader'].MessageID}"
    )


def _describe_stored_properties(message) -> str:
    """Return label, body, priority, tag and number of a message in a queue."""
    number = message["message_id"].rpartition("\\")[2]
    return (
        f"label {message['label']!r}, body {_describe_body(message['body'])}, priority {message['priority']}, "
        f"tag {message['application_tag']:X}, number {number}"
    )


@sut_survives()
@covers("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-07", "MQQB-3.1.5.8.8-10", "MQQB-3.1.5.8.8-11", "MQQB-3.1.5.8.8-13")
@covers("MQDMPR-3.1.7.1.9-07", "MQDMPR-3.1.1.2-D03")
@needs("queues", "receive")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_message_above_quota_of_its_queue_is_refused(peer, sut, judge, kind):
    """The peer sends messages with different requests to a queue with a quota. The queue contains only the small
    messages. For each large message with NA, the SUT sends a negative acknowledgment to the administration queue that
    the message names. For each large message with JN, it stores a dead letter or, if the messages are transactional,
    sends a FinalAck for each large message instead. A second queue with a quota has the same results.
    """
    transactional = kind == "transactional"
    queues = [sut.new_queue("full", transactional=transactional, quota_kb=SMALL_QUOTA_KB)]
    if sut.has("queue_control"):
        queues.append(sut.new_queue("second", transactional=transactional, quota_kb=SMALL_QUOTA_KB))
    receiver = AcknowledgingReceiver(peer, sut)
    sent = []
    for number, (body, asked, end, queue) in enumerate(MESSAGES_ABOVE_AND_BELOW_QUOTA):
        if queue >= len(queues):
            continue
        journal = {"JN": "J" in asked, "JP": "P" in asked, "DM": int(kind != "express")}
        rest: dict[str, Any] = {
            "destination": rf"TCP:{sut.address}\{queues[queue]}",
            "body": body,
            "label": f"quota message {number}",
            "properties": {"PA": int("A" in asked), "NA": int("N" in asked)},
            "base": {} if transactional else {"PR": 7 if "7" in asked else 3},
        }
        if body == OVERSIZE_BODY and sut.has("public_names"):
            rest |= {"debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}}
            rest["base"] |= {"TR": 1}
        fields: dict[str, Any] = {name: int(value) for name, value in journal.items()}
        fields["AdminQueue"] = rf"TCP:{peer.address}\private$\{ADMINISTRATION_QUEUE_NAME}{end}"
        begun = Sequence(peer, ordinal=number + 1)
        packet = begun.message(fields, **rest) if transactional else peer.message(fields, **rest)
        sent.append(receiver.send_packet(packet))
    refused: dict[str, list[Frame]] = {"N": [], "J": [], "": []}
    fitting = []
    for packet, (body, asked, _, _) in zip(sent, MESSAGES_ABOVE_AND_BELOW_QUOTA, strict=False):
        for letter, packets in refused.items():
            if body == OVERSIZE_BODY and letter in asked:
                packets.append(packet)
        if body != OVERSIZE_BODY:
            fitting.append(packet)
    finals = receiver.await_messages_of_sut(receiver.list_final_acks, len(refused[""]) if transactional else 0)
    arrived = receiver.await_messages_of_sut(
        lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent), len(fitting)
    )
    acks = receiver.await_messages_of_sut(
        lambda: receiver.list_acks_of_class(AckClass.Q_EXCEED_QUOTA, *sent), len(refused["N"])
    )
    evidence = [*sent, *acks, *finals, *arrived]
    receiver.acknowledge_all()
    there = [label for queue in queues for label in sut.labels(queue) if label.startswith("quota message")]
    fits = ("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-13", "MQDMPR-3.1.7.1.9-07", "MQDMPR-3.1.1.2-D03")
    judge(*fits, expected=in_queue(*map(_get_label_of_message, fitting)), observed=there, evidence=evidence)
    judge(*fits, expected=acknowledged(*fitting), observed=arrived, evidence=evidence)
    reports = receiver.list_reports()
    judge("MQQB-3.1.5.8.8-13", expected=none("report"), observed=reports, evidence=[*evidence, *reports])
    judge("MQQB-3.1.5.8.8-07", expected=acknowledged(*refused["N"]), observed=acks, evidence=evidence)
    named = {identifier(one): _get_direct_name(one["UserHeader"].AdminQueue) for one in refused["N"]}
    judge(
        "MQQB-3.1.5.8.8-07",
        expected={get_correlation_id(ack): named.get(get_correlation_id(ack), "no message") for ack in acks},
        observed={get_correlation_id(ack): _get_direct_name(ack["UserHeader"].DestinationQueue) for ack in acks},
        case="destination of each acknowledgment, by CorrelationID",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.5.8.8-10",
        expected={
            DEAD_LETTER_QUEUE_NAME: [] if transactional else [*map(_get_label_of_message, refused["J"])],
            TRANSACTIONAL_DEAD_LETTER_QUEUE_NAME: [],
        },
        observed={
            queue: [one["label"] for one in sut.kept(queue)]
            for queue in (DEAD_LETTER_QUEUE_NAME, TRANSACTIONAL_DEAD_LETTER_QUEUE_NAME)
        },
        case="messages in the dead-letter queues",
        evidence=evidence,
    )
    expected = acknowledgments_of_classes(*[AckClass.Q_EXCEED_QUOTA] * (len(refused[""]) if transactional else 0))
    judge("MQQB-3.1.5.8.8-11", expected=expected, observed=finals, case="classes of the FinalAcks", evidence=evidence)
    judge(
        "MQQB-3.1.5.8.8-11",
        expected=any_order(*map(identifier, refused[""] if transactional else [])),
        observed=[get_final_ack_identifier(final) for final in finals],
        case="identifiers of the messages in the FinalAcks",
        evidence=evidence,
    )


def _get_label_of_message(frame: Frame) -> str:
    """Return the Label of a message."""
    return str(frame["MessagePropertiesHeader"].Label)


def _get_direct_name(queue: Any) -> str:
    """Return the direct name in a field of UserHeader, in lower case."""
    return str(getattr(queue, "DirectFormatName", queue)).rstrip("\0").lower()


@covers("MQQB-3.1.5.8.8-06", "MQDMPR-3.1.7.1.9-07", "MQDMPR-3.1.1.2-D03")
@needs("receive", "transactions", "queue_control")
def test_message_received_in_open_transaction_counts_for_quota(peer, sut, judge):
    """A transaction of the SUT has received the message that uses up the quota of its queue. The SUT refuses a further
    message from the peer. After the abort of the transaction, only the first message is in the queue.
    """
    queue = sut.new_queue("full", transactional=True, quota_kb=12)
    receiver = AcknowledgingReceiver(peer, sut)
    destination = rf"TCP:{sut.address}\{queue}"

    def send_large_message(label: str) -> Any:
        user = receiver.add_admin_queue_fields()
        asked = {"PA": 1, "NA": 1}
        packet = receiver.sequence.message(
            user, destination=destination, body=bytes(10_000), label=label, properties=asked
        )
        return receiver.send_packet(packet)

    sent = [send_large_message("first")]
    receiver.await_acks(1)
    transaction = sut.control.call("begin")["transaction"]
    received = sut.read_label("receive", queue=queue, transaction=transaction)
    sent.append(send_large_message("second"))
    kinds = (AckClass.REACH_QUEUE, AckClass.Q_EXCEED_QUOTA)
    acks = receiver.await_messages_of_sut(
        lambda: [ack for kind in kinds for ack in receiver.list_acks_of_class(kind, *sent)], 2
    )
    sut.control.call("abort", transaction=transaction)
    observed = {
        "label_of_the_received_message": received,
        "acknowledgments": acks,
        "labels_in_the_queue": sut.labels(queue),
    }
    expected = facts(
        label_of_the_received_message="first",
        acknowledgments=acknowledgments_of_classes(*kinds),
        labels_in_the_queue=["first"],
    )
    judge.all(expected=expected, observed=observed, evidence=[*sent, *acks])
    receiver.acknowledge_all()


@covers("MQQB-3.1.5.8.8-06")
@needs("queues", "receive", "send", "transactions")
def test_message_of_aborted_transaction_does_not_count_for_quota(peer, sut, judge):
    """A transaction of the SUT aborts, so that the SUT removes the transaction's message from a queue with a quota.
    Then the peer sends two messages. The SUT stores the first message, and refuses the second message.
    """
    queue = sut.new_queue("full", transactional=True, quota_kb=12)
    transaction = sut.control.call("begin")["transaction"]
    sut.send(sut.direct_name(queue), body="not sent " * 400, transaction=transaction)
    sut.control.call("abort", transaction=transaction)
    receiver = AcknowledgingReceiver(peer, sut)
    rest: dict[str, Any] = {"destination": rf"TCP:{sut.address}\{queue}", "body": bytes(10_000)}
    sent = [
        receiver.send(receiver.add_admin_queue_fields(), properties={"PA": 1, "NA": 1}, label=label, **rest)
        for label in ("message that fits", "message that does not fit")
    ]
    kinds = (AckClass.REACH_QUEUE, AckClass.Q_EXCEED_QUOTA)
    acks = receiver.await_messages_of_sut(
        lambda: [ack for kind in kinds for ack in receiver.list_acks_of_class(kind, *sent)], 2
    )
    observed = {"acknowledgments": acks, "labels_in_the_queue": sut.labels(queue)}
    expected = facts(acknowledgments=acknowledgments_of_classes(*kinds), labels_in_the_queue=["message that fits"])
    judge("MQQB-3.1.5.8.8-06", expected=expected, observed=observed, evidence=[*sent, *acks])
    receiver.acknowledge_all()


@sut_survives()
@covers("MQQB-3.1.5.8.8-14", "MQQB-3.1.5.8.8-15", "MQQB-3.1.5.8.8-16", "MQDMPR-3.1.7.1.9-04")
@needs("configure", "receive")
@pytest.mark.parametrize("kind", ["recoverable", "express", "transactional"])
@varied("acknowledgments", "application tag", "destination")
def test_message_above_quota_of_queue_manager_closes_session(peer, sut, judge, kind):
    """QueueManagerQuota of the SUT is 0. When a message from the peer arrives, the SUT closes the session on which it
    arrived, and no other session. The SUT does not store the message, and sends neither a negative acknowledgment nor a
    FinalAck.
    """
    receiver, beside = AcknowledgingReceiver(peer, sut), peer.open_raw()
    session = receiver.session
    session.require_session_ack_for_message()
    queue = sut.queue("transactional" if kind == "transactional" else "plain")
    sut.configure(quota_kb=0)
    rest: dict[str, Any] = {"label": "no room", "properties": {"NA": 1}}
    if kind == "transactional":
        packet = receiver.sequence.message(receiver.add_admin_queue_fields({"JN": 1}), **rest)
    else:
        packet = receiver.build_message({"DM": int(kind == "recoverable"), "JN": 1}, **rest)
    sent = receiver.send_packet(packet)
    judge(
        "MQQB-3.1.5.8.8-15",
        expected=connection_closed_by_sut(),
        observed=session.await_close(),
        evidence=[sent, session.last],
    )
    came = receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.Q_EXCEED_QUOTA, sent), 1)
    judge("MQQB-3.1.5.8.8-16", expected=acknowledged(), observed=came, case="acknowledgments", evidence=[sent, *came])
    finals = receiver.list_final_acks()
    judge(
        "MQQB-3.1.5.8.8-16",
        expected=acknowledgments_of_classes(),
        observed=finals,
        case="FinalAcks",
        evidence=[sent, *finals],
    )
    judge(
        "MQQB-3.1.5.8.8-15",
        expected=holds("open", otherwise="closed"),
        observed=not beside.closed_by_sut,
        case="other session",
        evidence=[sent],
    )
    if not beside.closed_by_sut:
        again = beside.send(packet)
        ended = beside.await_close()
        judge(
            "MQQB-3.1.5.8.8-15",
            expected=connection_closed_by_sut(),
            observed=ended,
            case="session of a repetition",
            evidence=[again],
        )
    dead = [
        one["label"]
        for name in (DEAD_LETTER_QUEUE_NAME, TRANSACTIONAL_DEAD_LETTER_QUEUE_NAME)
        for one in sut.kept(name)
    ]
    judge("MQQB-3.1.5.8.8-16", expected=[], observed=dead, case="messages in the dead-letter queues", evidence=[sent])
    judge(
        "MQQB-3.1.5.8.8-14",
        "MQQB-3.1.5.8.8-16",
        "MQDMPR-3.1.7.1.9-04",
        expected=holds("the SUT did not store the message", otherwise="the SUT stored the message in its queue"),
        observed="no room" not in sut.labels(queue),
        evidence=[sent],
    )
