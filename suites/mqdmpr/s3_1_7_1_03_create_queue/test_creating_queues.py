"""MS-MQDMPR 3.1.7.1.3 Create Queue: the attributes, the journal and the directory object of a new queue."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from harness.expectations import distinct_values, each, holds, in_queue
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.mqdmpr.steps.directory import Enterprise

DEFAULT_QUEUE_PROPERTIES = {
    "transactional": False,
    "label": "",
    "journaling": False,
    "quota_kb": 0xFFFF_FFFF,
    "journal_quota_kb": 0xFFFF_FFFF,
    "authenticated": False,
    "privacy": "optional",
    "base_priority": 0,
}
"""The default values that the event Set Queue Defaults assigns. Spec: MS-MQDMPR 3.1.7.1.33."""
SUPPLIED_QUEUE_PROPERTIES = {
    "transactional": True,
    "label": "every property".ljust(124, "."),
    "journaling": True,
    "quota_kb": 0x8000_1000,
    "journal_quota_kb": 0xFFFF_FFFE,
    "authenticated": True,
    "privacy": "body",
    "base_priority": -5,
}
"""Values that differ from the defaults: the longest label, and quotas that need 32 bits."""
DEFAULT_QUEUE_TYPE, SUPPLIED_QUEUE_TYPE = UUID(int=0), UUID("6d71636f-6e66-4f72-8d00-00000000000c")


@needs("queue_control")
@covers("MQDMPR-3.1.7.1.3-02", "MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01")
def test_new_queue_has_supplied_and_default_properties(sut, judge):
    """A new queue has the properties that its creator supplies, whether these are all properties or only one. Each
    property that is not supplied has its default.
    """
    whole = sut.new_queue("whole", type=str(SUPPLIED_QUEUE_TYPE), **SUPPLIED_QUEUE_PROPERTIES)
    bare = sut.new_queue("bare")
    types = [sut.control.call("get_queue", name=queue).get("type") for queue in (whole, bare)]
    if None not in types:
        for rule, expected, found in zip(
            ("MQDMPR-3.1.7.1.3-D01", "MQDMPR-3.1.7.1.3-02"),
            (SUPPLIED_QUEUE_TYPE, DEFAULT_QUEUE_TYPE),
            types,
            strict=True,
        ):
            judge(rule, expected=expected, observed=UUID(str(found)), case="Type of the queue")
    judge("MQDMPR-3.1.7.1.3-02", expected=DEFAULT_QUEUE_PROPERTIES, observed=_read_queue_properties(sut, bare))
    judge(
        "MQDMPR-3.1.7.1.3-11",
        "MQDMPR-3.1.7.1.3-D01",
        expected={"name": whole, **SUPPLIED_QUEUE_PROPERTIES},
        observed={"name": _read_queue_name(sut, whole), **_read_queue_properties(sut, whole)},
    )
    for name, value in SUPPLIED_QUEUE_PROPERTIES.items():
        queue = sut.new_queue("one", **{name: value})
        observed = _read_queue_properties(sut, queue)
        judge.all(expected={**DEFAULT_QUEUE_PROPERTIES, name: value}, observed=observed)


def _read_queue_properties(sut, queue):
    properties = sut.control.call("get_queue", name=queue)
    return {name: properties.get(name) for name in DEFAULT_QUEUE_PROPERTIES}


def _read_queue_name(sut, queue):
    name = sut.control.call("get_queue", name=queue)["name"]
    return queue if name.lower().endswith(queue.lower()) else name


@needs("queue_control", "send", "receive")
@covers(
    "MQDMPR-3.1.7.1.3-06",
    "MQDMPR-3.1.7.1.3-09",
    "MQDMPR-3.1.7.1.3-10",
    "MQDMPR-3.1.7.1.3-D03",
    "MQDMPR-3.1.7.1.3-D07",
)
@varied("time to reach queue", "application tag", "trace", "body", "read by")
def test_new_queue_is_listed_with_own_empty_journal(sut, judge):
    """The SUT creates two queues, and it creates and deletes a transactional queue twice. The SUT lists the first two
    queues, each with a private format name and an empty journal. A message that is received from a queue is stored only
    in the journal of that queue. A new queue with the name of a deleted queue has an empty journal.
    """
    one, other = (rf"private$\mqc-{sut.own}-{number}-made" for number in ("first", "second"))
    was_listed, get_before = _is_queue_listed(sut, one), sut.attempt("get_queue", name=one)
    for name in (one, other):
        sut.create_queue(name, journaling=True)
    is_listed, get_after = _is_queue_listed(sut, one), sut.attempt("get_queue", name=one)
    third = rf"private$\mqc-{sut.own}-transactional-made"
    queries = [get_before, get_after]
    for _ in range(2):
        sut.create_queue(third, transactional=True, label="transactional")
        queries.append(sut.attempt("get_queue", name=third))
        sut.attempt("delete_queue", name=third)
        queries.append(sut.attempt("get_queue", name=third))
    judge(
        "MQDMPR-3.1.7.1.3-06",
        expected=[Outcome.REFUSED, Outcome.DONE, *[Outcome.DONE, Outcome.REFUSED] * 2],
        observed=queries,
        case="queries of a queue before and after its creation, and after each creation and deletion of another queue",
    )
    judge(
        "MQDMPR-3.1.7.1.3-D07",
        expected=[False, True],
        observed=[was_listed, is_listed],
        case="queue is listed before and after the creation",
    )
    private = sut.format_names(one).get("private", "no private format name")
    judge(
        "MQDMPR-3.1.7.1.3-D03",
        expected=holds("a private name of this computer"),
        observed=bool(private.upper().startswith(f"PRIVATE={sut.guid}\\".upper())) or private,
        case="format name",
    )
    judge.conclude("MQDMPR-3.1.7.1.3-06", "MQDMPR-3.1.7.1.3-D03", "MQDMPR-3.1.7.1.3-D07")
    journals = [sut.attempt("peek", queue=f"{name};journal") for name in (one, other)]
    if Outcome.REFUSED in journals:
        judge(
            "MQDMPR-3.1.7.1.3-09",
            "MQDMPR-3.1.7.1.3-10",
            expected=each(Outcome.DONE, "peek of a journal"),
            observed=journals,
        )
        return
    new = {name: sut.labels(f"{name};journal") for name in (one, other)}
    judge("MQDMPR-3.1.7.1.3-09", expected=each(in_queue(), "journal"), observed=new)
    for name in (one, other):
        sut.send(sut.direct_name(name), label=name)
        sut.control.call("receive", queue=name, timeout_ms=0)
    labels_of_journals = {name: sut.labels(f"{name};journal") for name in (one, other)}
    judge(
        "MQDMPR-3.1.7.1.3-09",
        "MQDMPR-3.1.7.1.3-10",
        expected={one: [one], other: [other]},
        observed=labels_of_journals,
        case="labels in the journal of each queue",
    )
    sut.delete_queue(one)
    sut.create_queue(one, journaling=True)
    judge(
        "MQDMPR-3.1.7.1.3-09",
        expected={one: [], other: [other]},
        observed={name: sut.labels(f"{name};journal") for name in (one, other)},
        case="labels in the journals after the first queue was deleted and created again",
    )
    for name in (one, other):
        sut.control.call("purge", queue=f"{name};journal")


def _is_queue_listed(sut, name):
    return name.lower() in [one["name"].lower() for one in sut.control.call("list")["queues"]]


INITIAL_QUEUE_ATTRIBUTES = {
    "Active": False,
    "TotalBytes": 0,
    "MessageCount": 0,
    "QueueType": "Private",
    "Scope": "Enterprise",
    "FullPath": "",
    "DirectoryPath": "",
    "SubqueueCollection": [],
    "OpenQueueDescriptorCollection": [],
    "IncomingTransactionalTransferInfoCollection": [],
}


@needs("queue_control", "inspect", "subqueues")
@covers("MQDMPR-3.1.7.1.3-07", "MQDMPR-3.1.7.1.3-D02")
@varied("queue quota", "queue privacy")
def test_new_queue_is_empty_inactive_and_has_journal(sut, judge):
    """In the SUT's data model, a new queue is empty and inactive, has no open handles, and has a journal; its
    CreateTime equals its ModifyTime. Its subqueues, and the subqueue of a transactional queue, have no journal.
    """
    name = sut.new_queue("new", journaling=True)
    inspected = sut.inspect_queue(name)
    judge(
        "MQDMPR-3.1.7.1.3-D02",
        expected=INITIAL_QUEUE_ATTRIBUTES,
        observed={key: inspected.get(key) for key in INITIAL_QUEUE_ATTRIBUTES},
    )
    created, qualified = inspected["CreateTime"], inspected["QualifiedPathname"]
    judge(
        "MQDMPR-3.1.7.1.3-D02",
        expected={
            "CreateTime": holds("equal to the ModifyTime"),
            "QualifiedPathname": holds("the path name after a computer name"),
        },
        observed={
            "CreateTime": created == inspected["ModifyTime"] > 0 or created,
            "QualifiedPathname": qualified.lower().endswith(f"\\{name}".lower()) or qualified,
        },
    )
    transactional = sut.new_queue("new-transactional", transactional=True)
    for subqueue in (f"{name};mqc-sub", f"{name};mqc-sub-2", f"{transactional};mqc-sub"):
        sut.create_queue(subqueue)
    inspected = sut.inspect_queue(name)
    subqueues = [*inspected["SubqueueCollection"], *sut.inspect_queue(transactional)["SubqueueCollection"]]
    judge(
        "MQDMPR-3.1.7.1.3-07",
        expected={
            "JournalQueueReference": holds("a journal queue", otherwise="no journal queue"),
            "journals of the subqueues": [None] * 3,
        },
        observed={
            "JournalQueueReference": inspected["JournalQueueReference"] is not None,
            "journals of the subqueues": [one["JournalQueueReference"] for one in subqueues],
        },
    )


@needs("queue_control", "directory", "environment", "send", "receive")
@covers(
    "MQDMPR-3.1.7.1.3-10",
    "MQDMPR-3.1.7.1.3-D03",
    "MQDMPR-3.1.7.1.3-D05",
    "MQDMPR-3.1.7.1.3-D06",
)
def test_new_public_queue_has_directory_object_or_is_refused(peer, sut, judge):
    """A new public queue has a directory object with its properties, only a public format name, and a journal. A second
    public queue, which is transactional, has the identifier and the paths of its own object; each DirectoryPath is an
    LDAP path to the FullPath. While the directory is
    unavailable, the SUT refuses to create a queue, and this queue does not exist when the directory is available again.
    """
    name, later = (f"mqc-{sut.own}-{one}" for one in ("public", "later"))
    object_before = _read_directory_object(sut, name)
    sut.create_queue(name, label="published", quota_kb=77, journaling=True)
    names = sut.format_names(name)
    public = names.get("public", "no public format name")
    kind = (public.upper().startswith("PUBLIC=") and "private" not in names) or public
    object_after = _read_directory_object(sut, name)
    judge("MQDMPR-3.1.7.1.3-D03", expected=holds("only a public name"), observed=kind, case="format name")
    judge(
        "MQDMPR-3.1.7.1.3-D05",
        expected={
            "directory_object_before": None,
            "directory_object_after": {"label": "published", "quota_kb": 77},
            "format_name": holds("only a public name"),
        },
        observed={
            "directory_object_before": object_before,
            "directory_object_after": object_after,
            "format_name": kind,
        },
    )
    second = f"mqc-{sut.own}-second"
    sut.create_queue(second, label="second", transactional=True)
    published = {one: (sut.read_directory_object(queue=one) or {}).get("identifier", "") for one in (name, second)}
    judge(
        "MQDMPR-3.1.7.1.3-D05",
        expected={one: f"public={identifier}".lower() for one, identifier in published.items()},
        observed={one: sut.format_names(one).get("public", "").lower() for one in published},
        case="public format names",
    )
    if sut.has("inspect"):
        inspected = {one: sut.inspect_queue(one) for one in (name, second)}
        for path in ("FullPath", "DirectoryPath"):
            judge(
                "MQDMPR-3.1.7.1.3-D05",
                expected=distinct_values(f"values of {path}", len(inspected)),
                observed=[one[path] for one in inspected.values()],
                case="two public queues",
            )
        judge(
            "MQDMPR-3.1.7.1.3-D05",
            expected=each(holds("an LDAP path that ends with the FullPath"), "DirectoryPath"),
            observed={one: _ends_with_full_path(queue) or queue["DirectoryPath"] for one, queue in inspected.items()},
            case="DirectoryPaths of the public queues",
        )
        judge(
            "MQDMPR-3.1.7.1.3-D05",
            expected=published,
            observed={one: str(queue["Identifier"]).lower() for one, queue in inspected.items()},
            case="Identifiers of the public queues",
        )
    sut.send(sut.direct_name(name), label="journaled")
    sut.control.call("receive", queue=name, timeout_ms=0)
    judge(
        "MQDMPR-3.1.7.1.3-10",
        expected=["journaled"],
        observed=sut.labels(f"{name};journal"),
        case="labels in the journal",
    )
    sut.control.call("purge", queue=f"{name};journal")
    judge.conclude("MQDMPR-3.1.7.1.3-10", "MQDMPR-3.1.7.1.3-D03", "MQDMPR-3.1.7.1.3-D05")
    peer.call_at_end_of_test(partial(sut.attempt, "delete_queue", name=later))
    sut.change_environment(directory=False)
    judge(
        "MQDMPR-3.1.7.1.3-D06",
        expected={"creation of a later queue": Outcome.REFUSED, "later queue is listed": False},
        observed={
            "creation of a later queue": sut.attempt("create_queue", name=later),
            "later queue is listed": _is_queue_listed(sut, later),
        },
    )
    sut.change_environment(directory=True)
    Enterprise(peer, sut).await_expiry_of_online_timer()
    judge(
        "MQDMPR-3.1.7.1.3-D06",
        expected={"later queue is listed": False, "directory_object": None},
        observed={
            "later queue is listed": _is_queue_listed(sut, later),
            "directory_object": _read_directory_object(sut, later),
        },
        case="when the directory is available again",
    )


def _ends_with_full_path(queue):
    """Return whether the DirectoryPath of a public queue is an LDAP path to its FullPath (MS-MQDSSM 3.1.6.11.2)."""
    path, full_path = (str(queue[name]).lower() for name in ("DirectoryPath", "FullPath"))
    return bool(full_path) and path.startswith("ldap://") and path.endswith(full_path)


def _read_directory_object(sut, name):
    directory_object = sut.read_directory_object(queue=name)
    return None if directory_object is None else {name: directory_object[name] for name in ("label", "quota_kb")}
