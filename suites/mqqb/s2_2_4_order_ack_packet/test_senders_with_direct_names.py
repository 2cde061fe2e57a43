"""MS-MQQB 2.2.4 OrderAck Packet: two queue managers send transactional messages to direct format names, and a message
requests further acknowledgments.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position

DESTINATION_TYPE_DQ_OF_DIRECT_NAME = 7


@covers("MQQB-2.2.4-06")
def test_order_acks_of_two_senders_contain_address_of_each(peer, second_host, sut, judge):
    """The peer, and then a second queue manager at another address, send transactional messages to a direct format
    name. The direct format name in the OrderAck of each message, to whichever host it is sent, contains the address of
    the sender of the message.
    """
    receivers = {"peer": Receiver(peer, sut), "second host": Receiver(second_host, sut, 2)}
    for name, sender in (("peer", peer), ("second host", second_host)):
        receiver = receivers[name]
        own = receiver.sequence.identifier
        sent = receiver.send()
        receiver.poll_acknowledgment()
        came = [ack for one in receivers.values() for ack in one.list_acknowledgments()]
        acks = [ack for ack in came if read_acknowledged_sequence_position(ack)[:2] == (own.Ordinal, own.TimeStamp)]
        if not acks:
            raise ConformanceFailure(f"no OrderAck arrived for the message of the {name}")
        user = acks[-1]["UserHeader"]
        if user.DQ != DESTINATION_TYPE_DQ_OF_DIRECT_NAME:
            raise ConformanceFailure(f"the OrderAck for a message to a direct name has DQ {user.DQ} instead of 7")
        judge(
            "MQQB-2.2.4-06",
            expected=f"TCP:{sender.address}".lower(),
            observed=str(user.DestinationQueue.DirectFormatName).partition("\\")[0].lower(),
            case=f"host in the destination of the OrderAck of the {name}",
            evidence=[sent, acks[-1]],
        )
