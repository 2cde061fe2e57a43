"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: HashAlgorithm of signed messages."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

HASH_ALGORITHMS = {"md2": 0x8001, "md4": 0x8002, "md5": 0x8003, "sha1": 0x8004, "sha256": 0x800C, "sha512": 0x800E}
"""For each name of a hash algorithm, the value of HashAlgorithm."""


PROPERTIES_BY_SIGNED_MESSAGE_KIND = {
    "transactional message": {"authentication_level": "sig20", "delivery": "transactional"},
    "MSMQ 3.0 signature": {"authentication_level": "sig30"},
    "MSMQ 1.0 signature": {"authentication_level": "sig10"},
}
"""Properties of further messages whose application requests no hash algorithm."""


def _judge_default_hash_of_signed_messages(judge, outgoing):
    """Let the SUT send further signed messages without a requested hash algorithm, and judge their HashAlgorithm."""
    for name, properties in PROPERTIES_BY_SIGNED_MESSAGE_KIND.items():
        try:
            frame = outgoing.send(body="signed", sender="alice", **properties)
        except ControlRefused:
            continue
        expected = fields({"MessagePropertiesHeader.HashAlgorithm": HASH_ALGORITHMS["sha512"]})
        judge("MQMQ-2.2.19.3-23", expected=expected, observed=Layout(frame), case=name, evidence=frame)


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.19.3-23")
def test_hash_algorithm_of_encrypted_message_is_sha_512(peer, sut, judge):
    """The SUT signs and encrypts a message whose application requests no hash algorithm: HashAlgorithm is that of
    SHA-512.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    frame = outgoing.send(body="signed", sender="alice", authentication_level="sig20", privacy_level="enhanced")
    outgoing.end()
    expected = fields({"MessagePropertiesHeader.HashAlgorithm": HASH_ALGORITHMS["sha512"]})
    judge("MQMQ-2.2.19.3-23", expected=expected, observed=Layout(frame), evidence=frame)


@needs("security", "send")
@covers("MQMQ-2.2.19.3-D02", "MQDMPR-3.1.7.1.32-D13", "MQMQ-2.2.19.3-23")
def test_hash_algorithm_has_specified_number(peer, sut, judge):
    """The SUT sends express and transactional messages signed with each hash algorithm: HashAlgorithm is the number
    that the document specifies for that algorithm. Algorithms that the SUT refuses are not judged.
    """
    outgoing = MessagesSentBySut(peer, sut)
    field, signed = "MessagePropertiesHeader.HashAlgorithm", {"sender": "alice", "authentication_level": "sig20"}
    default = outgoing.send(body="signed", **signed)
    expected = fields({field: HASH_ALGORITHMS["sha512"]})
    judge("MQMQ-2.2.19.3-23", expected=expected, observed=Layout(default), evidence=default)
    _judge_default_hash_of_signed_messages(judge, outgoing)
    sent = False
    cases = [(name, "express") for name in HASH_ALGORITHMS] + [("sha256", "transactional"), ("sha512", "transactional")]
    for name, delivery in cases:
        number = HASH_ALGORITHMS[name]
        try:
            frame = outgoing.send(body="signed", **signed, hash_algorithm=name, delivery=delivery)
        except ControlRefused:
            continue
        sent = True
        judge(
            "MQMQ-2.2.19.3-D02",
            "MQDMPR-3.1.7.1.32-D13",
            expected=fields({field: number}),
            observed=Layout(frame),
            evidence=frame,
        )
    outgoing.end()
    if not sent:
        raise ConformanceFailure("the SUT refuses to sign a message with any of the specified hash algorithms")
