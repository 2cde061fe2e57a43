"""MS-MQDMPR 3.1.7.1.3, 3.1.7.1.33: creating queues."""

import pytest
from queueing_made import PLAIN, one_host, queue_of

from reference_qm.core.queueing.queues import set_queue_defaults
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CreateQueue, GetQueue, ListQueues, SetQueue

NEW = "private$\\new"
ASKED = {
    "label": "orders",
    "journaling": True,
    "quota_kb": 10,
    "journal_quota_kb": 20,
    "authenticated": True,
    "privacy": "body",
    "base_priority": -5,
}
SHOWN = {**ASKED, "type": "00000000-0000-0000-0000-000000000000"}


def test_what_is_no_descriptor_is_refused_in_one_line(host):
    refused = host.refusal(CreateQueue(NEW, security=b"\1"))
    assert refused.startswith("security: ")
    assert refused.endswith("give a self-relative SECURITY_DESCRIPTOR (MS-DTYP 2.4.6)")


REFUSED = {
    "no path": ("private$\\", Status.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME),
    "journal": (f"{PLAIN};journal", Status.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME),
    "system queue": ("system$;journal", Status.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME),
    "order queue": ("private$\\ORDER_queue$", Status.MQ_ERROR_ACCESS_DENIED),
    "exists": (PLAIN.upper(), Status.MQ_ERROR_QUEUE_EXISTS),
    "subqueue of none": ("private$\\none;sub", Status.MQ_ERROR_QUEUE_NOT_FOUND),
    "public without directory": ("public", Status.MQ_ERROR_UNSUPPORTED_OPERATION),
}


def created(host, pathname, **named):
    """Return the result of Create Queue."""
    returned = []
    host.core.queues.create(set_queue_defaults(pathname), 7, lambda *values: returned.append(values), **named)
    (values,) = returned
    return values


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_created_has_a_status_and_changes_nothing(host, name):
    pathname, status = REFUSED[name]
    before = dict(host.core.adm.QueueCollection)
    assert created(host, pathname) == (status, None)
    assert host.core.adm.QueueCollection == before


@pytest.mark.parametrize(
    ("request_", "part"),
    [
        (CreateQueue(NEW, quota_kb=-1), "quota_kb"),
        (CreateQueue(NEW, base_priority=0x8000), "base_priority"),
        (CreateQueue(NEW, privacy="secret"), "privacy"),
        (CreateQueue(NEW, label="x" * 125), "label"),
        (SetQueue(PLAIN, journal_quota_kb=1 << 32), "journal_quota_kb"),
        (SetQueue("system$;journal", label="x"), "no properties"),
        (GetQueue("private$\\none"), "create it first"),
    ],
)
def test_a_refusal_names_the_thing(host, request_, part):
    before = host.ask(ListQueues())
    assert part in host.refusal(request_)
    assert host.ask(ListQueues()) == before


def test_a_queue_survives_with_all_its_properties_and_subqueues():
    host = one_host()
    host.ask(CreateQueue(NEW, transactional=True, **ASKED))
    host.ask(CreateQueue(f"{NEW};sub"))
    host.ask(SetQueue(NEW, label="changed"))
    before = queue_of(host, NEW)
    host.network.kill(host)
    after = queue_of(host, NEW)
    assert after is not before
    for name in ("Identifier", "PrivateQueueNumber", "CreateTime", "Quota", "BasePriority", "QueueType"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.Security.build() == before.Security.build()
    assert host.ask(GetQueue(NEW)) == {"name": NEW, "transactional": True, "count": 0, "bytes": 0, **SHOWN} | {
        "label": "changed"
    }
    assert [*after.SubqueueCollection] == ["sub"]
    assert host.ask(CreateQueue("private$\\later")) is not None
    assert queue_of(host, "private$\\later").PrivateQueueNumber > after.PrivateQueueNumber
