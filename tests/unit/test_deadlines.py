"""Things that are due at a time."""

from reference_qm.model import deadlines
from reference_qm.model.deadlines import DeadlineCollection


def test_due_deadlines_are_returned_earliest_first():
    due = DeadlineCollection[str](lambda thing: True)
    for thing, at in (("c", 30), ("a", 10), ("b", 20), ("b2", 20)):
        due.add(thing, at)
    assert due.earliest_s == 10
    assert list(due.take_due_items(9)) == []
    assert list(due.take_due_items(20)) == ["a", "b", "b2"]
    assert (due.earliest_s, len(due)) == (30, 1)
    assert list(due.take_due_items(1_000)) == ["c"]
    assert due.earliest_s is None


def test_known_deadline_keeps_its_time_and_can_be_added_again():
    due = DeadlineCollection[str](lambda thing: True)
    due.add("a", 10)
    due.add("a", 5)
    assert due.earliest_s == 10
    assert list(due.take_due_items(10)) == ["a"]
    due.add("a", 12)
    assert list(due.take_due_items(12)) == ["a"]


def test_cancelled_deadline_is_not_returned():
    gone = {"a"}
    due = DeadlineCollection[str](lambda thing: thing not in gone)
    due.add("a", 1)
    due.add("b", 2)
    assert list(due.take_due_items(2)) == ["b"]


def test_cancelled_deadlines_are_purged_from_memory():
    alive: set[int] = set()
    due = DeadlineCollection[int](alive.__contains__)
    for number in range(50_000):
        alive.add(number)
        due.add(number, 1_000_000 + number)
        alive.discard(number - 100)
    assert len(due) <= deadlines.DEADLINE_SWEEP_THRESHOLD + 1
    assert list(due.take_due_items(2_000_000)) == sorted(alive)
