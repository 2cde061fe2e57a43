"""MS-MQDMPR 3.1.7.1.27: a message is put into the open queue; with several destinations, each queue gets a copy.

MS-MQDMPR 3.1.7.2.5 and 3.1.7.2.6: during flow control, no queue gets a message.
"""

from uuid import UUID

import pytest
from core_network import TRANSACTIONAL, Network, direct
from queueing_made import queue_of

from reference_qm.codec import NULL_GUID, MessageIdentifier
from reference_qm.core.queueing.queue_lifecycle import make_queue_with_defaults
from reference_qm.model.adm import Message
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus, Status

SEVERAL = f"{direct(1)},{direct(2)}"


@pytest.fixture(params=[Network, Network])
def hosts(request):
    network = request.param()
    return network.host(1), network.host(2)


def opened(host, name):
    status, descriptor = host.core.queue_opening.open_queue(
        name, QueueAccessType.SEND, QueueShareMode.DENY_NONE, host.network.now
    )
    assert status is Status.MQ_OK
    return descriptor


def message_to(host, name, **attributes):
    identifier = MessageIdentifier(host.core.adm.Identifier, host.core.message_numbering.assign_message_ordinal())
    attributes = {"SentTime": host.network.now.utc_s, "Body": b"body"} | attributes
    return Message(Identifier=identifier, DestinationQueueFormatName=name, **attributes)


def enqueue(host, name, transaction=None, descriptor=None, **attributes):
    descriptor = descriptor or opened(host, name)
    message = message_to(host, name, **attributes)
    now = host.network.now
    status = host.core.message_enqueueing.enqueue_to_open_queue(descriptor, message, now, transaction)
    settle(host)
    return status


def settle(host):
    host.network.carry_out(host, host.core.handle_timer(host.network.now))
    host.network.settle()


@pytest.mark.parametrize("numbers", [(1, 2), (1, 1)])
def test_multi_queue_send_in_transaction_waits_for_commit(hosts, numbers):
    near = hosts[0]
    transaction = near.core.transaction_events.create_transaction(UUID(int=7), True)
    queues = [TRANSACTIONAL, "private$\\tx2"] if numbers == (1, 1) else [TRANSACTIONAL] * 2
    if numbers == (1, 1):
        described = make_queue_with_defaults(queues[1])
        described.Transactional = True
        near.core.queue_lifecycle.create_without_directory(described, 0)
    name = ",".join(direct(number, queue) for number, queue in zip(numbers, queues, strict=True))
    assert enqueue(near, name, transaction, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE) is EnqueueStatus.NO_ERROR
    places = [(hosts[number - 1], queue) for number, queue in zip(numbers, queues, strict=True)]
    assert [host.bodies(queue) for host, queue in places] == [[], []]
    assert len(transaction.TransactionalOperationCollection) == 2


REFUSALS = {
    "quota of the queue": EnqueueStatus.QUEUE_QUOTA_EXCEEDED,
    "flow control": EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED,
    "too late": EnqueueStatus.TIMED_OUT,
    "queue deleted": EnqueueStatus.QUEUE_QUOTA_EXCEEDED,
}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("why", REFUSALS)
def test_multi_queue_send_stops_at_first_refusal(hosts, why, several):
    near, far = hosts
    descriptor = opened(near, SEVERAL if several else direct(1))
    single = descriptor.OpenQueueDescriptorCollection[0] if several else descriptor
    attributes = {}
    if why == "quota of the queue":
        queue_of(near).Quota = 0
    elif why == "flow control":
        near.core.queue_quotas.begin_flow_control()
    elif why == "too late":
        attributes = {"SentTime": near.network.now.utc_s - 10, "TimeToReachQueue": 9}
    else:
        single.QueueReference = None
    assert enqueue(near, direct(1), descriptor=descriptor, **attributes) is REFUSALS[why]
    assert (near.bodies(), far.bodies()) == ([], [])


def test_outgoing_messages_are_limited_by_configuration():
    host = Network().host(1, max_outgoing_messages=1)
    assert enqueue(host, direct(9)) is EnqueueStatus.NO_ERROR
    assert enqueue(host, direct(9)) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
    (queue,) = host.core.adm.OutgoingQueues.values()
    (outgoing,) = queue.session.OutgoingMessageTable
    assert outgoing.UserMessage.UserHeader.QueueManagerAddress == NULL_GUID
