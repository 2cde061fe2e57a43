"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: the SUT acknowledges several messages that differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, facts
from harness.run.marks import covers, malforms, needs
from harness.sut.provisioning import ALICE
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId, PublicQueueFormatName
from harness.wire.protection import RC4
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    ADMINISTRATION_QUEUE_NAME,
    AckClass,
    AcknowledgingReceiver,
    QueueType,
    get_correlation_id,
    get_message_class,
    identifier,
)
from suites.mqqb.steps.secured import (
    SENDER_TYPE_OF_SENDER_WITH_SID,
    SHA512,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
)

LARGE_BODY = b"a large body " * 2_500
SECOND_ADMINISTRATION_QUEUE = "mqc-other-acks"
UNKNOWN_PUBLIC_QUEUE_GUID = UUID("4d7c1f0a-5b1e-4c55-9d57-0d1f6e2b9a01")
"""A public queue that does not exist, so no acknowledgment can be sent to it."""
ADMIN_QUEUE_NUMBER = 0x5A0B_0C05
"""A number that uses all bytes of PrivateQueueIdentifier."""
ENHANCED_PRIVACY_LEVEL = 3
DELIVERY_MODE_BY_DELIVERY = {"express": 0, "recoverable": 1, "transactional": 1}
ARRIVAL_ACK_CLASS, NOT_TRANSACTIONAL_MESSAGE_CLASS, NOT_TRANSACTIONAL_QUEUE_CLASS = (
    AckClass.REACH_QUEUE,
    AckClass.NOT_TRANSACTIONAL_MSG,
    AckClass.NOT_TRANSACTIONAL_Q,
)
MESSAGES_WITH_EXPECTED_ACK_CLASSES = (
    ("express", "plain", ADMINISTRATION_QUEUE_NAME, b"first", ARRIVAL_ACK_CLASS),
    ("recoverable", "transactional", ADMINISTRATION_QUEUE_NAME, b"second", NOT_TRANSACTIONAL_MESSAGE_CLASS),
    ("recoverable", "plain", None, b"third", ARRIVAL_ACK_CLASS),
    ("express", "transactional", SECOND_ADMINISTRATION_QUEUE, LARGE_BODY, NOT_TRANSACTIONAL_MESSAGE_CLASS),
    ("transactional", "plain", ADMINISTRATION_QUEUE_NAME, b"fifth", NOT_TRANSACTIONAL_QUEUE_CLASS),
    ("recoverable", "plain", SECOND_ADMINISTRATION_QUEUE, b"sixth", ARRIVAL_ACK_CLASS),
    ("express", "transactional", ADMINISTRATION_QUEUE_NAME, b"seventh", NOT_TRANSACTIONAL_MESSAGE_CLASS),
    ("transactional", "transactional", ADMINISTRATION_QUEUE_NAME, b"eighth", ARRIVAL_ACK_CLASS),
    ("transactional", "plain", SECOND_ADMINISTRATION_QUEUE, LARGE_BODY[::-1], NOT_TRANSACTIONAL_QUEUE_CLASS),
)
"""Delivery, queue, administration queue (None: an unknown public queue), body, and class of the acknowledgment."""


def _describe_queue_of_direct_name(queue: Any) -> str:
    value = getattr(queue, "DirectFormatName", "no direct format name")
    text = value.decode("utf-16-le") if isinstance(value, bytes) else str(value)
    return text.rstrip("\0").lower()


def _get_values_of_acknowledgment(ack: Frame) -> dict[str, Any]:
    user, properties = ack["UserHeader"], ack["MessagePropertiesHeader"]
    return {
        "class": get_message_class(ack),
        "destination": _describe_queue_of_direct_name(user.DestinationQueue),
        "response queue": _describe_queue_of_direct_name(getattr(user, "ResponseQueue", None)),
        "DM": int(user.DM),
        "body": bytes(properties.MessageBody or b""),
    }


