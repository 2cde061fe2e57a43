"""MS-MQDMPR 3.1.7.1.3, 3.1.7.1.4: public queues have an object in the directory."""

import pytest
from core_enterprise import RECEIVER, SENDER, Enterprise
from queueing_made import one_host

from reference_qm.surface.commands import CreateQueue, DeleteQueue, Inspect, ReceiveMessage


@pytest.fixture
def enterprise():
    return Enterprise()


def test_a_public_queue_is_published_and_found_by_its_identifier_from_elsewhere(enterprise):
    names = enterprise[RECEIVER].ask(CreateQueue("invoices", label="in", base_priority=3))["format_names"]
    assert names["public"].startswith("PUBLIC=")
    queue = enterprise[RECEIVER].core.adm.QueueCollection["invoices"]
    found = enterprise[SENDER].core.enterprise.find_queue(queue.Identifier)
    assert (found.Pathname, found.Label, found.BasePriority) == (f"host{RECEIVER}\\invoices", "in", 3)
    assert queue.PrivateQueueNumber is None
    enterprise[SENDER].send(names["public"], b"over the sites")
    enterprise.network.settle()
    assert enterprise[RECEIVER].ask(ReceiveMessage("invoices"))["message"]["body"] == "over the sites"


def test_public_queue_and_its_messages_survive_restart(enterprise):
    host = one_host(directory=enterprise.directory)
    host.ask(CreateQueue("invoices", quota_kb=77))
    host.ask(CreateQueue("invoices;paid"))
    identifier = host.core.adm.QueueCollection["invoices"].Identifier
    host.send(f"PUBLIC={identifier}", b"recoverable", recoverable=True)
    host.network.kill(host)
    queue = host.core.adm.QueueCollection["invoices"]
    assert (queue.Identifier, queue.Quota, queue.PrivateQueueNumber) == (identifier, 77, None)
    assert [*queue.SubqueueCollection] == ["paid"]
    assert host.bodies("invoices") == ["recoverable"]


def test_deleted_public_queue_is_removed_from_the_directory(enterprise):
    host = enterprise[RECEIVER]
    host.ask(CreateQueue("invoices"))
    identifier = host.core.adm.QueueCollection["invoices"].Identifier
    host.ask(DeleteQueue("invoices"))
    assert host.core.enterprise.find_queue(identifier) is None
    host.ask(CreateQueue("invoices"))


def test_a_queue_that_the_directory_does_not_take_is_not_created(enterprise):
    host = enterprise[RECEIVER]
    enterprise.directory.connected = False
    assert "MQ_ERROR_NO_DS" in host.refusal(CreateQueue("invoices"))
    assert "invoices" not in host.core.adm.QueueCollection


def test_inspection_shows_queues_and_open_queue_descriptors(enterprise):
    host = enterprise[RECEIVER]
    host.ask(CreateQueue("invoices"))
    host.begin(ReceiveMessage("invoices", timeout_ms=1_000))
    tree = next(one for one in host.ask(Inspect())["adm"]["QueueManager"]["QueueCollection"] if one["Label"] == "")
    trees = {one["Pathname"]: one for one in host.ask(Inspect())["adm"]["QueueManager"]["QueueCollection"]}
    assert tree["Quota"] == 0xFFFFFFFF
    assert trees["invoices"]["Active"] is True
    (descriptor,) = trees["invoices"]["OpenQueueDescriptorCollection"]
    assert descriptor["AccessType"] == "ReceiveAccess"
    assert [one["DestructiveRead"] for one in descriptor["WaitingMessageReadOperationCollection"]] == [True]
