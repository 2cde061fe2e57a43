"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: HashAlgorithm of messages that are signed and encrypted."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from suites.mqmq.s2_2_19_3_message_properties_header.test_hash_algorithm import HASH_ALGORITHMS
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.19.3-D02")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_hash_algorithm_of_encrypted_message_is_requested_one(peer, sut, judge, delivery):
    """The SUT sends encrypted messages that are signed with each hash algorithm: HashAlgorithm is the number of that
    algorithm. Algorithms that the SUT refuses are not judged.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    secured = {"sender": "alice", "authentication_level": "sig20", "privacy_level": "enhanced", "delivery": delivery}
    frames = {}
    for name in HASH_ALGORITHMS:
        try:
            frames[name] = outgoing.send(body="signed", hash_algorithm=name, **secured)
        except ControlRefused:
            continue
    outgoing.end()
    if not frames:
        raise ConformanceFailure("the SUT refuses to sign and encrypt a message with any of the hash algorithms")
    for name, frame in frames.items():
        judge(
            "MQMQ-2.2.19.3-D02",
            expected=fields({"MessagePropertiesHeader.HashAlgorithm": HASH_ALGORITHMS[name]}),
            observed=Layout(frame),
            case=f"encrypted message that is signed with {name}",
            evidence=frame,
        )
