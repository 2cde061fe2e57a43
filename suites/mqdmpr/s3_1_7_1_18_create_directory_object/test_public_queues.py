"""MS-MQDMPR 3.1.7.1.18, .19, .24: public queues are created, written and deleted in the directory."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import DONE, REFUSED, answered, asked
from suites.mqdmpr.steps.directory import CREATED, Enterprise, chosen

NEEDS = needs("directory", "environment", "queue_control")
NO_OBJECT = "no object"


@NEEDS
@covers(
    "MQDMPR-3.1.7.1.18-02",
    "MQDMPR-3.1.7.1.18-D02",
    "MQDMPR-3.1.7.1.18-D04",
    "MQDMPR-3.1.7.1.24-03",
    "MQDMPR-3.1.7.1.24-09",
    "MQDMPR-3.1.7.1.19-07",
    "MQDMPR-3.1.7.1.19-13",
)
def test_a_public_queue_is_in_the_directory_while_it_is_there(peer, sut, judge):
    """It is found there as it was made, by the GUID of its format name, then as it was changed, then not any more."""
    enterprise = Enterprise(peer, sut)
    name, first = enterprise.new_name(), enterprise.new_name()
    peer.at_end(lambda: asked(sut, "delete_queue", name=first))
    judge("MQDMPR-3.1.7.1.18-D02", expected=DONE, observed=answered(peer, sut, "create_queue", name=first))
    made = sut.control.call("create_queue", name=name, **CREATED)
    found = enterprise.published(name)
    judge(
        "MQDMPR-3.1.7.1.18-02",
        "MQDMPR-3.1.7.1.18-D02",
        expected=chosen(CREATED, *CREATED),
        observed=chosen(found, *CREATED),
    )
    named = str(made["format_names"].get("public", "")).lower()
    judge("MQDMPR-3.1.7.1.18-D04", expected=f"public={found.get('identifier', 'its GUID')}".lower(), observed=named)
    outcome = answered(peer, sut, "set_queue", name=name, label="as it was changed")
    judge("MQDMPR-3.1.7.1.24-09", expected=DONE, observed=outcome)
    changed = {**CREATED, "label": "as it was changed"}
    found = enterprise.published(name)
    judge("MQDMPR-3.1.7.1.24-03", expected=chosen(changed, *CREATED), observed=chosen(found, *CREATED))
    judge("MQDMPR-3.1.7.1.19-13", expected=DONE, observed=enterprise.outcome("delete_queue", name=name))
    found = enterprise.published(name)
    judge("MQDMPR-3.1.7.1.19-07", expected=NO_OBJECT, observed=chosen(found, "label"))


@needs("directory", "environment", "set_timers", "queue_control")
@covers("MQDMPR-3.1.7.1.18-D03", "MQDMPR-3.1.7.1.19-11", "MQDMPR-3.1.7.1.24-07")
def test_without_the_directory_nothing_public_is_changed(peer, sut, judge):
    """A queue is not made, and one that there is is neither changed nor deleted, here or there."""
    enterprise = Enterprise(peer, sut)
    kept, name = enterprise.create(label="kept"), enterprise.new_name()
    enterprise.take_away()
    created = enterprise.outcome("create_queue", name=name)
    changed = enterprise.outcome("set_queue", name=kept, label="lost")
    deleted = enterprise.outcome("delete_queue", name=kept)
    there = {queue["name"]: queue for queue in sut.control.call("list")["queues"]}
    label = sut.control.call("get_queue", name=kept)["label"] if kept in there else NO_OBJECT
    of_new, of_kept = enterprise.published(name), enterprise.published(kept)
    judge(
        "MQDMPR-3.1.7.1.18-D03",
        expected=f"{REFUSED}: not here, no object",
        observed=f"{created}: {'' if name in there else 'not '}here, {chosen(of_new, 'label')}",
    )
    judge(
        "MQDMPR-3.1.7.1.24-07",
        expected=f"{REFUSED}: kept here, label kept",
        observed=f"{changed}: {label} here, {chosen(of_kept, 'label')}",
    )
    judge(
        "MQDMPR-3.1.7.1.19-11",
        expected=f"{REFUSED}: here, label kept",
        observed=f"{deleted}: {'' if kept in there else 'not '}here, {chosen(of_kept, 'label')}",
    )
