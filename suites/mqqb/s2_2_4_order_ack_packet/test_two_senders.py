"""MS-MQQB 2.2.4 OrderAck Packet: two queue managers send transactional messages to private format names."""

from __future__ import annotations

from uuid import UUID

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position

DESTINATION_TYPE_DQ_OF_PRIVATE_NAME, ORDER_QUEUE_NUMBER = 3, 4


@needs("queues", "private_names")
@covers("MQQB-2.2.4-04")
def test_order_acks_of_two_senders_go_to_private_queue_4_of_each(peer, second_host, sut, judge):
    """The peer, and then a second queue manager at another address, send transactional messages to private format names
    of two queues. The OrderAck of each message, to whichever host it is sent, is addressed to private queue 4 of the
    sender of the message.
    """
    receivers = {"peer": Receiver(peer, sut), "second host": Receiver(second_host, sut, 2)}
    for name, sender in (("peer", peer), ("second host", second_host)):
        receiver = receivers[name]
        own = receiver.sequence.identifier
        destination = sender.build_fields_for_private_name_of_sut_queue(
            sut.new_queue(name.replace(" ", "-"), transactional=True)
        )
        sent = receiver.send(destination, destination=None)
        receiver.poll_acknowledgment()
        came = [ack for one in receivers.values() for ack in one.list_acknowledgments()]
        acks = [ack for ack in came if read_acknowledged_sequence_position(ack)[:2] == (own.Ordinal, own.TimeStamp)]
        if not acks:
            raise ConformanceFailure(f"no OrderAck arrived for the message of the {name}")
        user = acks[-1]["UserHeader"]
        if user.DQ != DESTINATION_TYPE_DQ_OF_PRIVATE_NAME:
            raise ConformanceFailure(f"the OrderAck for a message to a private name has DQ {user.DQ} instead of 3")
        judge(
            "MQQB-2.2.4-04",
            expected=(UUID(str(sender.identifier)), ORDER_QUEUE_NUMBER),
            observed=(user.QueueManagerAddress, user.DestinationQueue.PrivateQueueIdentifier),
            case=f"queue manager and number of the destination queue of the OrderAck of the {name}",
            evidence=[sent, acks[-1]],
        )
