"""MS-MQDMPR 3.1.7.1.3, 3.1.7.1.33: creating queues."""

import base64

import pytest
from core_secure import ALICE, sender_config
from queueing_made import PLAIN, one_host, queue_of

from harness.faults.parts import override_method
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing
from reference_qm.core.queueing.queue_lifecycle import make_queue_with_defaults
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.statuses import Status
from reference_qm.security import ANONYMOUS_SID, EVERYONE_SID, Ace, AceType, Acl, SecurityDescriptor
from reference_qm.surface.commands import CreateQueue, GetQueue, ListQueues, SetQueue

SACL = bytes.fromhex("0200080000000000")
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


def test_new_queue_has_requested_properties_and_own_journal(host):
    host.ask(CreateQueue(NEW, transactional=True, **ASKED))
    queue = queue_of(host, NEW)
    assert (queue.Label, queue.Journaling, queue.Quota, queue.JournalQuota) == ("orders", True, 10, 20)
    assert (queue.Authentication, queue.PrivacyLevel, queue.BasePriority) == (True, PrivacyLevel.BODY, -5)
    assert (queue.Transactional, queue.QueueType) == (True, QueueType.PRIVATE)
    assert (queue.CreateTime, queue.ModifyTime) == (host.network.now.utc_s,) * 2
    assert queue.QualifiedPathname == f"host1\\{NEW}"
    assert queue.JournalQueueReference is not None
    assert (queue.JournalQueueReference.QueueType, queue.JournalQueueReference.parent) == (QueueType.SYSTEM, queue)
    assert queue.SubqueueCollection == {}
    assert host.bodies(f"{NEW};journal") == []


def test_queue_keeps_its_given_security_descriptor_after_restart(host):
    given = SecurityDescriptor(ANONYMOUS_SID, None, Acl((Ace(AceType.ACCESS_ALLOWED, 4, EVERYONE_SID),)), 0x8014, SACL)
    host.ask(CreateQueue(NEW, security=given.build()))
    assert (queue_of(host, NEW).Security.Dacl, queue_of(host, NEW).Security.Sacl) == (given.Dacl, SACL)
    host.restart()
    assert (queue_of(host, NEW).Security.Dacl, queue_of(host, NEW).Security.Sacl) == (given.Dacl, SACL)


def test_invalid_security_descriptor_is_refused_in_one_line(host):
    refused = host.refusal(CreateQueue(NEW, security=b"\1"))
    assert refused.startswith("security: ")
    assert refused.endswith("give a self-relative SECURITY_DESCRIPTOR (MS-DTYP 2.4.6)")


def test_every_private_queue_has_a_number_and_an_identifier_of_its_own(host):
    for number in range(5):
        host.ask(CreateQueue(f"private$\\q{number}"))
    queues = host.core.adm.QueueCollection.values()
    assert len({queue.PrivateQueueNumber for queue in queues}) == len({queue.Identifier for queue in queues}) == 7


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
    """Raise the event Create Queue, and return its result."""
    returned = []
    host.core.queue_lifecycle.create(
        make_queue_with_defaults(pathname), 7, lambda *values: returned.append(values), **named
    )
    (values,) = returned
    return values


def answers(host, status):
    """Let the directory answer the creation of every object with the given status."""
    replace_part_by_subclass(
        host.core,
        override_method(PublicQueuePublishing.publish, lambda original: lambda qm, queue, published: published(status)),
    )


@pytest.mark.parametrize("name", REFUSED)
def test_refused_creation_has_a_status_and_no_effect(host, name):
    pathname, status = REFUSED[name]
    before = dict(host.core.adm.QueueCollection)
    assert created(host, pathname) == (status, None)
    assert host.core.adm.QueueCollection == before


def test_a_public_queue_is_created_when_the_directory_has_it(host):
    answers(host, Status.MQ_OK)
    status, queue = created(host, "public")
    assert (status, queue.QueueType, queue.PrivateQueueNumber) == (Status.MQ_OK, QueueType.PUBLIC, None)
    answers(host, Status.MQ_ERROR_NO_DS)
    assert created(host, "other") == (Status.MQ_ERROR_NO_DS, None)
    status, queue = created(host, "other", skip_directory=True)
    assert status is Status.MQ_OK


def test_subqueue_inherits_properties_of_its_queue_and_has_no_journal(host):
    host.ask(CreateQueue(NEW, transactional=True, **ASKED))
    assert host.ask(CreateQueue(f"{NEW};sub"))["format_names"] == {"direct": f"DIRECT=TCP:10.0.0.1\\{NEW};sub"}
    queue, subqueue = queue_of(host, NEW), queue_of(host, NEW).SubqueueCollection["sub"]
    assert (subqueue.Transactional, subqueue.Quota, subqueue.parent) == (True, 10, queue)
    assert subqueue.JournalQueueReference is None
    assert "already exists" in host.refusal(CreateQueue(f"{NEW};SUB"))
    assert host.bodies(f"{NEW};sub") == []


def test_queue_properties_can_be_read_and_changed(host):
    host.ask(CreateQueue(NEW, **ASKED))
    read = host.ask(GetQueue(NEW))
    security = base64.b64encode(queue_of(host, NEW).Security.build()).decode()
    assert read == {"name": NEW, "transactional": False, "count": 0, "bytes": 0, "security_base64": security, **SHOWN}
    host.network.advance(5_000)
    override_method = host.ask(SetQueue(NEW, label="other", quota_kb=99, privacy="none"))
    assert override_method == read | {"label": "other", "quota_kb": 99, "privacy": "none"}
    assert queue_of(host, NEW).ModifyTime == queue_of(host, NEW).CreateTime + 5


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
def test_refused_queue_creation_names_the_invalid_property(host, request_, part):
    before = host.ask(ListQueues())
    assert part in host.refusal(request_)
    assert host.ask(ListQueues()) == before


def test_queue_keeps_all_properties_and_subqueues_after_restart():
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
    shown = host.ask(GetQueue(NEW))
    assert shown.items() >= ({"name": NEW, "transactional": True, "count": 0, **SHOWN} | {"label": "changed"}).items()
    assert [*after.SubqueueCollection] == ["sub"]
    assert host.ask(CreateQueue("private$\\later")) is not None
    assert queue_of(host, "private$\\later").PrivateQueueNumber > after.PrivateQueueNumber


def test_a_domain_user_owns_the_queue_that_he_creates():
    host = one_host(security=sender_config())
    host.ask(CreateQueue(NEW, owner=ALICE.name))
    host.ask(CreateQueue("private$\\bare"))
    owned, bare = queue_of(host, NEW).Security, queue_of(host, "private$\\bare").Security
    assert (owned.Owner, bare.Owner) == (ALICE.SecurityIdentifier, ANONYMOUS_SID)
    assert [ace.Sid for ace in owned.Dacl.Aces] == [EVERYONE_SID, ALICE.SecurityIdentifier]
    host.network.kill(host)
    assert queue_of(host, NEW).Security.build() == owned.build()
    assert "'nobody' is not a known account" in host.refusal(CreateQueue("private$\\else", owner="nobody"))