def judge_ack_values(judge, rules: Mapping[str, tuple[str, ...]], expected: dict[str, dict], came: list[Frame]) -> None:
    """Judge each value of the acknowledgments that name a known message; ``expected``: the values by identifier."""
    known = {
        get_correlation_id(ack): _get_values_of_acknowledgment(ack)
        for ack in came
        if get_correlation_id(ack) in expected
    }
    numbers = {name: number for number, name in enumerate(expected, 1)}
    for field, of_field in rules.items():
        if not known:
            judge.mark_not_exercised(*of_field, reason="no acknowledgment identifies a message of the check")
            continue
        judge(
            *of_field,
            expected={f"message {numbers[name]}": expected[name][field] for name in expected if name in known},
            observed={f"message {numbers[name]}": known[name][field] for name in expected if name in known},
            case=f"{field} of the acknowledgments",
            evidence=came,
        )


@covers(
    "MQQB-3.1.7.15-06",
    "MQQB-3.1.7.15-07",
    "MQQB-3.1.7.15-08",
    "MQQB-3.1.7.15-10",
    "MQQB-3.1.7.15-15",
    "MQQB-3.1.7.15-17",
    "MQQB-3.1.7.15-18",
    "MQQB-3.1.7.15-20",
    "MQQB-3.1.7.15-23",
    "MQQB-3.1.7.15-25",
    "MQQB-3.1.7.15-29",
    "MQQB-3.1.7.15-30",
    "MQQB-3.1.7.15-34",
)
def test_each_acknowledgment_of_several_has_values_of_its_own_message(peer, sut, judge):
    """The peer sends nine messages that differ in delivery, destination, administration queue and body. The SUT accepts
    or refuses them, and cannot open the administration queue of one message: it acknowledges the eight other messages,
    and each acknowledgment has the values of its own message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sequences = {"plain": receiver.sequence, "transactional": Sequence(peer, 2)}
    sent, wanted = [], {}
    for number, (delivery, queue, admin, body, of_class) in enumerate(MESSAGES_WITH_EXPECTED_ACK_CLASSES):
        answers = rf"TCP:{peer.address}\private$\mqc-answers-{number}"
        where = rf"TCP:{peer.address}\private$\{admin}"
        unknown = {
            "AQ": QueueType.PUBLIC,
            "AdminQueue": PublicQueueFormatName(PublicQueueIdentifier=UNKNOWN_PUBLIC_QUEUE_GUID),
        }
        user = {"DM": DELIVERY_MODE_BY_DELIVERY[delivery], "ResponseQueue": answers} | (
            {"AdminQueue": where} if admin else unknown
        )
        make = sequences[queue].message if delivery == "transactional" else peer.message
        frame = receiver.send_packet(make(user, queue=queue, properties={"PA": 1, "NA": 1}, body=body))
        if admin:
            sent.append(frame)
            wanted[identifier(frame)] = {
                "class": of_class,
                "destination": where.lower(),
                "response queue": sut.format_name(queue).removeprefix("DIRECT=").lower(),
                "DM": DELIVERY_MODE_BY_DELIVERY[delivery],
                "body": b"" if of_class == ARRIVAL_ACK_CLASS else body,
            }
    came = receiver.await_acks(len(sent))
    judge(
        "MQQB-3.1.7.15-06",
        "MQQB-3.1.7.15-08",
        "MQQB-3.1.7.15-17",
        "MQQB-3.1.7.15-18",
        "MQQB-3.1.7.15-30",
        "MQQB-3.1.7.15-34",
        expected=acknowledged(*sent),
        observed=came,
        evidence=[*sent, *came],
    )
    rules = {
        "class": ("MQQB-3.1.7.15-07",),
        "destination": ("MQQB-3.1.7.15-10", "MQQB-3.1.7.15-15"),
        "response queue": ("MQQB-3.1.7.15-20", "MQQB-3.1.7.15-23"),
        "DM": ("MQQB-3.1.7.15-25",),
        "body": ("MQQB-3.1.7.15-29",),
    }
    judge_ack_values(judge, rules, wanted, came)


@covers(
    "MQQB-3.1.7.15-06",
    "MQQB-3.1.7.15-07",
    "MQQB-3.1.7.15-09",
    "MQQB-3.1.7.15-16",
    "MQQB-3.1.7.15-19",
    "MQQB-3.1.7.15-24",
    "MQQB-3.1.7.15-28",
    "MQQB-3.1.7.15-34",
)
@needs("receive", "queue_control")
def test_each_acknowledgment_of_several_removals_has_values_of_its_own_message(peer, sut, judge):
    """Six messages that differ in delivery, administration queue and body are in two queues of the SUT. An application
    receives one message from each queue, purges one queue and deletes the other queue. The SUT acknowledges the removal
    of each message, and each acknowledgment has the values of its own message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queues = [sut.new_queue("removals"), sut.new_queue("other-removals")]
    nack_classes = dict(zip(queues, (AckClass.Q_PURGED, AckClass.Q_DELETED), strict=True))
    sent, wanted = [], {}
    for number in range(6):
        queue, admin = queues[number % 2], (ADMINISTRATION_QUEUE_NAME, SECOND_ADMINISTRATION_QUEUE)[number // 2 % 2]
        body = LARGE_BODY if number == 2 else b"body %d" % number
        of_class = AckClass.RECEIVE if number < 2 else nack_classes[queue]
        destination = rf"TCP:{sut.address}\{queue}"
        where = rf"TCP:{peer.address}\private$\{admin}"
        recoverable = int(number in (1, 2, 5))
        user = {"DM": recoverable, "AdminQueue": where}
        frame = receiver.send_packet(
            peer.message(
                user, destination=destination, properties={"PR": 1, "NR": 1}, body=body, label=f"to be removed {number}"
            )
        )
        sent.append(frame)
        wanted[identifier(frame)] = {
            "class": of_class,
            "destination": where.lower(),
            "response queue": destination.lower(),
            "DM": recoverable,
            "body": b"" if of_class == AckClass.RECEIVE else body,
        }
    if not all(peer.await_label(f"to be removed {number}", queues[number % 2]) for number in (4, 5)):
        raise ConformanceFailure("the messages are not in their queues")
    for queue in queues:
        sut.control.call("receive", queue=queue, timeout_ms=0)
    sut.control.call("purge", queue=queues[0])
    sut.delete_queue(queues[1])
    came = receiver.await_acks(len(sent))
    judge(
        "MQQB-3.1.7.15-06",
        "MQQB-3.1.7.15-16",
        "MQQB-3.1.7.15-34",
        expected=acknowledged(*sent),
        observed=came,
        evidence=[*sent, *came],
    )
    rules = {
        "class": ("MQQB-3.1.7.15-07",),
        "destination": ("MQQB-3.1.7.15-09",),
        "response queue": ("MQQB-3.1.7.15-19",),
        "DM": ("MQQB-3.1.7.15-24",),
        "body": ("MQQB-3.1.7.15-28",),
    }
    judge_ack_values(judge, rules, wanted, came)


@covers("MQQB-3.1.7.15-11", "MQQB-3.1.7.15-13", "MQQB-3.1.7.15-14", "MQQB-3.1.7.15-15", "MQQB-3.1.7.15-30")
@needs("private_names", "public_names")
def test_refusal_is_acknowledged_to_each_type_of_administration_queue(peer, sut, judge):
    """The SUT refuses a message with an administration queue of each type (AQ 2, 6, 5, 7): it sends the negative
    acknowledgment of each message to that queue.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    private = {"AQ": 2, "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)}
    named = PrivateQueueFormatName(SourceQueueManager=peer.identifier, PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
    public = {"AQ": 5, "AdminQueue": PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE)}
    for count, (rule, user) in enumerate(
        (
            ("MQQB-3.1.7.15-11", private),
            ("MQQB-3.1.7.15-14", {"AQ": 6, "AdminQueue": named}),
            ("MQQB-3.1.7.15-13", public),
            ("MQQB-3.1.7.15-15", receiver.add_admin_queue_fields()),
        ),
    ):
        before = len(receiver.list_admin_acks())
        sent = receiver.send_packet(peer.message(user, queue="transactional", properties={"NA": 1}))
        came = receiver.await_acks(before + 1)[before:]
        expected, case = acknowledged(sent), f"message {count + 1}"
        judge(rule, "MQQB-3.1.7.15-30", expected=expected, observed=came, evidence=[sent, *came], case=case)
        if rule in ("MQQB-3.1.7.15-11", "MQQB-3.1.7.15-14"):
            numbers = [getattr(ack["UserHeader"].DestinationQueue, "PrivateQueueIdentifier", None) for ack in came]
            case = "number of the administration queue"
            judge(rule, expected=[ADMIN_QUEUE_NUMBER], observed=numbers, evidence=[sent, *came], case=case)


@covers("MQQB-3.1.7.15-D06")
@needs("security", "private_names")
@pytest.mark.parametrize("name", ["direct", "private"])
def test_acknowledgment_of_encrypted_message_is_not_encrypted(peer, sut, judge, name):
    """The peer sends an encrypted message that has a direct or private name of the peer as administration queue. The
    SUT, which knows the keys of the peer, does not encrypt the acknowledgment.
    """
    secured = SecuredMessageSender(peer, sut)
    queue = {"AQ": 2, "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)}
    message = secured.message(header=queue if name == "private" else {}, body=b"a secret")
    packet = encrypt_message(sut, message, ENHANCED_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[128])
    found = secured.send_and_read_dispositions({"": packet})[""]
    if len(found.frames) < 2:
        raise ConformanceFailure("the SUT did not acknowledge the encrypted message")
    ack = found.frames[1]
    security = ack["SecurityHeader"].EB if ack["UserHeader"].SH else 0
    judge(
        "MQQB-3.1.7.15-D06",
        expected=facts(EB=0, PrivacyLevel=0),
        observed={"EB": security, "PrivacyLevel": ack["MessagePropertiesHeader"].PrivacyLevel},
        evidence=found.frames,
    )


@covers("MQQB-3.1.7.15-05")
@malforms("MQQB-2.4.2-01", "MQQB-2.4.2-D01")
@needs("configure", "security")
def test_refusal_of_bad_signature_or_key_is_not_acknowledged_unless_configured(peer, sut, judge):
    """SendInsecureNacks is FALSE. The peer sends messages with a wrong signature and messages with an unusable
    symmetric key, and then a nontransactional message to a transactional queue. The SUT acknowledges only the refusal
    of the last message.
    """
    sut.configure(send_insecure_nacks=False)
    receiver = AcknowledgingReceiver(peer, sut)
    claims = {
        "ST": SENDER_TYPE_OF_SENDER_WITH_SID,
        "DE": 1,
        "SecurityID": ALICE.security_id,
        "SenderCert": ALICE.certificate,
    }
    signed = claims | {"Signature": bytes(256)}
    encrypted = claims | {"EB": 1, "EncryptionKey": bytes(140)}
    sent = [
        receiver.send_packet(receiver.build_message({"DM": one}, properties={"NA": 1} | properties, security=security))
        for one in (0, 1)
        for properties, security in (
            ({"HashAlgorithm": SHA512}, signed),
            ({"PrivacyLevel": ENHANCED_PRIVACY_LEVEL, "EncryptionAlgorithm": RC4}, encrypted),
        )
    ]
    last = receiver.send_packet(receiver.build_message(queue="transactional", properties={"NA": 1}))
    came = receiver.await_acks(1)
    judge("MQQB-3.1.7.15-05", expected=acknowledged(last), observed=came, evidence=[*sent, last, *came])
