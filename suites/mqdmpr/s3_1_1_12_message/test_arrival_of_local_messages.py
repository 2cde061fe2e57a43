"""MS-MQDMPR 3.1.1.12 Message, AckPosArrival: messages that applications of the SUT send to its own queues."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver, get_correlation_id, get_message_class

DELIVERY_MODES = ("express", "recoverable", "transactional")
GUID_SIZE_BYTES = 16


@needs("send")
@covers("MQDMPR-3.1.1.12-38")
@pytest.mark.parametrize(
    "in_transaction", [False, pytest.param(True, marks=needs("transactions"))], ids=["single", "in a transaction"]
)
def test_arrival_of_local_message_is_acknowledged(peer, sut, judge, in_transaction):
    """An application of the SUT sends messages with AckPosArrival to queues of the SUT: one message in each delivery
    mode, or two messages in a transaction that commits. The administration queue at the peer receives an acknowledgment
    of each arrival.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    requests = {"acks": ["positive_arrival"], "admin_queue": peer.direct_name("mqc-arrivals")}
    if in_transaction:
        transaction = sut.control.call("begin")["transaction"]
        to = sut.direct_name(sut.queue("transactional"))
        sent = [sut.send(to, body="in a transaction", transaction=transaction, **requests) for _ in range(2)]
        sut.control.call("commit", transaction=transaction)
    else:
        sent = [
            sut.send(
                sut.direct_name(sut.queue("transactional" if delivery == "transactional" else "plain")),
                body=delivery,
                delivery=delivery,
                **requests,
            )
            for delivery in DELIVERY_MODES
        ]
    acks = receiver.await_acks(len(sent))
    receiver.acknowledge_all()
    judge(
        "MQDMPR-3.1.1.12-38",
        expected=sorted(int(identifier.rpartition("\\")[2]) for identifier in sent),
        observed=sorted(map(_read_acknowledged_message_number, acks)),
        case="MessageIDs of the acknowledged messages",
        evidence=acks,
    )


def _read_acknowledged_message_number(ack):
    """Return the MessageID in an acknowledgment of an arrival, or 0 for an acknowledgment of another class."""
    if get_message_class(ack) != AckClass.REACH_QUEUE:
        return 0
    return int.from_bytes(bytes.fromhex(get_correlation_id(ack))[GUID_SIZE_BYTES:], "little")
