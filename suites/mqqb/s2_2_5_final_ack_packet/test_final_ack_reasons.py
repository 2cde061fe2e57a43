"""MS-MQQB 2.2.5 FinalAck Packet: the classes that name the reason for a refusal or removal."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import acknowledgment_of_class, one_of
from harness.run.marks import covers, malforms, needs, varied
from harness.sut.provisioning import ALICE, BOB, MALLORY
from harness.sut.shown import lookup_id
from harness.wire import ProviderInfo
from harness.wire.protection import AES_256, SIG10, SIG20, SIG30
from suites.mqqb.s2_2_5_final_ack_packet.test_final_ack_packet import judge_source_guid_and_message_id_in_final_ack
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    flip_signature_bit,
    sign_message,
)

UNKNOWN_PROVIDER_INFO = bytes(ProviderInfo(ProviderType=1, ProviderName="Contoso Cryptographic Provider"))
FINAL_ACK_CLASS_BY_RULE = {
    "MQQB-2.2.5-15": "NACK_ACCESS_DENIED",
    "MQQB-2.2.5-16": "NACK_BAD_ENCRYPTION",
    "MQQB-2.2.5-17": one_of("NACK_UNSUPPORTED_CRYPTO_PROVIDER", "no FinalAck"),
    "MQQB-2.2.5-18": "NACK_BAD_SIGNATURE",
}
"""The class that gives the reason of each refusal, by rule.

A SUT that verifies a signature of an unknown provider like any other signature accepts the message (E84).
"""
SHORT_LIFETIME_S = 1


@malforms("MQQB-2.4.2-01", "MQQB-2.4.2-D01")
@needs("security", "receive")
@covers(*FINAL_ACK_CLASS_BY_RULE, "MQQB-3.1.7.17-04")
def test_final_ack_of_a_refused_secured_message_names_the_reason(peer, sut, judge):
    """The SUT refuses nine messages. One comes from a user without access, two have the same bad key, one names an
    unknown provider, and five have an invalid signature. Of these five, three have a different user's signature of
    some kind, one has an altered signature, and one is encrypted and has a different user's signature. The FinalAck of
    each message has the class for this reason. A SUT may accept an unknown provider (erratum E84).
    """
    secured = SecuredMessageSender(peer, sut)

    def build_secured_message(user=ALICE, *, several=False, **security):
        return secured.message(user, queue="transactional", body=CLEAR_BODY, security=security, several=several)

    def encrypt_for_sut(packet, **changes):
        return encrypt_message(sut, packet, 5, AES_256, SYMMETRIC_KEYS[256], **changes)

    cases = {
        "message of a user without access": ("MQQB-2.2.5-15", build_secured_message(MALLORY)),
        "message with a bad key": ("MQQB-2.2.5-16", encrypt_for_sut(build_secured_message(), blob=b"\7" * 268)),
        "second message with the same bad key": (
            "MQQB-2.2.5-16",
            encrypt_for_sut(build_secured_message(), blob=b"\7" * 268),
        ),
        "message that names an unknown provider": (
            "MQQB-2.2.5-17",
            sign_message(build_secured_message(DE=0, ProviderInfo=UNKNOWN_PROVIDER_INFO)),
        ),
        "message with an invalid MSMQ 1.0 signature": (
            "MQQB-2.2.5-18",
            sign_message(build_secured_message(), SIG10, BOB.key),
        ),
        "message with an invalid MSMQ 2.0 signature": (
            "MQQB-2.2.5-18",
            sign_message(build_secured_message(), SIG20, BOB.key),
        ),
        "message with an invalid MSMQ 3.0 signature": (
            "MQQB-2.2.5-18",
            sign_message(build_secured_message(several=True), SIG30, BOB.key),
        ),
        "message with a changed signature": (
            "MQQB-2.2.5-18",
            flip_signature_bit(sign_message(build_secured_message())),
        ),
        "encrypted message with an invalid signature": (
            "MQQB-2.2.5-18",
            encrypt_for_sut(sign_message(build_secured_message(), SIG20, BOB.key)),
        ),
    }
    found = secured.send_and_read_dispositions({case: packet for case, (_, packet) in cases.items()}, "transactional")
    for case, (rule, _) in cases.items():
        certain = [] if rule == "MQQB-2.2.5-17" else ["MQQB-3.1.7.17-04"]
        judge(
            rule,
            *certain,
            expected=FINAL_ACK_CLASS_BY_RULE[rule],
            observed=found[case].final,
            case=f"class of the FinalAck of the {case}",
            evidence=found[case].frames,
        )


@needs("queues")
@covers("MQQB-2.2.5-19", "MQQB-3.1.7.17-04")
@varied("time to be received", "time to reach queue")
def test_message_beyond_the_quota_causes_final_ack(peer, sut, judge):
    """The peer sends two messages of 1,400 bytes to a queue with a quota of 2 KB. The SUT refuses one message, and its
    FinalAck has the class NACK_Q_EXCEED_QUOTA.
    """
    small = sut.new_queue("small", transactional=True, quota_kb=2)
    receiver = Receiver(peer, sut)
    to_small: dict[str, Any] = {"destination": rf"TCP:{sut.address}\{small}", "body": bytes(1_400)}
    sent = [receiver.send(**to_small), receiver.send(**to_small)]
    frame = receiver.poll_acknowledgment(final=True)
    judge(
        "MQQB-2.2.5-19",
        "MQQB-3.1.7.17-04",
        expected=acknowledgment_of_class(AckClass.Q_EXCEED_QUOTA),
        observed=frame,
        case="class of the FinalAck",
        evidence=[*sent, frame],
    )


@covers("MQQB-2.2.5-22", "MQQB-2.2.5-24")
@varied("response queue", "application tag")
def test_message_that_expires_in_its_queue_causes_final_ack(peer, sut, judge):
    """The peer sends a message with JN and one with JP. TimeToBeReceived of both is 1 s, and expires while they are in
    the queue. The SUT sends FinalAcks of class NACK_RECEIVE_TIMEOUT, whose bodies contain the identifiers of the
    messages.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send({flag: 1, "TimeToBeReceived": SHORT_LIFETIME_S}) for flag in ("JN", "JP")]
    receiver.await_last_acknowledgment(len(sent))
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    receiver.await_acknowledgment(final=True)
    receiver.poll_acknowledgment(final=True)
    finals = {
        read_acknowledged_sequence_position(frame).TxSequenceNumber: frame
        for frame in receiver.list_acknowledgments(final=True)
    }
    for number, flag in enumerate(("JN", "JP"), 1):
        judge(
            "MQQB-2.2.5-22",
            expected=acknowledgment_of_class(AckClass.RECEIVE_TIMEOUT),
            observed=finals.get(number),
            case=f"class of the FinalAck of the message with {flag}",
            evidence=[*sent, *finals.values()],
        )
        if number in finals:
            judge_source_guid_and_message_id_in_final_ack(peer, judge, sent[number - 1], finals[number])


