"""MS-MQDMPR 3.1.7.1.3 Create Queue: queues with similar names, and extreme values of properties."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.expectations import distinct_values, each, holds, none
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome

pytestmark = needs("queue_control")

LONGEST_QUEUE_NAME_LENGTH, LONGEST_SUBQUEUE_NAME_LENGTH = 124, 32
"""The numbers of characters of the longest names. Spec: MS-MQMQ 2.1.1."""
HIGHEST_GUID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
EXTREME_QUEUE_PROPERTIES: tuple[dict[str, Any], ...] = (
    {"quota_kb": 0},
    {"journal_quota_kb": 0},
    {"quota_kb": 1, "journal_quota_kb": 0x7FFF_FFFF},
    {"base_priority": 32_767},
    {"base_priority": -32_768},
    {"base_priority": 256, "transactional": True},
    {"label": " \u00e4\u0416 two  spaces "},
    {"type": HIGHEST_GUID},
    {"privacy": "none", "authenticated": True},
    {"transactional": True, "authenticated": True, "journaling": True, "privacy": "body"},
)


@covers("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01")
def test_new_queue_has_extreme_values(sut, judge):
    """A new queue has the values that its creator supplies, including the lowest and the highest values, in any
    combination.
    """
    for properties in EXTREME_QUEUE_PROPERTIES:
        queue = sut.new_queue("extreme", **properties)
        shown = sut.control.call("get_queue", name=queue)
        judge.all(
            expected=properties,
            observed={name: shown.get(name) for name in properties if name in shown or name != "type"}
            | ({"type": str(shown["type"]).lower()} if "type" in properties and "type" in shown else {}),
        )


@covers("MQDMPR-3.1.7.1.3-D03", "MQDMPR-3.1.7.1.3-D04", "MQDMPR-3.1.7.1.3-D07")
def test_queues_with_similar_names_are_created(peer, sut, judge):
    """Private queues can be created with names of one and of 100 characters, with a name that is the beginning of
    another queue's name or begins with it, with PRIVATE$ in capital letters, and with a dollar sign at the end. The SUT
    lists all these queues. Their private format names differ, also after one queue was deleted and another was created.
    """
    base = f"mqc-{sut.own}-similar"
    names = [rf"private$\{one}" for one in (base, f"{base}-longer", base[:-2], base.ljust(100, "x"))]
    names += [rf"PRIVATE$\{base.upper()}-CAPITALS", rf"private$\{base}-dollar$"]
    created = {}
    for name in names:
        peer.call_at_end_of_test(partial(sut.attempt, "delete_queue", name=name))
        created[name] = sut.attempt(sut.create_queue, name)
    judge("MQDMPR-3.1.7.1.3-D07", expected=each(Outcome.DONE, "creation"), observed=created)
    judge("MQDMPR-3.1.7.1.3-D03", expected=each(Outcome.DONE, "creation of a private queue"), observed=created)
    listed = {one["name"].lower() for one in sut.control.call("list")["queues"]}
    missing = [name for name in names if name.lower() not in listed]
    judge("MQDMPR-3.1.7.1.3-D07", expected=none("queue that is not listed"), observed=missing)
    kept = [name for name in names if created[name] == Outcome.DONE and name.lower() in listed]
    formats = [sut.format_names(name).get("private", "no private format name") for name in kept]
    private = all(one.upper().startswith(f"PRIVATE={sut.guid}\\".upper()) for one in formats)
    judge(
        "MQDMPR-3.1.7.1.3-D03",
        expected=holds("each queue has a private name of this computer"),
        observed=private or ", ".join(formats),
    )
    if sut.has("inspect"):
        kinds = {name: sut.inspect_queue(name)["QueueType"] for name in kept}
        judge("MQDMPR-3.1.7.1.3-D03", expected=each("Private", "QueueType"), observed=kinds)
    sut.delete_queue(names[1])
    later = sut.new_queue("later")
    formats = [sut.format_names(name).get("private", name) for name in (*kept, later) if name != names[1]]
    judge("MQDMPR-3.1.7.1.3-D04", expected=distinct_values("private format names", len(formats)), observed=formats)


@covers("MQDMPR-3.1.7.1.3-05")
def test_path_name_with_two_suffixes_is_refused(peer, sut, judge):
    """A path name with two suffixes, which would name a subqueue of a subqueue, is invalid. The SUT creates neither a
    queue nor a subqueue with such a name.
    """
    queue = sut.new_queue("suffixes")
    attempts = {}
    for suffix in (";one;two", ";one;journal", ";journal;one"):
        peer.call_at_end_of_test(partial(sut.attempt, "delete_queue", name=f"{queue};one"))
        attempts[suffix] = sut.attempt("create_queue", name=f"{queue}{suffix}")
    judge("MQDMPR-3.1.7.1.3-05", expected=each(Outcome.REFUSED, "creation"), observed=attempts)
    listed = [one["name"] for one in sut.control.call("list")["queues"] if ";one" in one["name"].lower()]
    judge("MQDMPR-3.1.7.1.3-05", expected=none("subqueue"), observed=[one for one in listed if queue in one])


@needs("subqueues")
@covers("MQDMPR-3.1.7.1.3-05")
def test_refused_names_leave_no_queue(peer, sut, judge):
    """The SUT refuses to create a queue with a name of 125 characters, and subqueues with names of 33 and 64
    characters. It creates no queue with a shortened name, even if a subqueue with the first 32 characters exists.
    """
    queue = sut.new_queue("parent")
    long_name = rf"private$\{queue.partition(chr(92))[2].ljust(LONGEST_QUEUE_NAME_LENGTH + 1, 'm')}"
    names = [long_name, f"{queue};{'s' * 33}", f"{queue};{'t' * 64}", f"{queue};{'u' * 33}"]
    sut.create_queue(f"{queue};{'u' * LONGEST_SUBQUEUE_NAME_LENGTH}")
    list_names = partial(_list_queues_with_prefix, sut, queue)
    before = list_names()
    attempts = {}
    for name in names:
        peer.call_at_end_of_test(partial(sut.attempt, "delete_queue", name=name))
        attempts[f"{len(name.rpartition(';')[2].rpartition(chr(92))[2])} characters"] = sut.attempt(
            "create_queue", name=name
        )
    judge("MQDMPR-3.1.7.1.3-05", expected=each(Outcome.REFUSED, "creation"), observed=attempts)
    created = [name for name in list_names() if name not in before]
    judge("MQDMPR-3.1.7.1.3-05", expected=none("new queue"), observed=created)


def _list_queues_with_prefix(sut, base):
    """Return the names of the listed queues that begin with a name, in lower case."""
    names = [one["name"].lower() for one in sut.control.call("list")["queues"]]
    return [name for name in names if name.startswith(base.lower())]
