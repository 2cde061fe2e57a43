"""MS-MQDMPR 3.1.7.1.18, 3.1.7.1.19, 3.1.7.1.24: the directory objects of public queues."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise

CREATED = {"label": "as it was made", "quota_kb": 77, "journaling": True, "base_priority": 3}


@needs("directory", "environment", "queue_control")
@covers(
    "MQDMPR-3.1.7.1.18-02",
    "MQDMPR-3.1.7.1.18-D02",
    "MQDMPR-3.1.7.1.18-D04",
    "MQDMPR-3.1.7.1.24-03",
    "MQDMPR-3.1.7.1.24-09",
    "MQDMPR-3.1.7.1.19-07",
    "MQDMPR-3.1.7.1.19-13",
)
def test_public_queue_changes_are_in_directory(peer, sut, judge):
    """The directory object of a public queue has the properties of the queue's creation, then the changed label, and
    is deleted with the queue; the public format name has the object's GUID.
    """
    enterprise = Enterprise(peer, sut)
    name, first = enterprise.new_path_name(), enterprise.new_path_name()
    peer.at_end(lambda: sut.attempt("delete_queue", name=first))
    judge(
        "MQDMPR-3.1.7.1.18-D02",
        expected=Outcome.DONE,
        observed=PendingRequest(peer, "create_queue", name=first).await_outcome(),
    )
    made = sut.control.call("create_queue", name=name, **CREATED)
    found = enterprise.read_object(name)
    judge(
        "MQDMPR-3.1.7.1.18-02",
        "MQDMPR-3.1.7.1.18-D02",
        expected=CREATED,
        observed=_chosen(found),
    )
    named = str(made["format_names"].get("public", "")).lower()
    judge("MQDMPR-3.1.7.1.18-D04", expected=f"public={found.get('identifier', 'its GUID')}".lower(), observed=named)
    outcome = PendingRequest(peer, "set_queue", name=name, label="as it was changed").await_outcome()
    judge("MQDMPR-3.1.7.1.24-09", expected=Outcome.DONE, observed=outcome)
    changed = {**CREATED, "label": "as it was changed"}
    judge("MQDMPR-3.1.7.1.24-03", expected=changed, observed=_chosen(enterprise.read_object(name)))
    judge("MQDMPR-3.1.7.1.19-13", expected=Outcome.DONE, observed=sut.attempt(sut.delete_queue, name))
    judge("MQDMPR-3.1.7.1.19-07", expected=None, observed=_chosen(enterprise.read_object(name)))


def _chosen(found):
    """Return the properties of an object that the check gives; None when there is no object."""
    return {name: found[name] for name in CREATED} if found else None


@needs("directory", "environment", "set_timers", "queue_control")
@covers("MQDMPR-3.1.7.1.18-D03", "MQDMPR-3.1.7.1.19-11", "MQDMPR-3.1.7.1.24-07")
def test_public_queue_changes_are_refused_without_directory(peer, sut, judge):
    """Without the directory the SUT refuses to create, change and delete a public queue, and nothing changes at the
    SUT or in the directory.
    """
    enterprise = Enterprise(peer, sut)
    kept, name = enterprise.create_queue(label="kept"), enterprise.new_path_name()
    sut.change_environment(directory=False)
    created = sut.attempt(sut.create_queue, name)
    changed = sut.attempt("set_queue", name=kept, label="lost")
    deleted = sut.attempt(sut.delete_queue, kept)
    there = {queue["name"]: queue for queue in sut.control.call("list")["queues"]}
    label = sut.control.call("get_queue", name=kept)["label"] if kept in there else None
    of_new, of_kept = enterprise.read_object(name), enterprise.read_object(kept)
    judge(
        "MQDMPR-3.1.7.1.18-D03",
        expected={"answer": Outcome.REFUSED, "is_here": False, "published": {}},
        observed={"answer": created, "is_here": name in there, "published": of_new},
    )
    judge(
        "MQDMPR-3.1.7.1.24-07",
        expected={"answer": Outcome.REFUSED, "label": "kept", "published": "kept"},
        observed={"answer": changed, "label": label, "published": of_kept.get("label")},
    )
    judge(
        "MQDMPR-3.1.7.1.19-11",
        expected={"answer": Outcome.REFUSED, "is_here": True, "published": "kept"},
        observed={"answer": deleted, "is_here": kept in there, "published": of_kept.get("label")},
    )