@needs("receive", "queue_control", "subqueues")
@covers("MQQB-2.2.5-20")
def test_message_in_subqueue_of_a_deleted_queue_causes_final_ack(peer, sut, judge):
    """An application moves one of two transactional messages with JN and JP to a subqueue, and deletes the queue. A
    FinalAck of either message has the class NACK_Q_DELETED. The documents do not require a FinalAck of the message in
    the subqueue.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send({"JN": 1, "JP": 1}), receiver.send({"JN": 1, "JP": 1})]
    receiver.await_last_acknowledgment(len(sent))
    peer.eventually(lambda: len(sut.messages("transactional")) == len(sent))
    queue, messages = sut.queue("transactional"), sut.messages("transactional")
    if len(messages) != len(sent):
        raise ConformanceFailure(f"the SUT put {len(messages)} of {len(sent)} messages into the queue")
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    sut.control.call("move", queue=queue, lookup_id=lookup_id(messages[1]), to=subqueue)
    sut.delete_queue(queue)
    while receiver.poll_acknowledgment(final=True) is not None:
        pass
    finals = {
        read_acknowledged_sequence_position(frame).TxSequenceNumber: frame
        for frame in receiver.list_acknowledgments(final=True)
    }
    places = {1: "queue", 2: "subqueue"} if 2 in finals else {1: "queue"}
    for number, place in places.items():
        judge(
            "MQQB-2.2.5-20",
            expected=acknowledgment_of_class(AckClass.Q_DELETED),
            observed=finals.get(number),
            case=f"class of the FinalAck of the message in the {place}",
            evidence=[*sent, *finals.values()],
        )
