"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment, with the events of 3.1.5.8.10, 3.1.7.2 and 3.1.7.2.1 that cause
the acknowledgment.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, acknowledgment, acknowledgments_of_classes, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.provisioning import MALLORY
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId, PublicQueueFormatName
from suites.mqqb.steps.disposition import (
    AckClass,
    AcknowledgingReceiver,
    QueueType,
    get_correlation_id,
    get_message_class,
    identifier,
)
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.ordering import get_private_queue_number
from suites.mqqb.steps.secured import SENDER_TYPE_OF_QUEUE_MANAGER, SENDER_TYPE_OF_SENDER_WITH_SID

ACK_ATTRIBUTE_DESCRIPTION_BY_RULE = {
    "MQQB-3.1.7.15-D01": "number of acknowledgments that the acknowledgment requests",
    "MQQB-3.1.7.15-D02": "TimeToReachQueue",
    "MQQB-3.1.7.15-D03": "TimeToBeReceived",
    "MQQB-3.1.7.15-D04": "JP",
    "MQQB-3.1.7.15-D05": "JN",
    "MQQB-3.1.7.15-D06": "PrivacyLevel or EB of the acknowledgment",
    "MQQB-3.1.7.15-D07": "signature size in bytes",
}
"""For each rule, the attributes that are 0 or infinite in every acknowledgment."""
ADMIN_QUEUE_NUMBER = 0x5A0B_0C05
"""A number that uses all bytes of PrivateQueueIdentifier."""
LARGE_MESSAGE_ID = 0x5A00_0000
"""A number that makes a MessageID use all its bytes."""
INFINITE_LIFETIME_S = 0xFFFF_FFFF
LONG_BODY = b"the body of the message" * 100
MESSAGE_LIFETIME_S = 2
LARGE_BODY_BYTES = 5_000
SECOND_ADMINISTRATION_QUEUE = "mqc-other-acks"
FLAGS_REQUESTING_EVERY_ACKNOWLEDGMENT = {"PA": 1, "PR": 1, "NA": 1, "NR": 1}
SAMPLE_CORRELATION_ID = bytes(range(1, 21))
"""The CorrelationID of a message, which its acknowledgment does not copy."""


def _get_attributes_of_acknowledgment(ack) -> dict[str, int]:
    user, properties = ack["UserHeader"], ack["MessagePropertiesHeader"]
    security = ack["SecurityHeader"] if user.SH else None
    return {
        "number of acknowledgments that the acknowledgment requests": sum(
            properties.getfieldval(bit) for bit in ("PA", "PR", "NA", "NR")
        ),
        "TimeToReachQueue": ack["BaseHeader"].TimeToReachQueue,
        "TimeToBeReceived": user.TimeToBeReceived,
        "JP": user.JP,
        "JN": user.JN,
        "PrivacyLevel or EB of the acknowledgment": properties.PrivacyLevel or (security.EB if security else 0),
        "signature size in bytes": len(security.Signature) if security else 0,
    }


def judge_ack_attributes(judge, sent, ack) -> None:
    """Judge the attributes of an acknowledgment whose values do not depend on the acknowledged message."""
    found = _get_attributes_of_acknowledgment(ack)
    for rule, name in ACK_ATTRIBUTE_DESCRIPTION_BY_RULE.items():
        expected = INFINITE_LIFETIME_S if name.startswith("TimeTo") else 0
        judge(rule, "MQQB-3.1.7.15-26", expected=expected, observed=found[name], case=name, evidence=[sent, ack])


def _describe_queue(frame, name: str) -> str:
    """Return a queue in UserHeader as text: its type and its name or number."""
    user = frame["UserHeader"]
    queue = getattr(user, f"{name}Queue")
    kind = getattr(user, {"Destination": "DQ", "Admin": "AQ", "Response": "RQ"}[name])
    for field in ("DirectFormatName", "PublicQueueIdentifier", "PrivateQueueIdentifier"):
        if hasattr(queue, field):
            value = getattr(queue, field)
            text = value.decode("utf-16-le") if isinstance(value, bytes) else str(value)
            text = text.rstrip("\0").lower()
            return f"{text} (queue type {kind})"
    return f"none (queue type {kind})"


