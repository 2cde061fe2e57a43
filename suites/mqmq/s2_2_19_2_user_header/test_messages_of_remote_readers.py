"""MS-MQMQ 2.2.19.2 UserHeader: the flags of optional parts in messages that remote readers receive (MS-MQQP 3.1.4)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from harness.expectations import none
from harness.judging.passive import NotExercised
from harness.run.marks import covers, needs
from reference_qm.codec import FormatError, parse_packet
from suites.messages import Sequence
from suites.mqmq.steps.layout import RemoteReadPacket
from suites.mqmq.steps.message_bytes import USER_HEADER_NAME
from suites.mqmq.steps.message_parts import make_part_presence_predicate
from suites.mqqp.steps.whole import build_destination_list_fields_of_every_kind

CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ce")
RULE_FLAG_AND_OPTIONAL_HEADER_ROWS = (
    ("MQMQ-2.2.19.2-18", "SH", "SecurityHeader"),
    ("MQMQ-2.2.19.2-19", "TH", "TransactionHeader"),
    ("MQMQ-2.2.19.2-22", "CQ", "ConnectorType"),
    ("MQMQ-2.2.19.2-23", "MQ", "MultiQueueFormatHeader"),
    ("MQMQ-2.2.19.2-38", "CQ", "ConnectorType"),
)
"""For each rule, a flag, and the part of a message that is present if and only if the flag is set."""


def _parse_message_or_error(data):
    """Parse the bytes; return the message, or the error that the parser raises."""
    try:
        return parse_packet(data)
    except FormatError as error:
        return error


@needs("qm2qm")
@covers(*(rule for rule, _, _ in RULE_FLAG_AND_OPTIONAL_HEADER_ROWS))
@pytest.mark.parametrize("queue", ["plain", "transactional"])
def test_message_of_remote_reader_has_part_of_each_set_flag(remote, judge, queue):
    """Messages with and without a TransactionHeader, a SecurityHeader, a ConnectorType and lists of queues arrive. In
    each message that a remote reader peeks or receives, a part is present if and only if its flag is set.
    """
    peer, sequence = remote.peer, Sequence(remote.peer)
    build_message = sequence.message if queue == "transactional" else peer.recoverable_message
    whole = {
        "security": {"ST": 2, "DE": 1, "SecurityID": peer.identifier.bytes_le},
        "mqf": build_destination_list_fields_of_every_kind(peer),
    }
    opened = remote.open(queue)
    remote.send_messages_and_require_acks(
        [
            build_message(queue=queue, label="without"),
            build_message({"ConnectorType": CONNECTOR_GUID}, queue=queue, label="whole", **whole),
        ]
    )
    reads = [opened.receive(), opened.peek().expect_success(), opened.receive()]
    evidence = [frame for read in reads for frame in read.evidence]
    for rule, flag, part in RULE_FLAG_AND_OPTIONAL_HEADER_ROWS:
        predicate = make_part_presence_predicate(USER_HEADER_NAME, flag, part)
        findings = []
        for read in reads:
            context: Any = SimpleNamespace(frame=RemoteReadPacket(read.packet_bytes))
            found = predicate(_parse_message_or_error(read.packet_bytes), context)
            if found is not None and not isinstance(found, NotExercised):
                findings.append(found)
        if not findings:
            judge.mark_not_exercised(rule, reason=f"no message has a valid {part}", evidence=evidence)
            continue
        wrong = [text for is_kept, text in findings if not is_kept]
        judge(rule, expected=none(f"message whose {flag} does not match"), observed=wrong, evidence=evidence)
