"""MS-MQDMPR 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.24, 3.1.7.1.25: public queues and the directory."""

from __future__ import annotations

from core_enterprise import PUBLIC, RECEIVER, SENDER, Enterprise

from reference_qm.directory import Queue, equals
from reference_qm.surface.commands import CreateQueue


def published(enterprise: Enterprise, pathname: str) -> Queue | None:
    found = enterprise.directory.read("Queue", equals("Pathname", pathname)).rDirectoryObject
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


def test_a_configured_queue_takes_over_what_is_published():
    host = Enterprise()[RECEIVER]
    queue = host.core.adm.QueueCollection["orders"]
    assert (queue.Identifier, queue.BasePriority, queue.PrivateQueueNumber) == (PUBLIC, 5, None)
