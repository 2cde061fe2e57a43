"""MS-MQQB 3.1.6.9 Order Ack Send Timer Event: two queue managers send transactional messages at the same time."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position

DESTINATION_TYPE_DQ_OF_DIRECT_FORMAT_NAME = 7
"""The value of UserHeader.Flags.DQ for a direct format name (MS-MQMQ 2.2.19.2)."""
MESSAGE_COUNT_BY_SENDER = 3, 1
"""The number of messages that each of the two senders sends."""


@covers("MQQB-3.1.6.9-01", "MQQB-2.2.4-06", "MQQB-2.2.4.1-01", "MQQB-2.2.4.1-02")
def test_each_sender_receives_order_ack_of_its_own_sequence(peer, second_host, sut, judge):
    """The peer and a second queue manager at another address send transactional messages to the SUT at the same time.
    Each receives the OrderAck of its own sequence, addressed to its own address, and no OrderAck of the other sequence.
    """
    second = Receiver(second_host, sut)  # its TxSequenceID is lower: a mix-up does not look like an earlier test
    receivers = {"peer": Receiver(peer, sut, 2), "second host": second}
    for number in range(max(MESSAGE_COUNT_BY_SENDER)):
        for receiver, count in zip(receivers.values(), MESSAGE_COUNT_BY_SENDER, strict=True):
            if number < count:
                receiver.send()
    for (name, receiver), count in zip(receivers.items(), MESSAGE_COUNT_BY_SENDER, strict=True):
        ack = receiver.await_last_acknowledgment(count)
        if ack is None:
            judge(
                "MQQB-3.1.6.9-01",
                expected=holds("an OrderAck"),
                observed="no OrderAck",
                case=f"acknowledgment of the messages of the {name}",
                evidence=receiver.session.sent,
            )
            raise ConformanceFailure(f"no OrderAck arrived at the {name}")
        place, own = read_acknowledged_sequence_position(ack), receiver.sequence.identifier
        judge(
            "MQQB-3.1.6.9-01",
            "MQQB-2.2.4.1-01",
            expected=holds("the TxSequenceID of the sender's own messages"),
            observed=(place.Ordinal, place.TimeStamp) == (own.Ordinal, own.TimeStamp)
            or f"the TxSequenceID with Ordinal {place.Ordinal} and TimeStamp {place.TimeStamp}",
            case=f"OrderAck that arrives at the {name}",
            evidence=[ack],
        )
        judge(
            "MQQB-2.2.4.1-02",
            expected=count,
            observed=int(place.TxSequenceNumber),
            case=f"TxSequenceNumber of the OrderAck that arrives at the {name}",
            evidence=[ack],
        )
        user = ack["UserHeader"]
        if user.DQ == DESTINATION_TYPE_DQ_OF_DIRECT_FORMAT_NAME:
            address = str(user.DestinationQueue.DirectFormatName).partition(":")[2].partition("\\")[0]
            judge(
                "MQQB-2.2.4-06",
                expected=receiver.peer.address,
                observed=address,
                case=f"address in the destination of the OrderAck that arrives at the {name}",
                evidence=[ack],
            )
        elif "MQQB-2.2.4-06" not in judge.judged:
            judge.mark_not_exercised("MQQB-2.2.4-06", reason="the OrderAck has a private format name")
