"""MS-MQMQ 2.2.20.1 MultiQueueFormatHeader: acknowledgments of messages to several queues."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, varied
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.disposition import AcknowledgingReceiver


@covers("MQMQ-2.2.20.1-D01")
@varied("priority", "application tag", "correlation", "extension")
def test_acknowledgment_of_message_to_several_queues_has_no_list(peer, sut, judge):
    """The peer sends a copy of a message to several queues, and the copy requests an acknowledgment of arrival. The
    acknowledgment, which is sent to a single queue, has no MultiQueueFormatHeader.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    names = [sut.format_name().removeprefix("DIRECT="), r"TCP:10.0.0.9\private$\other"]
    elements = [MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name)) for name in names]
    sent = receiver.send_packet(receiver.build_message(properties={"PA": 1}, mqf={"Destination": elements}))
    acks = receiver.await_acks(1)
    if not acks:
        raise ConformanceFailure("the SUT did not acknowledge the message")
    wanted = {"UserHeader.Flags.MQ": 0, "bytes after the last header": 0}
    judge("MQMQ-2.2.20.1-D01", expected=fields(wanted), observed=Layout(acks[0]), evidence=[sent, acks[0]])
