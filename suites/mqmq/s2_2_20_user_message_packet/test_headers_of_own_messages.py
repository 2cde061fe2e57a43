"""MS-MQMQ 2.2.20 UserMessage Packet: the headers of acknowledgments and reports of the SUT."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import between, fields
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.messages import Sequence
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.message_bytes import is_user_message
from suites.mqqb.steps.disposition import AcknowledgingReceiver

PROPERTIES_SIZE_FIELD_BY_RULE = {
    "MQMQ-2.2.19.3-18": "MessagePropertiesHeader.MessageSize",
    "MQMQ-2.2.19.3-28": "MessagePropertiesHeader.ExtensionSize",
}
OWN_MESSAGE_HEADER_RULES = (
    "MQMQ-2.2.20-01",
    "MQMQ-2.2.20-03",
    "MQMQ-2.2.20-04",
    "MQMQ-2.2.20-05",
    "MQMQ-2.2.20-06",
    "MQMQ-2.2.20-07",
    "MQMQ-2.2.20-08",
    "MQMQ-2.2.19.3-34",
)
"""The rules that the SUT breaks if the bytes of a message do not end after the headers that its flags announce."""


@needs("public_names")
@covers(*OWN_MESSAGE_HEADER_RULES, *PROPERTIES_SIZE_FIELD_BY_RULE)
def test_message_of_queue_manager_ends_after_headers_of_its_flags(peer, sut, judge):
    """A traced message and a transactional message arrive and request acknowledgments, and a transactional message
    arrives for a queue that does not exist. Each administration acknowledgment, OrderAck, FinalAck and report of the
    SUT consists of exactly the headers that its flags announce, and its sizes do not exceed the packet.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    traced: dict[str, Any] = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}}
    missing = rf"TCP:{sut.address}\private$\mqc-missing"
    sent = [
        receiver.send_packet(receiver.build_message({"DM": 1}, properties={"PA": 1}, **traced)),
        receiver.send(receiver.add_admin_queue_fields(), properties={"PA": 1}),
        receiver.send_packet(Sequence(peer, 2).message(destination=missing, transaction={"FA": 1})),
    ]
    receiver.await_acks(2)
    for wanted in (receiver.list_acknowledgments, receiver.list_final_acks, receiver.list_reports):
        receiver.await_messages_of_sut(wanted, 1)
    frames = [
        *receiver.messages,
        *(frame for frame in peer.inbox.packets_with_possibly_malformed_messages if is_user_message(frame.data)),
    ]
    frames = list({frame.data: frame for frame in frames}.values())
    if len(frames) < 2:
        raise ConformanceFailure("the SUT did not acknowledge the messages")
    for frame in frames:
        observed, evidence = Layout(frame), [*sent, frame]
        whole = {"UserHeader.Flags.MP": 1, "bytes after the last header": 0}
        judge(*OWN_MESSAGE_HEADER_RULES, expected=fields(whole), observed=observed, evidence=evidence)
        for rule, name in PROPERTIES_SIZE_FIELD_BY_RULE.items():
            judge(rule, expected=fields({name: between(0, len(frame.data))}), observed=observed, evidence=evidence)
    receiver.acknowledge_all()
