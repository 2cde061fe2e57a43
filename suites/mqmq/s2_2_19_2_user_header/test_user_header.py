"""MS-MQMQ 2.2.19.2 UserHeader."""

from __future__ import annotations

import itertools
from functools import partial
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import connection_closed_by_sut, distinct_values, facts, in_queue, none
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver, list_message_class_names
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.sender import Sender
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

RESERVED_BITS_BY_RULE = {
    "MQMQ-2.2.19.2-12": {"X1": 1},
    "MQMQ-2.2.19.2-24": {"X2": 1},
    "MQMQ-2.2.19.2-26": {"X3": 3},
    "MQMQ-2.2.19.2-28": {"X4": 7},
}
"""The reserved bits of Flags, by rule."""
UNLISTED_QUEUE_TYPES = (
    ("MQMQ-2.2.19.2-30", "DQ", 1),
    ("MQMQ-2.2.19.2-30", "DQ", 2),
    ("MQMQ-2.2.19.2-30", "DQ", 4),
    ("MQMQ-2.2.19.2-30", "DQ", 6),
    ("MQMQ-2.2.19.2-34", "AQ", 1),
    ("MQMQ-2.2.19.2-34", "AQ", 4),
)
"""For each case, the rule, the flag, and an undefined value of the flag."""
THIRD_HOST_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f3")
"""The GUID of a queue manager that is neither the SUT nor the peer."""
SHORT_LIFETIME_S, LONG_LIFETIME_S = 1, 9_000


