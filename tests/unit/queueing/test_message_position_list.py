"""MS-MQDMPR 3.1.1.2, 3.1.1.11: the list of a queue's messages, and the counters of the queue."""

import pytest
from queueing_made import open_, put, queue_of

from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState


def walk(positions, forward=True):
    """Return the bodies from one end of the list to the other, found only through the links of the positions."""
    bodies, entry = [], positions.Head if forward else positions.Tail
    while not isinstance(entry, Boundary):
        bodies.append(entry.MessageReference.Body.decode())
        entry = entry.Next if forward else entry.Previous
    return bodies


def test_empty_message_position_list_begins_with_its_end(host):
    positions = queue_of(host).MessagePositionList
    assert positions.Head is positions.End
    assert positions.Tail is positions.Start
    assert (len(positions), positions.TotalBytes) == (0, 0)


def test_message_positions_are_sorted_by_priority_and_arrival(host):
    for body, priority in ("a", 3), ("b", 7), ("c", 0), ("d", 3), ("e", 5), ("f", 7):
        put(host, body, priority=priority)
    positions = queue_of(host).MessagePositionList
    assert walk(positions) == ["b", "f", "e", "a", "d", "c"] == walk(positions, forward=False)[::-1]


@pytest.mark.parametrize("gone", ["a", "b", "c"])
def test_removed_message_position_is_unlinked_and_next_one_is_inserted_in_order(host, gone):
    ids = dict(zip("abc", put(host, "a", "b", "c"), strict=True))
    positions = queue_of(host).MessagePositionList
    position = positions.find(ids[gone])
    positions.remove(position)
    positions.remove(position)
    assert (position.State, position.Next, position.Previous) == (MessagePositionState.DELETED, None, None)
    put(host, "d")
    left = [body for body in "abcd" if body != gone]
    assert walk(positions) == left == walk(positions, forward=False)[::-1]
    assert len(positions) == 3
    assert positions.find(ids[gone]) is None


def test_held_message_position_stays_linked_but_is_not_counted(host):
    ids = put(host, "a", "b")
    positions = queue_of(host).MessagePositionList
    held = positions.find(ids[0])
    positions.hold(held)
    positions.remove(held)
    assert walk(positions) == ["a", "b"]
    assert [one.MessageReference.Body for one in positions] == [b"b"]
    assert len(positions) == 1
    put(host, "c", priority=7)
    put(host, "d")
    positions.release(held)
    assert walk(positions) == ["c", "b", "d"]


def test_message_positions_can_be_removed_during_iteration(host):
    put(host, "a", "b", "c", "d")
    positions = queue_of(host).MessagePositionList
    seen = []
    for position in positions:
        seen.append(position.MessageReference.Body.decode())
        if seen[-1] == "b":
            for other in list(positions):
                if other.MessageReference.Body in (b"b", b"c"):
                    positions.remove(other)
    assert seen == ["a", "b", "d"]
    assert walk(positions) == ["a", "d"]


def test_queue_is_active_while_descriptor_is_open(host):
    core, queue = host.core, queue_of(host)
    assert not queue.Active
    descriptor = open_(host)
    assert queue.Active
    core.queue_opening.close_queue(descriptor)
    assert not queue.Active
