"""MS-MQMQ 2.2.18.1.4.2 MQFDistributionQueueFormatName in messages that the SUT forwards.

A queue manager's own messages never contain this name, because the queue manager expands distribution lists before it
sends.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, fields
from harness.run.marks import covers, needs, varied
from harness.wire import (
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    PrivateQueueFormatName,
    PublicQueueFormatName,
)
from suites.messages import Sequence
from suites.mqmq.steps.forwarding import forward_message
from suites.mqmq.steps.layout import Layout, RemoteReadPacket

DISTRIBUTION_LIST_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")
LABEL_OF_QUEUE_NAMED_AFTER_DISTRIBUTION_LIST = "mqc-listed3"
"""The queue whose direct name follows the distribution list."""


@needs("private_names")
@covers("MQMQ-2.2.18.1.4.2-01", "MQMQ-2.2.18.1.4.2-02", "MQDMPR-3.1.7.1.31-D06", "MQMQ-2.2.18.1.4.2-D01")
@pytest.mark.parametrize("queue", ["mqc-listed", "mqc-listed2", LABEL_OF_QUEUE_NAMED_AFTER_DISTRIBUTION_LIST])
@varied("queue quota", "queue privacy", acknowledgments=("none", "of receipt"))
def test_forwarded_distribution_list_has_format_type_6_and_guid(peer, sut, judge, queue):
    """The SUT forwards a message for a direct name and a distribution list, in either order. FormatNameList of the
    forwarded message still has the FormatTypes 3 and 6, and the GUID of the distribution list.
    """
    direct = f"TCP:{peer.address}\\private$\\{queue}"
    elements = [
        MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=direct)),
        MQFFormatNameElement(
            FormatName=MQFDistributionQueueFormatName(DistributionListIdentifier=DISTRIBUTION_LIST_GUID)
        ),
    ]
    expected = [(3, direct.lower() + "\0"), (6, str(DISTRIBUTION_LIST_GUID))]
    if queue == LABEL_OF_QUEUE_NAMED_AFTER_DISTRIBUTION_LIST:
        elements, expected = elements[::-1], expected[::-1]
    sent, frame = forward_message(peer, sut, mqf={"Destination": elements})
    found = Layout(frame)
    names = found.fields.get("MultiQueueFormatHeader.Destination.FormatNameList", [])
    judge(
        "MQMQ-2.2.18.1.4.2-D01",
        expected=expected,
        observed=names,
        evidence=[sent, frame],
        case="FormatType and name of each element",
    )
    evidence = [sent, frame]
    judge_destination_list(judge, ("MQMQ-2.2.18.1.4.2-01",), found, expected, evidence)
    guids = [name for kind, name in names if kind == 6]
    judge(
        "MQMQ-2.2.18.1.4.2-02",
        "MQDMPR-3.1.7.1.31-D06",
        expected=[str(DISTRIBUTION_LIST_GUID)],
        case="GUID of the list",
        observed=guids,
        evidence=evidence,
    )


SECOND_DISTRIBUTION_LIST_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d2")
PUBLIC_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d3")
PRIVATE_QUEUE_NUMBER = 0xA001_BEEF
DESTINATION_LIST_NAME = "MultiQueueFormatHeader.Destination"
DESTINATION_LIST_SIZE_FIELDS, DESTINATION_LIST_COUNT_FIELDS = (
    (f"{DESTINATION_LIST_NAME}.HeaderSize",),
    (f"{DESTINATION_LIST_NAME}.ElementCount", f"{DESTINATION_LIST_NAME}.FormatNameList"),
)
DESTINATION_LIST_FIELDS_BY_RULE = {
    "MQMQ-2.2.18.1.4.1-D01": DESTINATION_LIST_COUNT_FIELDS,
    "MQMQ-2.2.18.1.4.2-01": (*DESTINATION_LIST_SIZE_FIELDS, *DESTINATION_LIST_COUNT_FIELDS),
    "MQMQ-2.2.18.1.4.2-02": DESTINATION_LIST_COUNT_FIELDS,
    "MQMQ-2.2.18.1.4.2-D01": DESTINATION_LIST_COUNT_FIELDS,
    "MQMQ-2.2.18.1.7.2-03": DESTINATION_LIST_COUNT_FIELDS,
    "MQMQ-2.2.18.1.7.2-D01": DESTINATION_LIST_COUNT_FIELDS,
    "MQMQ-2.2.20.2-01": DESTINATION_LIST_SIZE_FIELDS,
    "MQMQ-2.2.20.2-04": DESTINATION_LIST_COUNT_FIELDS,
    "MQMQ-2.2.20.2-06": DESTINATION_LIST_COUNT_FIELDS,
    "MQMQ-2.2.20.2-D03": (*DESTINATION_LIST_SIZE_FIELDS, "bytes after the last header"),
}
"""For each rule, the fields of the list that the rule is about."""
DESTINATION_LIST_COUNT_RULES = tuple(
    rule for rule, of_rule in DESTINATION_LIST_FIELDS_BY_RULE.items() if {*DESTINATION_LIST_COUNT_FIELDS} <= {*of_rule}
)
"""The rules about the names in the list."""


def build_distribution_list(peer, queue):
    """Return two values for a list with two distribution lists, a private name, a public name and two direct names: its
    elements, and the FormatType and text of each element.
    """
    directs = [f"TCP:{peer.address}\\private$\\{queue}", f"OS:nowhere\\{queue}"]
    names = [
        MQFDirectQueueFormatName(DirectFormatName=directs[0]),
        MQFDistributionQueueFormatName(DistributionListIdentifier=DISTRIBUTION_LIST_GUID),
        PrivateQueueFormatName(SourceQueueManager=peer.identifier, PrivateQueueIdentifier=PRIVATE_QUEUE_NUMBER),
        MQFDistributionQueueFormatName(DistributionListIdentifier=SECOND_DISTRIBUTION_LIST_GUID),
        PublicQueueFormatName(PublicQueueIdentifier=PUBLIC_QUEUE_GUID),
        MQFDirectQueueFormatName(DirectFormatName=directs[1]),
    ]
    kinds = (3, 6, 2, 6, 1, 3)
    elements = [MQFFormatNameElement(FormatType=kind, FormatName=name) for kind, name in zip(kinds, names, strict=True)]
    texts = (
        f"{directs[0].lower()}\0",
        str(DISTRIBUTION_LIST_GUID),
        f"{peer.identifier}\\{PRIVATE_QUEUE_NUMBER:08x}",
        str(SECOND_DISTRIBUTION_LIST_GUID),
        str(PUBLIC_QUEUE_GUID),
        f"{directs[1].lower()}\0",
    )
    return elements, list(zip(kinds, texts, strict=True))


def judge_destination_list(judge, rules, found, names, evidence):
    """Judge the sizes, the count and the names of the list of destinations in a message."""
    size, padded = (found.fields.get(f"{DESTINATION_LIST_NAME}.{kind}", 0) for kind in ("size", "padded size"))
    wanted = {
        f"{DESTINATION_LIST_NAME}.HeaderSize": between(size, padded),
        f"{DESTINATION_LIST_NAME}.ElementCount": len(names),
        f"{DESTINATION_LIST_NAME}.FormatNameList": names,
        "bytes after the last header": 0,
    }
    for rule in rules:
        expected = fields({name: wanted[name] for name in DESTINATION_LIST_FIELDS_BY_RULE[rule]})
        judge(rule, expected=expected, observed=found, evidence=evidence)


@needs("private_names")
@covers(*DESTINATION_LIST_FIELDS_BY_RULE)
@pytest.mark.parametrize("queue", ["mqc-listed", "mqc-listed2"])
def test_forwarded_list_has_every_name_in_its_place(peer, sut, judge, queue):
    """The SUT forwards a message for two distribution lists, a private name, a public name and two direct names. The
    list still has all names in their order, each at its boundary. HeaderSize and ElementCount fit the names.
    """
    elements, names = build_distribution_list(peer, queue)
    sent, frame = forward_message(peer, sut, mqf={"Destination": elements})
    judge_destination_list(judge, DESTINATION_LIST_FIELDS_BY_RULE, Layout(frame), names, [sent, frame])


@needs("qm2qm")
@covers(*DESTINATION_LIST_COUNT_RULES)
@pytest.mark.parametrize("queue", ["plain", "transactional"])
def test_list_of_remote_reader_has_every_name_in_its_place(remote, judge, queue):
    """Messages for two distribution lists, a private name, a public name and two direct names arrive, and a remote
    reader peeks or receives them. In each returned message, the list still has all names in their order, each at its
    boundary, and its ElementCount fits the names.
    """
    peer = remote.peer
    elements, names = build_distribution_list(peer, "mqc-listed")
    build_message = Sequence(peer).message if queue == "transactional" else peer.recoverable_message
    opened = remote.open(queue)
    remote.send_messages_and_require_acks(
        [build_message(queue=queue, label=label, mqf={"Destination": elements}) for label in ("a", "b")]
    )
    for read in (opened.peek().expect_success(), opened.receive(), opened.receive()):
        found = Layout(RemoteReadPacket(read.packet_bytes))
        if not found.fields.get("UserHeader.Flags.MQ"):
            raise ConformanceFailure("the message of the remote reader has no lists of queues")
        judge_destination_list(judge, DESTINATION_LIST_COUNT_RULES, found, names, read.evidence)
