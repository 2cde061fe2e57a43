"""MS-MQMQ 2.2.18.1.4.2 MQFDistributionQueueFormatName in messages that the SUT forwards.

A queue manager never sends this name in its own messages, because it expands distribution lists before it sends.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.run.marks import covers, needs, varied
from harness.wire import MQFDirectQueueFormatName, MQFDistributionQueueFormatName, MQFFormatNameElement
from suites.mqmq.steps.forwarding import forward_message
from suites.mqmq.steps.layout import Layout

DISTRIBUTION_LIST_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")


@needs("private_names")
@covers("MQMQ-2.2.18.1.4.2-01", "MQMQ-2.2.18.1.4.2-02", "MQDMPR-3.1.7.1.31-D06", "MQMQ-2.2.18.1.4.2-D01")
@pytest.mark.parametrize("queue", ["mqc-listed", "mqc-listed2"])
@varied("queue quota", "queue privacy", acknowledgments=("none", "of receipt"))
def test_forwarded_distribution_list_has_format_type_6_and_guid(peer, sut, judge, queue):
    """The SUT forwards a message for a direct name and a distribution list: FormatNameList still has FormatTypes 3
    and 6, and the GUID of the list.
    """
    direct = f"TCP:{peer.address}\\private$\\{queue}"
    elements = [
        MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=direct)),
        MQFFormatNameElement(
            FormatName=MQFDistributionQueueFormatName(DistributionListIdentifier=DISTRIBUTION_LIST_GUID)
        ),
    ]
    sent, frame = forward_message(peer, sut, mqf={"Destination": elements})
    names = Layout(frame).fields.get("MultiQueueFormatHeader.Destination.FormatNameList", [])
    expected = [(3, direct.lower() + "\0"), (6, str(DISTRIBUTION_LIST_GUID))]
    judge(
        "MQMQ-2.2.18.1.4.2-D01",
        expected=expected,
        observed=names,
        evidence=[sent, frame],
        case="FormatType and name of each element",
    )
    found = frame["MultiQueueFormatHeader"].Destination.FormatNameList
    types = [int(each.FormatType) for each in found]
    evidence = [sent, frame]
    judge("MQMQ-2.2.18.1.4.2-01", expected=[3, 6], observed=types, case="FormatTypes", evidence=evidence)
    guids = [str(each.FormatName.DistributionListIdentifier) for each in found if each.FormatType == 6]
    judge(
        "MQMQ-2.2.18.1.4.2-02",
        "MQDMPR-3.1.7.1.31-D06",
        expected=[str(DISTRIBUTION_LIST_GUID)],
        case="GUID of the list",
        observed=guids,
        evidence=evidence,
    )