@sut_survives()
@covers(*RESERVED_BITS_BY_RULE)
def test_any_reserved_bit_of_user_header_is_accepted(peer, sut, judge):
    """The peer sends messages, each with one reserved bit of Flags set. Each message is in its queue."""
    for rule, bits in RESERVED_BITS_BY_RULE.items():
        label = f"bits of {rule}"
        done = deliver_message(peer, peer.recoverable_message(bits, label=label), label)
        judge(rule, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")


@covers("MQMQ-2.2.19.2-39", "MQDMPR-3.1.1.12-58")
@varied("destination", acknowledgments=("none", "of receipt"), body=("short", "5,000 bytes"))
def test_any_connector_type_is_accepted(peer, sut, judge):
    """The peer sends messages with several values of ConnectorType, one of them transactional. Each message is in its
    queue, and its arrival is acknowledged if the message requests it.
    """
    for connector in (UUID(int=0), THIRD_HOST_GUID, sut.guid):
        label = f"connector {connector}"
        done = deliver_message(peer, peer.recoverable_message({"ConnectorType": connector}, label=label), label)
        judge.all(expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")
    receiver = AcknowledgingReceiver(peer, sut)
    user = receiver.add_admin_queue_fields({"ConnectorType": THIRD_HOST_GUID})
    sent = [
        receiver.send_packet(build_message(user, properties={"PA": 1}))
        for build_message in (peer.message, Sequence(peer).message)
    ]
    acks = receiver.await_acks(2)
    judge.all(
        expected=["ACK_REACH_QUEUE"] * 2,
        observed=list_message_class_names(acks),
        case="acknowledgments",
        evidence=[*sent, *acks],
    )
    receiver.acknowledge_all()


@malforms("MQMQ-2.2.19.2-15", "MQMQ-2.2.19.2-16")
@pytest.mark.parametrize(
    ("rule", "flag", "value"),
    [
        pytest.param(rule, flag, value, marks=covers(rule), id=f"{flag}-{value}")
        for rule, flag, value in UNLISTED_QUEUE_TYPES
    ],
)
@sut_survives()
def test_undefined_dq_or_aq_closes_session(peer, judge, rule, flag, value):
    """The peer sends a valid message, and then a recoverable or transactional message with an undefined DQ or AQ. The
    SUT closes the session, even if the message with the undefined AQ contains a direct administration queue.
    """
    changes = [{flag: value}]
    if flag == "AQ":
        changes.append({flag: value, "AdminQueue": rf"TCP:{peer.address}\private$\mqc-admin"})
    builders = (peer.recoverable_message, Sequence(peer).message)
    for build_message, change in itertools.product(builders, changes):
        connection = peer.open_raw()
        connection.require_session_ack_for_message()
        sent = connection.send(build_message(change))
        judge(rule, expected=connection_closed_by_sut(), observed=connection.await_close(), evidence=sent)


@needs("receive")
@covers("MQMQ-2.2.19.2-37")
@pytest.mark.parametrize("kind", [2, 3, 6], ids=["at the source", "at the destination", "at a third host"])
@varied("priority", "application tag", "extension", "correlation", "trace", "body")
def test_response_queue_with_rq_4_is_on_host_of_admin_queue(peer, sut, judge, kind):
    """A message with RQ 4 arrives. Its administration queue is a private queue of its source, of the SUT, or of a third
    host. The application gets a response queue on the host of the administration queue.
    """
    hosts = {2: peer.identifier, 3: sut.guid, 6: THIRD_HOST_GUID}
    by_number = PrivateQueueFormatNameId(PrivateQueueIdentifier=7)
    on_third_host = PrivateQueueFormatName(SourceQueueManager=THIRD_HOST_GUID, PrivateQueueIdentifier=7)
    names = {
        "AQ": kind,
        "AdminQueue": on_third_host if kind == 6 else by_number,
        "RQ": 4,
        "ResponseQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=5),
    }
    done = deliver_message(peer, peer.recoverable_message(names, label="response"), "response")
    found = [one["response_queue"] for one in sut.messages() if one["label"] == "response"]
    expected = [rf"PRIVATE={hosts[kind]}\00000005".lower()]
    judge(
        "MQMQ-2.2.19.2-37",
        expected=expected,
        case="response queue",
        observed=[str(name).lower() for name in found],
        evidence=done.frames,
    )


@covers(
    "MQMQ-2.2.19.2-02",
    "MQMQ-2.2.19.2-06",
    "MQMQ-2.2.19.2-07",
    "MQMQ-2.2.19.2-D05",
    "MQDMPR-3.1.1.12-D02",
    "MQDMPR-3.1.1.12-D60",
)
@varied("priority", "acknowledgments", "response queue", "time to be received", "trace")
def test_message_to_direct_name_has_zero_queue_manager_address(peer, sut, judge):
    """The SUT sends ten messages to a direct name. QueueManagerAddress is zero, SentTime is the time of sending, and
    each message has a different MessageID.
    """
    sender = Sender(peer, sut)
    before_s = peer.environment.now().utc_s
    sender.send(*range(1, 8))
    sender.send(8, 9, 10, delivery="recoverable")
    session, sent = sender.await_first_messages(10)
    headers = [frame["UserHeader"] for frame in sent]
    judge(
        "MQMQ-2.2.19.2-02",
        expected={UUID(int=0)},
        observed={each.QueueManagerAddress for each in headers},
        evidence=sent,
        case="QueueManagerAddress of the messages",
    )
    late = [each.SentTime for each in headers if abs(each.SentTime - before_s) > CLOCK_TOLERANCE_S]
    judge(
        "MQMQ-2.2.19.2-06",
        "MQMQ-2.2.19.2-D05",
        "MQDMPR-3.1.1.12-D60",
        expected=none("message with a wrong SentTime"),
        observed=late,
        evidence=sent,
    )
    judge(
        "MQMQ-2.2.19.2-07",
        "MQDMPR-3.1.1.12-D02",
        expected=distinct_values("MessageIDs", 10),
        observed=[each.MessageID for each in headers],
        evidence=sent,
    )
    session.acknowledge_all()


@needs("private_names")
@covers("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29", "MQMQ-2.2.18.1.5.1-01")
@pytest.mark.parametrize("delivery", ["express", "recoverable", pytest.param("transactional", marks=needs("send"))])
@varied("acknowledgments", "positive journaling", "negative journaling", "response queue", "label")
def test_message_to_private_name_has_guid_of_host(peer, sut, judge, delivery):
    """The SUT sends a message to a private name of the peer. QueueManagerAddress is the GUID of the peer, and
    DestinationQueue is the number of the queue in 4 bytes.
    """
    sender = Sender(peer, sut, to=peer.build_private_format_name_of_peer())
    sender.send(1, delivery=delivery)
    session, sent = sender.await_first_messages(1)
    header = sent[0]["UserHeader"]
    judge(
        "MQMQ-2.2.19.2-02",
        "MQMQ-2.2.19.2-03",
        "MQMQ-2.2.19.2-29",
        expected=peer.identifier,
        case="QueueManagerAddress",
        observed=header.QueueManagerAddress,
        evidence=sent,
    )
    named = {"DQ": header.DQ, "DestinationQueue": sent[0].data[64:68].hex()}
    expected = facts(DQ=3, DestinationQueue="01000000")
    judge("MQMQ-2.2.18.1.5.1-01", expected=expected, observed=named, evidence=sent)
    session.acknowledge_all()


@needs("send")
@covers("MQMQ-2.2.19.2-31")
@varied("priority", "negative journaling", "response queue", "time to be received", "time to reach queue")
def test_message_with_na_has_administration_queue(peer, sut, judge):
    """The SUT sends one message without requests for acknowledgments, and one message for each kind of acknowledgment.
    AQ is 0 in the message without requests. In each other message, AQ is 7, and only the bit of the requested
    acknowledgment is set.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    requests = {"positive_arrival": "PA", "positive_receive": "PR", "negative_arrival": "NA", "negative_receive": "NR"}
    for tag, request in enumerate(requests, 2):
        sender.send(tag, acks=[request], admin_queue=f"DIRECT=TCP:{sut.address}\\{sut.queue('admin')}")
    session, sent = sender.await_first_messages(5)
    properties = [frame["MessagePropertiesHeader"] for frame in sent]
    bits = ["".join(bit for bit in requests.values() if header.getfieldval(bit)) or "no bit" for header in properties]
    observed = [f"{bit} and AQ {int(frame['UserHeader'].AQ)}" for bit, frame in zip(bits, sent, strict=True)]
    judge.all(
        expected=["no bit and AQ 0", *(f"{bit} and AQ 7" for bit in requests.values())],
        case="acknowledgment bits and AQ of each message",
        observed=observed,
        evidence=sent,
    )
    session.acknowledge_all()


@needs("restart", "receive")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20", "MQMQ-2.2.19.3-13", "MQMQ-2.2.19.3-16")
@pytest.mark.parametrize("queue", ["plain", "transactional"])
@varied("destination", acknowledgments=("none", "of receipt"), body=("short", "5,000 bytes"))
def test_recoverable_messages_survive_two_restarts(peer, sut, judge, queue):
    """Three recoverable messages and an administration acknowledgment arrive. After each of two restarts, they are in
    the queue, unchanged and in the same order.
    """
    sequence = Sequence(peer)
    packets = [
        sequence.message(label=label, **fields)
        if queue == "transactional"
        else peer.recoverable_message(label=label, **fields)
        for label, fields in (
            ("first", {"body": b"", "CorrelationID": bytes(range(20))}),
            ("second", {"body": bytes(5_000), "ApplicationTag": 0x8102_0304, "properties": {"PA": 0}}),
            ("third", {"ExtensionData": b"ext", "BodyType": 0x1011, "base": {"TimeToReachQueue": 86_400}}),
            ("acknowledgment", {"properties": {"MessageClass": AckClass.REACH_QUEUE}}),
        )
    ]
    connection = peer.open_raw()
    sent = [connection.send(packet) for packet in packets]
    connection.require_session_ack_for_message()
    name = sut.queue(queue)
    labels = ["first", "second", "third", "acknowledgment"]
    if [one["label"] for one in sut.messages(queue) if one["label"] in labels] != labels:
        raise ConformanceFailure("the messages did not arrive in their queue")
    for _ in range(2):
        sut.restart()
        found = [one for one in sut.control.call("peek", queue=name)["messages"] if one["label"] in labels]
        order = [one["label"] for one in found]
        judge.all(expected=labels, case="labels in the queue", observed=order, evidence=sent)
        for frame, label in zip(sent, labels, strict=True):
            shown = next((one for one in found if one["label"] == label), None)
            observed = describe_differences(frame, shown, sut.guid)
            judge.all(
                expected=UNCHANGED_PROPERTIES_OUTCOME, observed=observed, case=f'message "{label}"', evidence=frame
            )


@needs("receive")
@covers("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53", "MQDMPR-3.1.7.1.9-15")
@varied("acknowledgments", "positive journaling", "negative journaling", "body", "destination")
def test_message_past_time_to_be_received_leaves_queue(peer, sut, judge):
    """Two messages are in the queue. The message whose TimeToBeReceived expires leaves the queue, and the message with
    time left stays. If a slow SUT shows the short-lived message too late, the check repeats these steps with a longer
    time.
    """
    session = peer.open_raw()
    for time_s in (SHORT_LIFETIME_S, 5 * SHORT_LIFETIME_S, 20 * SHORT_LIFETIME_S):
        long, short = names = [f"long-{time_s}", f"short-{time_s}"]
        sent = [
            session.send(peer.recoverable_message({"TimeToBeReceived": to_be_received_s}, label=label))
            for label, to_be_received_s in zip(names, (LONG_LIFETIME_S, time_s), strict=True)
        ]
        if peer.eventually(partial(_are_messages_in_queue, sut, names)):
            break
    else:
        raise ConformanceFailure(f"the messages did not arrive: {_list_labels_of_expected_messages(sut, names)}")
    peer.pass_time((time_s + 1) * 1_000)
    peer.eventually(lambda: short not in _list_labels_of_expected_messages(sut, names))
    labels = _list_labels_of_expected_messages(sut, names)
    judge.all(expected=in_queue(long), observed=labels, evidence=sent)


def _are_messages_in_queue(sut, names):
    """Return whether the messages with the given labels are in the queue."""
    return _list_labels_of_expected_messages(sut, names) == names


def _list_labels_of_expected_messages(sut, names):
    """Return the given labels that belong to messages in the queue."""
    return sorted(message["label"] for message in sut.messages() if message["label"] in names)