@covers(
    "MQQB-3.1.5.8.10-01",
    "MQQB-3.1.5.8.10-02",
    "MQDMPR-3.1.1.12-37",
    "MQDMPR-3.1.1.12-D07",
    "MQQB-3.1.5.8-12",
    "MQQB-3.1.7.15-06",
    "MQQB-3.1.7.15-30",
    "MQQB-3.1.7.15-34",
)
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("queues"))])
@varied("negative journaling", "time to be received", priority=("3", "7"))
def test_arrival_is_acknowledged_only_with_pa(peer, sut, judge, name, delivery):
    """The peer sends three messages to a direct or private format name of the SUT: one without acknowledgment bits, one
    with PA, and one with all acknowledgment bits, a large body and a different administration queue. For the second and
    the third message, the SUT sends an ACK_REACH_QUEUE to the administration queue that the message names.
    """
    transactional = delivery == "transactional"
    queue = "transactional" if transactional else "plain"
    receiver = AcknowledgingReceiver(peer, sut)
    user: dict[str, Any] = {"DM": int(delivery != "express")}
    if name == "private":
        user |= peer.build_fields_for_private_name_of_sut_queue(sut.queue(queue))
    place: dict[str, Any] = {"destination": None} if name == "private" else {}
    make = receiver.sequence.message if transactional else peer.message
    user = receiver.add_admin_queue_fields(user)
    sent = [receiver.send_packet(make(user, queue=queue, properties={"PA": wanted}, **place)) for wanted in (0, 1)]
    user["AdminQueue"] = rf"TCP:{peer.address}\private$\{SECOND_ADMINISTRATION_QUEUE}"
    large = bytes(LARGE_BODY_BYTES)
    sent.append(
        receiver.send_packet(
            make(user, queue=queue, properties=FLAGS_REQUESTING_EVERY_ACKNOWLEDGMENT, body=large, **place)
        )
    )
    came = receiver.await_acks(2)
    observed = [ack for ack in came if get_message_class(ack) == AckClass.REACH_QUEUE]
    judge.all(expected=acknowledged(*sent[1:]), observed=observed, evidence=[*sent, *came])
    named = {identifier(frame): _describe_queue(frame, "Admin") for frame in sent}
    expected = [named.get(get_correlation_id(ack)) for ack in observed]
    where = [_describe_queue(ack, "Destination") for ack in observed]
    judge(
        "MQQB-3.1.5.8-12", expected=expected, observed=where, case="administration queues", evidence=[*sent, *observed]
    )


