"""MS-MQDMPR 3.1.7.1.3 Create Queue: what a new queue is, and what comes with it."""

from __future__ import annotations

from functools import partial

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.applications import DONE, REFUSED, answered, asked

DEFAULTS = {
    "transactional": False,
    "label": "",
    "journaling": False,
    "quota_kb": 0xFFFF_FFFF,
    "journal_quota_kb": 0xFFFF_FFFF,
    "authenticated": False,
    "privacy": "optional",
    "base_priority": 0,
}
"""What Set Queue Defaults gives. Spec: MS-MQDMPR 3.1.7.1.33."""
GIVEN = {
    "transactional": True,
    "label": "every property",
    "journaling": True,
    "quota_kb": 4_096,
    "journal_quota_kb": 2_048,
    "authenticated": True,
    "privacy": "body",
    "base_priority": -5,
}
LISTED, NOT_LISTED = "listed", "not listed"


@needs("queue_control")
@covers("MQDMPR-3.1.7.1.3-02", "MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01")
def test_a_new_queue_has_what_was_given_and_else_the_defaults(sut, judge):
    """One queue is created with every property, one with none, and one for each property with that alone."""
    whole, bare = sut.new_queue("whole", **GIVEN), sut.new_queue("bare")
    judge("MQDMPR-3.1.7.1.3-02", expected=DEFAULTS, observed=_properties(sut, bare))
    judge(
        "MQDMPR-3.1.7.1.3-11",
        "MQDMPR-3.1.7.1.3-D01",
        expected={"name": whole, **GIVEN},
        observed={"name": _name(sut, whole), **_properties(sut, whole)},
    )
    for name, value in GIVEN.items():
        queue = sut.new_queue("one", **{name: value})
        observed = _properties(sut, queue)
        judge.all(expected={**DEFAULTS, name: value}, observed=observed)


def _properties(sut, queue):
    shown = sut.control.call("get_queue", name=queue)
    return {name: shown.get(name) for name in DEFAULTS}


def _name(sut, queue):
    shown = sut.control.call("get_queue", name=queue)["name"]
    return queue if shown.lower().endswith(queue.lower()) else shown


@needs("queue_control", "send", "receive")
@covers(
    "MQDMPR-3.1.7.1.3-06",
    "MQDMPR-3.1.7.1.3-09",
    "MQDMPR-3.1.7.1.3-10",
    "MQDMPR-3.1.7.1.3-D03",
    "MQDMPR-3.1.7.1.3-D07",
)
def test_a_new_queue_is_there_with_a_journal_of_its_own(sut, judge):
    """Two queues that were not there are there, private ones of this computer: what is received from one goes to its
    journal, which was empty, and not to that of the other.
    """
    one, other = (rf"private$\mqc-{sut.own}-{number}-made" for number in ("first", "second"))
    before = [_listed(sut, one), asked(sut, "get_queue", name=one)]
    for name in (one, other):
        sut.create_queue(name, journaling=True)
    after = [_listed(sut, one), asked(sut, "get_queue", name=one)]
    judge(
        "MQDMPR-3.1.7.1.3-06",
        "MQDMPR-3.1.7.1.3-D07",
        expected=[NOT_LISTED, REFUSED, LISTED, DONE],
        observed=[*before, *after],
    )
    private = sut.format_names(one).get("private", "no private format name")
    judge(
        "MQDMPR-3.1.7.1.3-D03",
        expected=holds("private"),
        observed=bool(private.upper().startswith(f"PRIVATE={sut.guid}\\".upper())) or private,
    )
    judge.finished("MQDMPR-3.1.7.1.3-06", "MQDMPR-3.1.7.1.3-D03", "MQDMPR-3.1.7.1.3-D07")
    journals = [asked(sut, "peek", queue=f"{name};journal") for name in (one, other)]
    if REFUSED in journals:
        judge("MQDMPR-3.1.7.1.3-09", "MQDMPR-3.1.7.1.3-10", expected=[DONE, DONE], observed=journals)
        return
    empty = [sut.labels(f"{name};journal") for name in (one, other)]
    judge("MQDMPR-3.1.7.1.3-09", expected=[[], []], observed=empty)
    for name in (one, other):
        sut.send(sut.direct_name(name), label=name)
        sut.control.call("receive", queue=name, timeout_ms=0)
    kept = [sut.labels(f"{name};journal") for name in (one, other)]
    judge("MQDMPR-3.1.7.1.3-09", "MQDMPR-3.1.7.1.3-10", expected=[[one], [other]], observed=kept)
    for name in (one, other):
        sut.control.call("purge", queue=f"{name};journal")


