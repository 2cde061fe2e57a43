"""MS-MQDMPR 3.1.1.2, 3.1.1.11: the list of a queue's messages, and what it counts."""

from queueing_made import queue_of


def test_an_empty_list_begins_with_its_end(host):
    positions = queue_of(host).MessagePositionList
    assert positions.Head is positions.End
    assert positions.Tail is positions.Start
    assert (len(positions), positions.TotalBytes) == (0, 0)