@covers("MQQB-3.1.7.15-03", "MQQB-3.1.7.15-04")
@needs("receive")
@varied("trace", "destination", priority=("3", "0"))
def test_message_without_administration_queue_is_not_acknowledged(peer, sut, judge):
    """The peer sends a message with an administration queue, and then messages that request acknowledgments but name
    only a response queue. Some messages arrive and are purged or received, and the SUT refuses others. The SUT
    acknowledges only the first message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    response = {"ResponseQueue": rf"TCP:{peer.address}\private$\mqc-response"}
    with_queue = receiver.send_packet(receiver.build_message(properties={"PA": 1}))
    receiver.await_acks(1)
    sent = [
        receiver.send_packet(peer.message(response, queue=queue, properties={"PA": 1, "NA": 1}))
        for queue in ("plain", "transactional")
    ]
    came = receiver.await_acks(2)
    expected, evidence = acknowledged(with_queue), [with_queue, *sent, *came]
    judge("MQQB-3.1.7.15-04", expected=expected, observed=came, evidence=evidence, case="acknowledgments")
    sent = [receiver.send_packet(peer.message(response, label="to be received", properties={"PR": 1}))]
    peer.await_label("to be received", sut.queue())
    sut.control.call("purge", queue=sut.queue())
    sent.append(receiver.send_packet(peer.message(response, label="to be taken", properties={"PR": 1})))
    peer.await_label("to be taken", sut.queue())
    sut.control.call("receive", queue=sut.queue(), timeout_ms=0)
    lifetime = response | {"TimeToBeReceived": MESSAGE_LIFETIME_S}
    sent.append(receiver.send_packet(peer.message(lifetime, label="to expire", properties={"NR": 1})))
    peer.await_label("to expire", sut.queue())
    peer.pass_time(1_000 * (MESSAGE_LIFETIME_S + 2))
    came = receiver.await_acks(2)
    evidence = [with_queue, *sent, *came]
    judge("MQQB-3.1.7.15-03", expected=expected, observed=came, evidence=evidence, case="acknowledgments")


@covers("MQQB-3.1.7.15-05")
@pytest.mark.parametrize(
    "insecure",
    [pytest.param(False, marks=needs("configure")), pytest.param(True, marks=needs("insecure_nacks"))],
)
@varied("queue journaling", "queue quota", "queue privacy")
def test_insecure_nack_is_sent_only_when_configured(peer, sut, judge, insecure):
    """The peer sends express, recoverable and transactional messages to a missing queue, two messages of an unknown
    user, and a nontransactional message to a transactional queue. The SUT sends acknowledgments of class BAD_DST_Q and
    ACCESS_DENIED only if SendInsecureNacks is TRUE, but sends one of class NOT_TRANSACTIONAL_MSG even if
    SendInsecureNacks is FALSE.
    """
    if insecure:
        sut.enable_insecure_nacks()
    else:
        sut.configure(send_insecure_nacks=False)
    receiver = AcknowledgingReceiver(peer, sut)
    nowhere = [
        receiver.build_message({"DM": recoverable}, destination=peer.format_name_of_missing_queue, properties={"NA": 1})
        for recoverable in (0, 1)
    ]
    sent = [
        *map(receiver.send_packet, nowhere),
        receiver.send(
            receiver.add_admin_queue_fields(), destination=peer.format_name_of_missing_queue, properties={"NA": 1}
        ),
        receiver.send_packet(receiver.build_message(queue="transactional", properties={"NA": 1})),
    ]
    insecure_classes = [AckClass.BAD_DST_Q] * 3
    if sut.has("security"):
        claims = {"ST": SENDER_TYPE_OF_SENDER_WITH_SID, "DE": 1, "SecurityID": MALLORY.security_id}
        sent += [
            receiver.send_packet(receiver.build_message({"DM": one}, properties={"NA": 1}, security=claims))
            for one in (0, 1)
        ]
        insecure_classes += [AckClass.ACCESS_DENIED] * 2
    came = receiver.await_acks(1 + len(insecure_classes) if insecure else 1)
    expected = acknowledgments_of_classes(*(insecure_classes if insecure else []), AckClass.NOT_TRANSACTIONAL_MSG)
    judge(
        "MQQB-3.1.7.15-05",
        expected=expected,
        observed=came,
        case="classes of the acknowledgments",
        evidence=[*sent, *came],
    )


def _list_administration_queues(sut, receiver: AcknowledgingReceiver) -> list[tuple[str, dict[str, Any], str]]:
    """Return the rule, the UserHeader fields and the expected destination for each type of administration queue."""
    peer = receiver.peer
    private = PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    other = PrivateQueueFormatName(SourceQueueManager=peer.identifier, PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    public = PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE)
    direct = receiver.add_admin_queue_fields()["AdminQueue"]
    return [
        ("MQQB-3.1.7.15-15", {"AdminQueue": direct}, f"{direct} (queue type {QueueType.DIRECT})"),
        (
            "MQQB-3.1.7.15-11",
            {"AQ": 2, "AdminQueue": private},
            f"{ADMIN_QUEUE_NUMBER} (queue type {QueueType.QUEUE_ON_DESTINATION})",
        ),
        (
            "MQQB-3.1.7.15-14",
            {"AQ": 6, "AdminQueue": other},
            f"{ADMIN_QUEUE_NUMBER} (queue type {QueueType.QUEUE_ON_DESTINATION})",
        ),
        ("MQQB-3.1.7.15-13", {"AQ": 5, "AdminQueue": public}, f"{PEER_PUBLIC_QUEUE} (queue type {QueueType.PUBLIC})"),
    ]


@covers(
    "MQQB-3.1.7.15-08",
    "MQQB-3.1.7.15-09",
    "MQQB-3.1.7.15-10",
    "MQQB-3.1.7.15-11",
    "MQQB-3.1.7.15-13",
    "MQQB-3.1.7.15-14",
    "MQQB-3.1.7.15-15",
)
@needs("receive", "private_names", "public_names")
def test_acknowledgment_is_addressed_to_administration_queue(peer, sut, judge):
    """The peer sends a message for each type of administration queue (AQ 7, 2, 6, 5), and an application receives the
    message. The SUT addresses the acknowledgments of arrival and of receipt to that queue.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    for count, (rule_of_type, user, expected) in enumerate(_list_administration_queues(sut, receiver)):
        sent, arrived = receiver.send_and_await_acks(peer.message(user, properties={"PA": 1, "PR": 1}), 2 * count + 1)
        sut.control.call("receive", queue=sut.queue(), timeout_ms=0)
        received = receiver.await_acks(2 * count + 2)[2 * count + 1 :]
        evidence = [sent, arrived, *received]
        judge(
            rule_of_type,
            "MQQB-3.1.7.15-08",
            "MQQB-3.1.7.15-10",
            expected=expected.lower(),
            observed=_describe_queue(arrived, "Destination"),
            case="destination of the acknowledgment",
            evidence=evidence,
        )
        observed = [_describe_queue(ack, "Destination") for ack in received]
        judge(
            rule_of_type,
            "MQQB-3.1.7.15-09",
            expected=[expected.lower()],
            observed=observed,
            case="destination of the second acknowledgment",
            evidence=evidence,
        )


