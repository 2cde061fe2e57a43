"""MS-MQDMPR 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.24, 3.1.7.1.25: public queues and the directory."""

from __future__ import annotations

from uuid import UUID

import pytest
from core_enterprise import PUBLIC, PUBLIC_NAME, RECEIVER, SENDER, Enterprise
from core_network import Network

from reference_qm.config import QueueSettings
from reference_qm.directory import Queue, build_equality_filter
from reference_qm.surface.commands import CreateQueue, DeleteQueue, GetQueue, SetQueue


def published(enterprise: Enterprise, pathname: str) -> Queue | None:
    found = enterprise.directory.read("Queue", build_equality_filter("Pathname", pathname)).rDirectoryObject
    return found if isinstance(found, Queue) else None


def test_a_public_queue_is_published_and_sent_to_by_its_identifier():
    enterprise = Enterprise()
    names = enterprise[RECEIVER].ask(CreateQueue("sales", label="of the year", base_priority=3))["format_names"]
    element = published(enterprise, "host4\\sales")
    assert element is not None
    assert (element.Label, element.BasePriority, element.Transactional) == ("of the year", 3, False)
    assert names["public"] == f"PUBLIC={str(element.Identifier).upper()}"
    assert "private" not in names
    local = enterprise[RECEIVER].core.adm.QueueCollection["sales"]
    assert (local.FullPath, local.DirectoryPath) == (element.FullPath, element.DirectoryPath)
    enterprise[SENDER].send(names["public"], b"sold")
    enterprise.settle()
    assert enterprise[RECEIVER].bodies("sales") == ["sold"]


def test_a_name_that_is_published_already_is_refused():
    enterprise = Enterprise()
    enterprise.directory.provision(Queue(Identifier=UUID(int=0x99), Pathname="host1\\taken"))
    assert "already exists" in enterprise[SENDER].refusal(CreateQueue("taken"))
    assert "taken" not in enterprise[SENDER].core.adm.QueueCollection


def test_public_queue_cannot_be_created_without_directory():
    enterprise = Enterprise()
    enterprise.directory.connected = False
    assert "MQ_ERROR_NO_DS" in enterprise[SENDER].refusal(CreateQueue("sales"))
    assert "a public queue needs a directory" in Network().host(1).refusal(CreateQueue("sales"))


def test_a_deleted_public_queue_leaves_the_directory():
    enterprise = Enterprise()
    enterprise[RECEIVER].ask(DeleteQueue("orders"))
    assert published(enterprise, "host4\\orders") is None
    assert "orders" not in enterprise[RECEIVER].core.adm.QueueCollection
    enterprise.settle()
    enterprise[SENDER].send(PUBLIC_NAME)
    assert enterprise[SENDER].adm()["OutgoingQueues"][0]["State"] == "NeedValidation"


def test_a_public_queue_is_not_deleted_while_the_directory_is_away():
    enterprise = Enterprise()
    enterprise.directory.connected = False
    refusal = enterprise[RECEIVER].refusal(DeleteQueue("orders"))
    assert "cannot be deleted from the directory (MQ_ERROR_NO_DS)" in refusal
    assert "orders" in enterprise[RECEIVER].core.adm.QueueCollection


def test_changed_properties_are_written_to_the_directory():
    enterprise = Enterprise()
    enterprise[RECEIVER].ask(SetQueue("orders", label="changed"))
    element = published(enterprise, "host4\\orders")
    assert element is not None
    assert element.Label == "changed"


def test_configured_queue_takes_over_published_identifier():
    host = Enterprise()[RECEIVER]
    queue = host.core.adm.QueueCollection["orders"]
    assert (queue.Identifier, queue.BasePriority, queue.PrivateQueueNumber) == (PUBLIC, 5, None)


def test_unpublished_configured_queue_is_published():
    enterprise = Enterprise()
    enterprise.join(SENDER, queues=(QueueSettings("new"),))
    element = published(enterprise, "host1\\new")
    assert element is not None
    assert enterprise[SENDER].core.adm.QueueCollection["new"].Identifier == element.Identifier


def test_returning_directory_updates_local_queue():
    enterprise = Enterprise()
    host = enterprise[RECEIVER]
    enterprise.directory.connected = False
    host.send(f"PUBLIC={UUID(int=0x98)}")
    assert host.core.enterprise.state.DirectoryOffline
    enterprise.directory.connected = True
    enterprise.update(Queue(Identifier=PUBLIC, Pathname="host4\\orders", Label="from the directory"))
    enterprise.settle(70)
    assert host.ask(GetQueue("orders"))["label"] == "from the directory"


def test_own_public_queues_are_known_while_offline():
    enterprise = Enterprise()
    host = enterprise[RECEIVER]
    enterprise.directory.connected = False
    host.send(f"PUBLIC={UUID(int=0x98)}")
    found = host.core.enterprise.find_queue(PUBLIC)
    assert found is not None
    assert found.Pathname == "host4\\orders"


@pytest.mark.parametrize("transactional", [False, True])
def test_messages_in_a_public_queue_survive_the_process(transactional):
    enterprise = Enterprise(network=Network())
    host = enterprise[RECEIVER]
    name = host.ask(CreateQueue("sales", transactional=transactional))["format_names"]["public"]
    kind = {"transactional": True} if transactional else {"recoverable": True}
    for number in range(3):
        enterprise[SENDER].send(name, str(number).encode(), **kind)
    enterprise.settle()
    assert isinstance(enterprise.network, Network)
    enterprise.network.kill(host)
    assert host.bodies("sales") == ["0", "1", "2"]
    enterprise[SENDER].send(name, b"3", **kind)
    enterprise.settle()
    assert host.bodies("sales") == ["0", "1", "2", "3"]
