"""MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32: the headers of copies of a message that differ in delivery, trace and name."""

from __future__ import annotations

import pytest

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.sender import Sender

TRACE_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000da"
"""The identifier of a report queue."""
TAG_OF_MESSAGE_TO_SEVERAL_QUEUES, TAG_OF_MESSAGE_TO_SINGLE_QUEUE = 30_001, 30_002
PRIVATE_QUEUE_NUMBER = 0x0001_CAFE
PRIVATE_FORMAT_NAME_TYPE, PUBLIC_FORMAT_NAME_TYPE, DIRECT_FORMAT_NAME_TYPE = 3, 5, 7
"""The values of DQ."""


@needs("send", "several_queues", "public_names", "private_names")
@covers("MQDMPR-3.1.7.1.30-05", "MQDMPR-3.1.7.1.30-06", "MQDMPR-3.1.7.1.32-D06", "MQDMPR-3.1.7.1.32-D14")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@pytest.mark.parametrize("traced", [False, True], ids=["untraced", "traced"])
def test_copies_have_headers_of_their_message(peer, sut, judge, delivery, traced):
    """The SUT sends a message, traced or not, to direct names of a private and of a public queue of the peer, to a
    public name and to a private name. Each copy has the optional headers of the message, the list of all four queues,
    and the type of its own queue. A later, untraced message to one of the queues has neither a list nor a DebugHeader.
    """
    types = {
        peer.direct_name("mqc-private"): DIRECT_FORMAT_NAME_TYPE,
        rf"DIRECT=TCP:{peer.address}\mqc-public": DIRECT_FORMAT_NAME_TYPE,
        f"PUBLIC={PEER_PUBLIC_QUEUE}": PUBLIC_FORMAT_NAME_TYPE,
        peer.build_private_format_name_of_peer(PRIVATE_QUEUE_NUMBER): PRIVATE_FORMAT_NAME_TYPE,
    }
    peer.listen(ignore_incoming=True)
    trace = {"trace_queue": TRACE_QUEUE_GUID} if traced else {}
    sut.send(
        ",".join(types), body="several", application_tag=TAG_OF_MESSAGE_TO_SEVERAL_QUEUES, delivery=delivery, **trace
    )
    copies = peer.inbox.wait(_make_application_tag_condition(TAG_OF_MESSAGE_TO_SEVERAL_QUEUES), len(types))
    sut.send(next(iter(types)), body="single", application_tag=TAG_OF_MESSAGE_TO_SINGLE_QUEUE, delivery=delivery)
    singles = peer.inbox.wait(_make_application_tag_condition(TAG_OF_MESSAGE_TO_SINGLE_QUEUE))
    peer.inbox.acknowledge()
    found = [Layout(frame).fields for frame in copies]
    headers = {
        "number of copies": len(types),
        "headers": each(
            {
                "MQ and a list": (1, True),
                "DH and a DebugHeader": (int(traced), traced),
                "TH and a TransactionHeader": (int(delivery == "transactional"), delivery == "transactional"),
            },
            "copy",
        ),
    }
    judge(
        "MQDMPR-3.1.7.1.30-05",
        "MQDMPR-3.1.7.1.30-06",
        expected=headers,
        observed={"number of copies": len(found), "headers": [_describe_headers(one) for one in found]},
        evidence=copies,
    )
    judge(
        "MQDMPR-3.1.7.1.32-D06",
        expected=each(len(types), "copy"),
        observed=[len(one.get("MultiQueueFormatHeader.Destination.FormatNameList") or ()) for one in found],
        evidence=copies,
        case="number of queues in the list of each copy",
    )
    judge(
        "MQDMPR-3.1.7.1.32-D14",
        expected=sorted(types.values()),
        observed=sorted(one.get("UserHeader.Flags.DQ", -1) for one in found),
        evidence=copies,
        case="DQ of the copies",
    )
    judge(
        "MQDMPR-3.1.7.1.30-05",
        "MQDMPR-3.1.7.1.30-06",
        expected=[_describe_headers_of_message_to_single_queue(delivery)],
        observed=[_describe_headers(Layout(frame).fields) for frame in singles],
        evidence=singles,
        case="later message to a single queue",
    )


def _make_application_tag_condition(tag):
    """Return a condition that selects the messages with a tag."""
    return lambda frame: Sender.list_tags([frame]) == [tag]


def _describe_headers_of_message_to_single_queue(delivery):
    """Return the flags and headers of an untraced message to a single queue."""
    transactional = delivery == "transactional"
    return {
        "MQ and a list": (0, False),
        "DH and a DebugHeader": (0, False),
        "TH and a TransactionHeader": (int(transactional), transactional),
    }


def _describe_headers(fields):
    """Return, for each optional header, its flag and whether the packet contains the header."""
    present = {name.partition(".")[0] for name in fields}
    return {
        "MQ and a list": (fields.get("UserHeader.Flags.MQ"), "MultiQueueFormatHeader" in present),
        "DH and a DebugHeader": (fields.get("BaseHeader.Flags.DH"), "DebugHeader" in present),
        "TH and a TransactionHeader": (fields.get("UserHeader.Flags.TH"), "TransactionHeader" in present),
    }
