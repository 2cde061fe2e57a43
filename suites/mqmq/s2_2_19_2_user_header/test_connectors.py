"""MS-MQMQ 2.2.19.2 UserHeader: ConnectorType in a message that the SUT forwards. A forwarded message is necessary
because only connectors set ConnectorType.
"""

from __future__ import annotations

from uuid import UUID

from harness.expectations import fields
from harness.peer.party import NO_CHANGED_FIELDS
from harness.run.marks import covers, needs, varied
from suites.mqmq.steps.forwarding import forward_message
from suites.mqmq.steps.layout import Layout

CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000cd")


@needs("private_names")
@covers("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38")
@varied("extension", "correlation", priority=("3", "0"), body=("short", "5,000 bytes"))
def test_forwarded_message_keeps_connector_type(peer, sut, judge):
    """The SUT forwards a message with a ConnectorType: CQ is 1, ConnectorType follows the queue names, and the label is
    at the correct offset after it.
    """
    _judge_forwarded_message(peer, sut, judge)


@needs("private_names")
@covers("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38")
def test_forwarded_recoverable_message_keeps_connector_type(peer, sut, judge):
    """The SUT forwards a recoverable message with a ConnectorType and a large body: CQ is 1, and ConnectorType is in
    its place.
    """
    _judge_forwarded_message(peer, sut, judge, {"DM": 1}, body=bytes(5_000))


def _judge_forwarded_message(peer, sut, judge, user=NO_CHANGED_FIELDS, **headers):
    names = {"ConnectorType": CONNECTOR_GUID, "ResponseQueue": r"TCP:10.0.0.9\private$\odd", **user}
    sent, frame = forward_message(peer, sut, user=names, label="connected", **headers)
    wanted = {
        "UserHeader.Flags.CQ": 1,
        "UserHeader.ResponseQueue": "tcp:10.0.0.9\\private$\\odd\0",
        "UserHeader.ConnectorType": str(CONNECTOR_GUID),
        "MessagePropertiesHeader.Label": "connected\0",
    }
    judge.all(expected=fields(wanted), observed=Layout(frame), evidence=[sent, frame])