def _listed(sut, name):
    queues = (one["name"].lower() for one in sut.control.call("list")["queues"])
    return LISTED if name.lower() in queues else NOT_LISTED


NEW = {
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
def test_the_attributes_that_nobody_gives(sut, judge):
    """A new queue is empty, unused and of now; the subqueue of one has no journal, as its queue has."""
    name = sut.new_queue("new")
    shown = _shown(sut, name)
    judge("MQDMPR-3.1.7.1.3-D02", expected=NEW, observed={key: shown.get(key) for key in NEW})
    times = "now, twice" if shown["CreateTime"] == shown["ModifyTime"] > 0 else f"{shown['CreateTime']}, then another"
    qualified = shown["QualifiedPathname"]
    place = "on a computer" if qualified.lower().endswith(f"\\{name}".lower()) else qualified
    judge("MQDMPR-3.1.7.1.3-D02", expected=["now, twice", "on a computer"], observed=[times, place])
    sut.create_queue(f"{name};mqc-sub")
    shown = _shown(sut, name)
    journals = [shown["JournalQueueReference"], *(one["JournalQueueReference"] for one in shown["SubqueueCollection"])]
    observed = ["none" if one is None else "a journal" for one in journals]
    judge("MQDMPR-3.1.7.1.3-07", expected=["a journal", "none"], observed=observed)


def _shown(sut, name):
    queues = sut.inspect()["QueueManager"]["QueueCollection"]
    return next(one for one in queues if one["Pathname"].lower().endswith(name.lower()))


@needs("queue_control", "directory", "environment")
@covers(
    "MQDMPR-3.1.7.1.3-D03",
    "MQDMPR-3.1.7.1.3-D05",
    "MQDMPR-3.1.7.1.3-D06",
    "MQDMPR-3.1.7.1.4-13",
    "MQDMPR-3.1.7.1.4-14",
    "MQDMPR-3.1.7.1.4-16",
)
def test_a_public_queue_is_in_the_directory_as_long_as_it_is(peer, sut, judge):
    """A public queue is created, and deleted, in the directory, too; without the directory neither is done."""
    name, later = (f"mqc-{sut.own}-{one}" for one in ("public", "later"))
    there = [_published(sut, name)]
    sut.create_queue(name, label="published", quota_kb=77)
    there.append(_published(sut, name))
    public = sut.format_names(name).get("public", "no public format name")
    kinds = "public" if public.upper().startswith("PUBLIC=") and "private" not in sut.format_names(name) else public
    judge("MQDMPR-3.1.7.1.3-D03", expected="public", observed=kinds)
    judge("MQDMPR-3.1.7.1.3-D05", expected=["nothing", "published, 77", "public"], observed=[*there, kinds])
    judge.finished("MQDMPR-3.1.7.1.3-D03", "MQDMPR-3.1.7.1.3-D05")
    beside = [f"mqc-{sut.own}-{one}" for one in ("before", "beside")]
    for one in beside:
        sut.create_queue(one, label=one, quota_kb=1)
    deleted = answered(peer, sut, "delete_queue", name=name)
    observed = [deleted, _published(sut, name), _listed(sut, name)]
    judge("MQDMPR-3.1.7.1.4-13", expected=[DONE, "nothing", NOT_LISTED], observed=observed)
    left = [_published(sut, one) for one in (name, *beside)]
    judge("MQDMPR-3.1.7.1.4-14", expected=["nothing", *(f"{one}, 1" for one in beside)], observed=left)
    judge.finished("MQDMPR-3.1.7.1.4-13", "MQDMPR-3.1.7.1.4-14")
    for one in (name, later):  # with its object, the queue itself may go or not
        peer.at_end(partial(asked, sut, "delete_queue", name=one))
    sut.control.call("create_queue", name=name)
    sut.change_environment(directory=False)
    made = [asked(sut, "create_queue", name=later), _listed(sut, later)]
    judge("MQDMPR-3.1.7.1.3-D06", expected=[REFUSED, NOT_LISTED], observed=made)
    judge("MQDMPR-3.1.7.1.4-16", expected=REFUSED, observed=asked(sut, "delete_queue", name=name))
    sut.change_environment(directory=True)


def _published(sut, name):
    found = sut.published(queue=name)
    return "nothing" if found is None else f"{found['label']}, {found['quota_kb']}"
