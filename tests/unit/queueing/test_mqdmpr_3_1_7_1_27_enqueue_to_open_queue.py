"""MS-MQDMPR 3.1.7.1.27: a message goes into the queue that is open, or a copy of it into each of several.

MS-MQDMPR 3.1.7.2.5 and 3.1.7.2.6: into none while there is flow control.
"""

from uuid import UUID

import pytest
from core_network import TRANSACTIONAL, Network, direct
from queueing_made import queue_of

from reference_qm.codec import NULL_GUID, MessageIdentifier
from reference_qm.core.queueing.queues import set_queue_defaults
from reference_qm.model.adm import Message
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus, Status

OTHER = "private$\\other"
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
    identifier = MessageIdentifier(host.core.adm.Identifier, host.core.numbering.assign_identifier())
    attributes = {"SentTime": host.network.now.utc_s, "Body": b"body"} | attributes
    return Message(Identifier=identifier, DestinationQueueFormatName=name, **attributes)


def enqueue(host, name, transaction=None, descriptor=None, **attributes):
    descriptor = descriptor or opened(host, name)
    message = message_to(host, name, **attributes)
    now = host.network.now
    status = host.core.enqueueing.enqueue_to_open_queue(descriptor, message, now, transaction)
    settle(host)
    return status


def settle(host):
    host.network.carry_out(host, host.core.handle_timer(host.network.now))
    host.network.settle()


@pytest.mark.parametrize("guarantee", DeliveryGuarantee)
@pytest.mark.parametrize("number", [1, 2])
def test_a_message_goes_into_the_local_or_outgoing_queue_that_is_open(hosts, number, guarantee):
    near = hosts[0]
    assert enqueue(near, direct(number), DeliveryGuarantee=guarantee) is EnqueueStatus.NO_ERROR
    assert [host.bodies() for host in hosts] == [["body"] if host is hosts[number - 1] else [] for host in hosts]
    (position,) = queue_of(hosts[number - 1]).MessagePositionList
    assert position.MessageReference.DestinationMultiQueueFormatName is None
    assert position.MessageReference.ArrivalTime == near.network.now.utc_s


def test_each_of_several_queues_gets_a_copy_that_names_it_and_all(hosts):
    assert enqueue(hosts[0], SEVERAL) is EnqueueStatus.NO_ERROR
    for number, host in enumerate(hosts, 1):
        (position,) = queue_of(host).MessagePositionList
        message = position.MessageReference
        assert message.Body == b"body"
        assert message.DestinationQueueFormatName.lower() == direct(number).lower()
        assert message.DestinationMultiQueueFormatName.lower() == SEVERAL.lower()


def test_two_queues_of_one_queue_manager_both_get_it(hosts):
    hosts[1].core.queues.create_here(set_queue_defaults(OTHER), 0)
    name = f"{direct(2)},{direct(2, OTHER)}"
    assert enqueue(hosts[0], name) is EnqueueStatus.NO_ERROR
    assert (hosts[1].bodies(), hosts[1].bodies(OTHER)) == (["body"], ["body"])


@pytest.mark.parametrize("numbers", [(1, 2), (1, 1)])
def test_within_a_transaction_it_waits_for_the_commit(hosts, numbers):
    near = hosts[0]
    transaction = near.core.transaction_events.create_transaction(UUID(int=7), True)
    queues = [TRANSACTIONAL, "private$\\tx2"] if numbers == (1, 1) else [TRANSACTIONAL] * 2
    if numbers == (1, 1):
        described = set_queue_defaults(queues[1])
        described.Transactional = True
        near.core.queues.create_here(described, 0)
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
def test_the_status_of_a_refusal_ends_it(hosts, why, several):
    near, far = hosts
    descriptor = opened(near, SEVERAL if several else direct(1))
    single = descriptor.OpenQueueDescriptorCollection[0] if several else descriptor
    attributes = {}
    if why == "quota of the queue":
        queue_of(near).Quota = 0
    elif why == "flow control":
        near.core.quotas.begin_flow_control()
    elif why == "too late":
        attributes = {"SentTime": near.network.now.utc_s - 10, "TimeToReachQueue": 9}
    else:
        single.QueueReference = None
    assert enqueue(near, direct(1), descriptor=descriptor, **attributes) is REFUSALS[why]
    assert (near.bodies(), far.bodies()) == ([], [])


def test_flow_control_ends(hosts):
    near = hosts[0]
    assert near.adm()["QueueManager"]["Throttled"] is False
    near.core.quotas.begin_flow_control()
    assert near.adm()["QueueManager"]["Throttled"] is True
    assert enqueue(near, direct(1)) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
    near.core.quotas.end_flow_control()
    assert enqueue(near, direct(1)) is EnqueueStatus.NO_ERROR
    assert near.bodies() == ["body"]


def test_a_message_from_afar_comes_again_when_flow_control_has_ended(hosts):
    near, far = hosts
    far.core.quotas.begin_flow_control()
    near.send(direct(2), recoverable=True)
    near.network.advance(1_000)
    assert far.bodies() == []
    assert "quota of the queue manager" in far.closed[-1].reason
    far.core.quotas.end_flow_control()
    near.network.advance(120_000)
    assert far.bodies() == ["body"]


def test_no_more_go_out_than_the_configuration_admits():
    host = Network().host(1, max_outgoing_messages=1)
    assert enqueue(host, direct(9)) is EnqueueStatus.NO_ERROR
    assert enqueue(host, direct(9)) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
    (queue,) = host.core.adm.OutgoingQueues.values()
    (outgoing,) = queue.session.OutgoingMessageTable
    assert outgoing.UserMessage.UserHeader.QueueManagerAddress == NULL_GUID