@covers("MQQB-3.1.7.15-08", "MQQB-3.1.7.15-12", "MQQB-3.1.7.15-30")
@needs("queues", "receive")
@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("PA", "MQMSG_CLASS_ACK_REACH_QUEUE"),
        ("NA", "MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q"),
        ("PR", "MQMSG_CLASS_ACK_RECEIVE"),
    ],
    ids=["arrived", "refused", "received"],
)
@varied("queue journaling", "queue quota", "queue privacy")
def test_acknowledgment_for_aq_3_is_in_queue_of_destination(peer, sut, judge, asked, name):
    """The peer sends a message with AQ 3, which the SUT accepts or refuses, or which an application receives: the
    acknowledgment is in the queue of the SUT that has the number in AdminQueue, and not in the destination queue.
    """
    queue = sut.new_queue("administration")
    number = get_private_queue_number(sut, queue)
    receiver = AcknowledgingReceiver(peer, sut)
    own = {"AQ": 3, "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=number)}
    user = peer.build_fields_for_private_destination(sut.guid, get_private_queue_number(sut, sut.queue())) | own
    make = receiver.sequence.message if asked == "NA" else peer.message
    sent = receiver.send_packet(make(user, destination=None, properties={asked: 1}, label="with AQ 3"))
    if asked == "PR" and peer.await_label("with AQ 3", sut.queue()):
        sut.control.call("receive", queue=sut.queue(), timeout_ms=0)
    receiver.session.stays_quiet()
    found = sut.control.call("peek", queue=queue, limit=10)["messages"]
    observed = [one["correlation_id"] for one in found if one["class"] == name]
    judge(
        "MQQB-3.1.7.15-12",
        "MQQB-3.1.7.15-30",
        expected=[identifier(sent)],
        observed=observed,
        case="CorrelationIDs of the acknowledgments in the queue",
        evidence=[sent],
    )
    there = [one["class"] for one in sut.messages() if one["class"] == name]
    judge(
        "MQQB-3.1.7.15-08", expected=[], observed=there, case="acknowledgments in the destination queue", evidence=sent
    )
    receiver.acknowledge_all()


@covers(
    "MQQB-3.1.7.15-17",
    "MQQB-3.1.7.15-18",
    "MQQB-3.1.7.15-20",
    "MQQB-3.1.7.15-21",
    "MQQB-3.1.7.15-23",
    "MQQB-3.1.7.15-25",
    "MQQB-3.1.7.15-26",
    "MQQB-3.1.7.15-29",
    *ACK_ATTRIBUTE_DESCRIPTION_BY_RULE,
)
@needs("queues")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_acknowledgments_of_arrival_and_refusal_have_values_of_packet(peer, sut, judge, recoverable):
    """The peer sends a message that arrives and a message that the SUT refuses, to a direct and to a private name:
    correlation, response queue, delivery and body of each acknowledgment have the values that follow from the packet.
    """
    number = get_private_queue_number(sut, sut.queue("transactional"))
    receiver = AcknowledgingReceiver(peer, sut)
    user = {"DM": recoverable, "TimeToBeReceived": 900, "JP": 1, "JN": 1}
    asks: dict[str, Any] = {"base": {"TimeToReachQueue": 800}, "body": LONG_BODY}
    own = {"CorrelationID": SAMPLE_CORRELATION_ID}
    arrived = receiver.send_and_await_acks(receiver.build_message(user, properties={"PA": 1, **own}, **asks))
    refused_to = peer.build_fields_for_private_destination(sut.guid, number)
    to_private = receiver.build_message(user | refused_to, destination=None, properties={"NA": 1, **own}, **asks)
    refused = receiver.send_and_await_acks(to_private, 2)
    for sent, ack in (arrived, refused):
        judge(
            "MQQB-3.1.7.15-17",
            "MQQB-3.1.7.15-18",
            expected=acknowledgment(sent),
            observed=ack,
            evidence=[sent, ack],
        )
        judge(
            "MQQB-3.1.7.15-25",
            expected=recoverable,
            observed=ack["UserHeader"].DM,
            case="DM of the acknowledgment",
            evidence=[sent, ack],
        )
        judge_ack_attributes(judge, sent, ack)
    named_here = f"{sut.format_name().removeprefix('DIRECT=')} (queue type {QueueType.DIRECT})".lower()
    private_here = one_of(f"{number} (queue type 2)", f"{number} (queue type 6)")
    for rule, (sent, ack), expected in (
        ("MQQB-3.1.7.15-23", arrived, named_here),
        ("MQQB-3.1.7.15-20", arrived, named_here),
        ("MQQB-3.1.7.15-21", refused, private_here),
        ("MQQB-3.1.7.15-20", refused, private_here),
    ):
        judge(
            rule,
            expected=expected,
            observed=_describe_queue(ack, "Response"),
            case="response queue",
            evidence=[sent, ack],
        )
    bodies = [bytes(ack["MessagePropertiesHeader"].MessageBody) for _, ack in (arrived, refused)]
    judge(
        "MQQB-3.1.7.15-29",
        expected=[b"", LONG_BODY],
        observed=bodies,
        case="bodies of the positive and the negative acknowledgment",
        evidence=[*arrived, *refused],
    )


@covers(
    "MQQB-3.1.7.15-17",
    "MQQB-3.1.7.15-18",
    "MQQB-3.1.7.15-20",
    "MQQB-3.1.7.15-23",
    "MQQB-3.1.7.15-25",
    "MQQB-3.1.7.15-26",
    "MQQB-3.1.7.15-29",
    *ACK_ATTRIBUTE_DESCRIPTION_BY_RULE,
)
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_acknowledgment_has_no_attributes_of_its_message(peer, sut, judge, recoverable):
    """The peer sends one message that arrives and two messages that the SUT refuses. Each message requests
    acknowledgments and journaling, and has limited lifetimes. Its acknowledgment requests nothing, and has infinite
    lifetimes.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    answers = {"ResponseQueue": rf"TCP:{peer.address}\private$\mqc-answers"}
    user = answers | {"DM": recoverable, "TimeToBeReceived": 900, "JP": 1, "JN": 1}
    asks: dict[str, Any] = {"base": {"TimeToReachQueue": 800}, "body": LONG_BODY}
    every = {"PA": 1, "NA": 1, "PR": 1, "NR": 1}
    arrived = receiver.send_and_await_acks(receiver.build_message(user, properties=every | {"NR": 0}, **asks))
    refused = receiver.send_and_await_acks(
        receiver.build_message(user, queue="transactional", properties=every, **asks), 2
    )
    for (sent, ack), queue in ((arrived, "plain"), (refused, "transactional")):
        named_here = f"{sut.format_name(queue).removeprefix('DIRECT=')} (queue type {QueueType.DIRECT})".lower()
        for rule, field, expected, observed in (
            ("MQQB-3.1.7.15-17", "message that the acknowledgment names", acknowledgment(sent), ack),
            ("MQQB-3.1.7.15-18", "message that the acknowledgment names", acknowledgment(sent), ack),
            ("MQQB-3.1.7.15-20", "response queue", named_here, _describe_queue(ack, "Response")),
            ("MQQB-3.1.7.15-23", "response queue", named_here, _describe_queue(ack, "Response")),
            ("MQQB-3.1.7.15-25", "DM", recoverable, ack["UserHeader"].DM),
        ):
            judge(rule, expected=expected, observed=observed, case=field, evidence=[sent, ack])
    judge.conclude("MQQB-3.1.7.15-17", "MQQB-3.1.7.15-18", "MQQB-3.1.7.15-20", "MQQB-3.1.7.15-23", "MQQB-3.1.7.15-25")
    claims = {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "DE": 1, "SecurityID": peer.identifier.bytes_le}
    asks |= {"queue": "transactional", "properties": every, "security": claims}
    claimed = receiver.send_and_await_acks(receiver.build_message(user, **asks), 3)
    for (sent, ack), body in ((arrived, b""), (refused, LONG_BODY), (claimed, LONG_BODY)):
        judge_ack_attributes(judge, sent, ack)
        observed = bytes(ack["MessagePropertiesHeader"].MessageBody)
        judge(
            "MQQB-3.1.7.15-29",
            expected=body,
            observed=observed,
            case="body of the acknowledgment",
            evidence=[sent, ack],
        )


@covers("MQQB-3.1.7.15-21", "MQQB-3.1.7.15-22")
@needs("insecure_nacks")
@varied("queue journaling", "queue quota", "queue privacy")
def test_response_queue_of_message_to_missing_queue_is_that_queue(peer, sut, judge):
    """The peer sends messages to a public queue and to a private queue that the SUT does not have: each negative
    acknowledgment names its queue as response queue.
    """
    sut.enable_insecure_nacks()
    receiver = AcknowledgingReceiver(peer, sut)
    public = PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE)
    user = {"DQ": QueueType.PUBLIC, "QueueManagerAddress": sut.guid, "DestinationQueue": public}
    sent, ack = receiver.send_and_await_acks(receiver.build_message(user, destination=None, properties={"NA": 1}))
    expected = f"{PEER_PUBLIC_QUEUE} (queue type {QueueType.PUBLIC})"
    judge(
        "MQQB-3.1.7.15-22",
        expected=expected,
        observed=_describe_queue(ack, "Response"),
        case="response queue",
        evidence=[sent, ack],
    )
    private = peer.build_fields_for_private_destination(sut.guid, ADMIN_QUEUE_NUMBER)
    sent, ack = receiver.send_and_await_acks(receiver.build_message(private, destination=None, properties={"NA": 1}), 2)
    judge(
        "MQQB-3.1.7.15-21",
        expected=one_of(f"{ADMIN_QUEUE_NUMBER} (queue type 2)", f"{ADMIN_QUEUE_NUMBER} (queue type 6)"),
        observed=_describe_queue(ack, "Response"),
        case="response queue",
        evidence=[sent, ack],
    )


ACK_REQUEST_AND_CLASS_BY_WAY_OF_REMOVAL = {
    "received": ("PR", AckClass.RECEIVE),
    "purged": ("NR", AckClass.Q_PURGED),
    "deleted": ("NR", AckClass.Q_DELETED),
    "timeout": ("NR", AckClass.RECEIVE_TIMEOUT),
}
"""Ways in which a message leaves its queue, each with the bit that requests an acknowledgment and the class of the
acknowledgment.
"""
RULE_BY_WAY_OF_REMOVAL = {
    "received": "MQQB-3.1.7.2.1-D01",
    "deleted": "MQQB-3.1.7.2.1-D02",
    "purged": "MQQB-3.1.7.2.1-D03",
    "timeout": "MQQB-3.1.7.2.1-D04",
}
"""The rule about the class for each way in which a message leaves its queue."""
NEEDED_FACILITY_BY_WAY_OF_REMOVAL = {
    "received": "receive",
    "purged": "receive",
    "deleted": "queue_control",
    "timeout": "queues",
}
RULES_OF_REMOVAL_EVENTS = {
    "deleted": ["MQDMPR-3.1.7.1.4-05"],
    "purged": ["MQDMPR-3.1.7.1.7-07"],
    "timeout": ["MQDMPR-3.1.7.2.7-12"],
}
"""The rules about the events that remove every message of a queue."""
RULE_OF_ACK_DELIVERY_BY_MESSAGE_DELIVERY = {
    "express": "MQQB-3.1.7.2.1-02",
    "recoverable": "MQQB-3.1.7.2.1-01",
    "transactional": "MQQB-3.1.7.2.1-01",
}


@covers(
    "MQQB-3.1.7.2-01",
    "MQQB-3.1.7.2.1-03",
    "MQQB-3.1.7.15-07",
    "MQQB-3.1.7.15-16",
    "MQQB-3.1.7.15-19",
    "MQQB-3.1.7.15-23",
    "MQQB-3.1.7.15-24",
    "MQQB-3.1.7.15-26",
    "MQQB-3.1.7.15-28",
    *ACK_ATTRIBUTE_DESCRIPTION_BY_RULE,
)
@needs("queues", "receive")
@pytest.mark.parametrize(
    "delivery",
    [
        pytest.param(name, marks=covers(rule), id=name)
        for name, rule in RULE_OF_ACK_DELIVERY_BY_MESSAGE_DELIVERY.items()
    ],
)
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(
            end,
            marks=[covers(rule, *RULES_OF_REMOVAL_EVENTS.get(end, ())), needs(NEEDED_FACILITY_BY_WAY_OF_REMOVAL[end])],
            id=end,
        )
        for end, rule in RULE_BY_WAY_OF_REMOVAL.items()
    ],
)
def test_message_that_leaves_its_queue_is_acknowledged_only_when_requested(peer, sut, judge, end, delivery):
    """The peer sends messages that request no acknowledgment, a different acknowledgment, or the matching
    acknowledgment. These messages are received, purged or deleted, or expire. The SUT acknowledges only a message with
    the matching request; the acknowledgment has the values that follow from the message.
    """
    bit, expected = ACK_REQUEST_AND_CLASS_BY_WAY_OF_REMOVAL[end]
    recoverable = int(delivery != "express")
    other = {"PR": "NR", "NR": "PR"}[bit]
    transactional = delivery == "transactional"
    queue = sut.new_queue("left", transactional=transactional)
    receiver = AcknowledgingReceiver(peer, sut)
    destination = rf"TCP:{sut.address}\{queue}"
    life_s = MESSAGE_LIFETIME_S if end == "timeout" else INFINITE_LIFETIME_S
    answers = {"ResponseQueue": rf"TCP:{peer.address}\private$\mqc-answers"}
    user = receiver.add_admin_queue_fields(answers | {"DM": recoverable, "TimeToBeReceived": life_s, "JP": 1, "JN": 1})
    make = receiver.sequence.message if transactional else peer.message
    sent = [
        receiver.send_packet(
            make(
                user | ({"MessageID": LARGE_MESSAGE_ID + peer.next_message_id()} if at == 2 else {}),
                destination=destination,
                properties=wanted,
                body=LONG_BODY,
                label=f"end {at}",
            )
        )
        for at, wanted in enumerate(
            {**bits, "CorrelationID": SAMPLE_CORRELATION_ID} for bits in ({}, {other: 1}, {bit: 1}, {bit: 1, other: 1})
        )
    ]
    if not peer.await_label("end 3", queue):
        raise ConformanceFailure("the messages are not in the queue")
    _remove_messages_from_queue(receiver, sut, end, queue)
    came = receiver.await_acks(2)
    evidence = [*sent, *came]
    judge("MQQB-3.1.7.2-01", expected=acknowledged(sent[2], sent[3]), observed=came, evidence=evidence)
    judge(
        "MQQB-3.1.7.2.1-03",
        "MQQB-3.1.7.15-07",
        RULE_BY_WAY_OF_REMOVAL[end],
        *RULES_OF_REMOVAL_EVENTS.get(end, ()),
        expected=acknowledgments_of_classes(expected, expected),
        observed=came,
        case="classes of the acknowledgments",
        evidence=evidence,
    )
    if not came:
        raise ConformanceFailure("no acknowledgment arrived in the administration queue")
    ack = came[0]
    judge_ack_attributes(judge, sent[2], ack)
    judge("MQQB-3.1.7.15-16", expected=acknowledgment(sent[2]), observed=ack, evidence=evidence)
    judge(
        RULE_OF_ACK_DELIVERY_BY_MESSAGE_DELIVERY[delivery],
        "MQQB-3.1.7.15-24",
        expected=recoverable,
        observed=ack["UserHeader"].DM,
        case="DM of the acknowledgment",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.15-19",
        "MQQB-3.1.7.15-23",
        expected=f"{destination} (queue type {QueueType.DIRECT})".lower(),
        observed=_describe_queue(ack, "Response"),
        case="response queue",
        evidence=evidence,
    )
    body = bytes(ack["MessagePropertiesHeader"].MessageBody)
    judge(
        "MQQB-3.1.7.15-28",
        expected=b"" if end == "received" else LONG_BODY,
        observed=body,
        case="body of the acknowledgment",
        evidence=evidence,
    )


def _remove_messages_from_queue(receiver: AcknowledgingReceiver, sut, end: str, queue: str) -> None:
    """Remove every message from the queue in the given way."""
    if end == "received":
        for _ in sut.labels(queue):
            sut.control.call("receive", queue=queue, timeout_ms=0)
    elif end == "purged":
        sut.control.call("purge", queue=queue)
    elif end == "deleted":
        sut.delete_queue(queue)
    else:
        receiver.peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)


@covers("MQQB-3.1.7.15-14")
@needs("private_names")
@pytest.mark.parametrize("asked", ["PA", "NA"], ids=["arrived", "refused"])
def test_acknowledgment_goes_to_computer_of_administration_queue(peer, sut, judge, asked):
    """The peer forwards a message with AQ 6 from a third queue manager; the message arrives, or the SUT refuses it. The
    SUT addresses the acknowledgment to the computer in the name of the administration queue, not to the source.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    admin = PrivateQueueFormatName(SourceQueueManager=peer.identifier, PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    user = {"AQ": 6, "AdminQueue": admin, "SourceQueueManager": OTHER_GUID, "RC": 1}
    queue = "plain" if asked == "PA" else "transactional"
    sent = receiver.send_packet(peer.message(user, queue=queue, properties={asked: 1}))
    came = receiver.await_acks(1)
    judge(
        "MQQB-3.1.7.15-14",
        expected=[f"{ADMIN_QUEUE_NUMBER} (queue type {QueueType.QUEUE_ON_DESTINATION})".lower()],
        observed=[_describe_queue(ack, "Destination") for ack in came],
        case="destinations of the acknowledgments",
        evidence=[sent, *came],
    )
