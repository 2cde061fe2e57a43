"""MS-MQQB 2.2.5 FinalAck Packet: the classes that name the reason of a refusal or removal."""

from __future__ import annotations

from typing import Any

from harness.expectations import of_class, one_of
from harness.run.marks import covers, malforms, needs, varied
from harness.sut.provisioning import ALICE, BOB, MALLORY
from harness.wire import ProviderInfo
from harness.wire.protection import AES_256, SIG20
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.ordering import Receiver, read_ack_place
from suites.mqqb.steps.secured import CLEAR_BODY, SYMMETRIC_KEYS, Secured, encrypt_message, sign_message

UNKNOWN_PROVIDER = bytes(ProviderInfo(ProviderType=1, ProviderName="Contoso Cryptographic Provider"))
CLASS_OF_EACH_REASON = {
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
@covers(*CLASS_OF_EACH_REASON)
def test_final_ack_of_a_refused_secured_message_names_the_reason(peer, sut, judge):
    """The SUT refuses four messages: the first is from a user without access, the second has a bad key, the third names
    an unknown provider, and the fourth has the signature of a different user. The FinalAck of each message has the
    class for this reason. A SUT may accept an unknown provider (erratum E84).
    """
    secured = Secured(peer, sut)

    def build_secured_message(user=ALICE, **security):
        return secured.message(user, queue="transactional", body=CLEAR_BODY, security=security)

    packets = {
        "MQQB-2.2.5-15": build_secured_message(MALLORY),
        "MQQB-2.2.5-16": encrypt_message(
            sut, build_secured_message(), 5, AES_256, SYMMETRIC_KEYS[256], blob=b"\7" * 268
        ),
        "MQQB-2.2.5-17": sign_message(build_secured_message(DE=0, ProviderInfo=UNKNOWN_PROVIDER)),
        "MQQB-2.2.5-18": sign_message(build_secured_message(), SIG20, BOB.key),
    }
    for rule, disposition in secured.dispositions(packets, "transactional").items():
        judge(
            rule,
            expected=CLASS_OF_EACH_REASON[rule],
            observed=disposition.final,
            case="class of the FinalAck",
            evidence=disposition.frames,
        )


@needs("queues")
@covers("MQQB-2.2.5-19")
@varied("time to be received", "time to reach queue")
def test_message_beyond_the_quota_causes_final_ack(peer, sut, judge):
    """The peer sends two messages of 1,400 bytes to a queue with a quota of 2 KB: the SUT refuses one message, and its
    FinalAck has the class NACK_Q_EXCEED_QUOTA.
    """
    small = sut.new_queue("small", transactional=True, quota_kb=2)
    receiver = Receiver(peer, sut)
    to_small: dict[str, Any] = {"destination": rf"TCP:{sut.address}\{small}", "body": bytes(1_400)}
    sent = [receiver.send(**to_small), receiver.send(**to_small)]
    frame = receiver.poll_acknowledgment(final=True)
    judge(
        "MQQB-2.2.5-19",
        expected=of_class(AckClass.Q_EXCEED_QUOTA),
        observed=frame,
        case="class of the FinalAck",
        evidence=[*sent, frame],
    )


@covers("MQQB-2.2.5-22")
@varied("response queue", "application tag")
def test_message_that_expires_in_its_queue_causes_final_ack(peer, sut, judge):
    """The peer sends a message with JN and a message with JP; TimeToBeReceived of both messages is 1 s, and expires in
    the queue: the SUT sends FinalAcks of class NACK_RECEIVE_TIMEOUT.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send({flag: 1, "TimeToBeReceived": SHORT_LIFETIME_S}) for flag in ("JN", "JP")]
    receiver.await_last_acknowledgment(len(sent))
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    receiver.await_acknowledgment(final=True)
    receiver.poll_acknowledgment(final=True)
    finals = {read_ack_place(frame).TxSequenceNumber: frame for frame in receiver.acknowledgments(final=True)}
    for number, flag in enumerate(("JN", "JP"), 1):
        judge(
            "MQQB-2.2.5-22",
            expected=of_class(AckClass.RECEIVE_TIMEOUT),
            observed=finals.get(number),
            case=f"class of the FinalAck of the message with {flag}",
            evidence=[*sent, *finals.values()],
        )
