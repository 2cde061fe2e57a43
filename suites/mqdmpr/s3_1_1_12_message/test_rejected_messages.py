"""MS-MQDMPR 3.1.1.12 Message: the class of the acknowledgment of a rejected message."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged
from harness.run.marks import covers, needs
from harness.sut.shown import lookup_id
from suites.mqqb.steps.disposition import (
    RECEIVE,
    AcknowledgingReceiver,
    await_arrival,
    get_correlation_id,
    identifier,
)

RECEIVE_REJECTED_CLASS = 0xC004
"""The class MQMSG_CLASS_NACK_RECEIVE_REJECTED. Spec: MS-MQMQ 2.2.18.1.6."""
ACK_CLASS_BY_RECEIVE_OUTCOME = {
    "received": RECEIVE,
    "rejected": RECEIVE_REJECTED_CLASS,
    "rejected, too": RECEIVE_REJECTED_CLASS,
    "received in the same transaction": RECEIVE,
    "rejected in aborted transaction": RECEIVE,
}
"""For each message, the expected class of its acknowledgment. The last message is rejected in an aborted transaction,
and then received.
"""


def _receive_and_get_lookup_id(sut, queue, transaction):
    """Receive the first message of a queue in a transaction; return its LookupIdentifier."""
    shown = sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)["message"]
    if shown is None:
        raise ConformanceFailure("a message that is in the queue cannot be received")
    return lookup_id(shown)


def _receive_in_transaction(sut, queue, external, *, reject, outcome, more=0):
    """Receive the first message of a queue in a transaction, reject it if requested, receive a number of further
    messages, and end the transaction.
    """
    transaction = sut.control.call("begin", external=external)["transaction"]
    received = _receive_and_get_lookup_id(sut, queue, transaction)
    if reject:
        sut.control.call("reject", queue=queue, lookup_id=received, transaction=transaction)
    for _ in range(more):
        _receive_and_get_lookup_id(sut, queue, transaction)
    if external and outcome == "commit":
        sut.control.call("prepare", transaction=transaction, single_phase=True)
    else:
        sut.control.call(outcome, transaction=transaction)


@needs("queues", "receive", "transactions", "reject")
@covers("MQDMPR-3.1.1.12-D27", "MQDMPR-3.1.1.12-41", "MQDMPR-3.1.4.4-11")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_rejected_message_is_nacked_when_transaction_commits(peer, sut, judge, external):
    """An application rejects two messages in committed transactions; the second of these transactions also receives
    another message. The SUT acknowledges the rejected messages as rejected, and the other message as received. If the
    transaction is aborted and the message is then received, the SUT acknowledges it as received. Windows can reject
    messages only in transactions of a coordinator.
    """
    queue = sut.new_queue("rejecting", transactional=True)
    receiver = AcknowledgingReceiver(peer, sut)
    destination = rf"TCP:{sut.address}\{queue}"
    user = receiver.add_admin_queue_fields({"DM": 1})
    packets = {
        name: receiver.send_packet(
            receiver.sequence.message(user, destination=destination, label=name, properties={"PR": 1, "NR": 1})
        )
        for name in ACK_CLASS_BY_RECEIVE_OUTCOME
    }
    if await_arrival(sut, receiver.session, list(ACK_CLASS_BY_RECEIVE_OUTCOME)[-1], queue) != "stored in its queue":
        raise ConformanceFailure("the SUT did not accept the messages")
    _receive_in_transaction(sut, queue, external, reject=False, outcome="commit")
    _receive_in_transaction(sut, queue, external, reject=True, outcome="commit")
    _receive_in_transaction(sut, queue, external, reject=True, outcome="commit", more=1)
    _receive_in_transaction(sut, queue, external, reject=True, outcome="abort")
    _receive_in_transaction(sut, queue, external, reject=False, outcome="commit")
    acks = receiver.await_acks(len(ACK_CLASS_BY_RECEIVE_OUTCOME))
    observed = {
        name: [ack for ack in acks if get_correlation_id(ack) == identifier(frame)] for name, frame in packets.items()
    }
    expected = {
        name: acknowledged(packets[name], of_class=value) for name, value in ACK_CLASS_BY_RECEIVE_OUTCOME.items()
    }
    judge.all(
        expected=expected,
        observed=observed,
        evidence=[*packets.values(), *acks],
        case="acknowledgment of the message",
    )
