"""MS-MQDMPR 3.1.1.12 Message: the ApplicationTag of messages that the queue manager itself creates."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.disposition import AcknowledgingReceiver, receive_first_message

APPLICATION_TAG = 0x1234_5678


@covers("MQDMPR-3.1.1.12-D38")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@pytest.mark.parametrize(
    "cause",
    [
        "arrival",
        pytest.param("receipt", marks=needs("receive")),
        "refusal",
        pytest.param("trace", marks=needs("public_names")),
    ],
)
def test_message_of_queue_manager_has_default_application_tag(peer, sut, judge, delivery, cause):
    """The peer sends two messages with different values of ApplicationTag, whose arrival, receipt or refusal the SUT
    acknowledges, or about whose arrival it sends a report. The ApplicationTag of each acknowledgment and of each report
    is 0, because the SUT did not get another value for it.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    transactional = delivery == "transactional"
    queue = "transactional" if transactional is (cause != "refusal") else "plain"
    make = receiver.sequence.message if transactional else peer.message
    user = receiver.add_admin_queue_fields({"DM": int(delivery != "express")})
    bits = {"arrival": {"PA": 1}, "receipt": {"PR": 1}, "refusal": {"NA": 1}, "trace": {}}[cause]
    traced: dict[str, Any] = (
        {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}} if cause == "trace" else {}
    )
    sent = [
        receiver.send_packet(make(user, queue=queue, properties={**bits, "ApplicationTag": tag}, **traced))
        for tag in (APPLICATION_TAG, 1)
    ]
    if cause == "receipt":
        if not peer.eventually(lambda: len(sut.messages(queue)) == len(sent)):
            raise ConformanceFailure("the messages did not arrive in their queue")
        for _ in sent:
            receive_first_message(sut, sut.queue(queue))
    wanted = receiver.list_reports if cause == "trace" else receiver.list_admin_acks
    came = receiver.await_messages_of_sut(wanted, len(sent))
    if not came:
        raise ConformanceFailure(f"the SUT sent no message because of the {cause} of a message")
    judge.all(
        expected=each(0, "ApplicationTag"),
        observed=[int(frame["MessagePropertiesHeader"].ApplicationTag) for frame in came],
        case=f"{cause} of {delivery} messages",
        evidence=[*sent, *came],
    )
    receiver.acknowledge_all()
