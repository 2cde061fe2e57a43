"""MS-MQQP 3.1.4.3 RemoteQMOpenQueue: called by the SUT before RemoteQMCloseCursor."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader


@needs("remote_read")
@covers("MQQP-3.1.4.3-05")
def test_a_client_closes_cursors_of_queues_that_it_has_open(peer, sut, judge):
    """RemoteQMOpenQueue has come, and no RemoteQMCloseQueue, when RemoteQMCloseCursor comes."""
    reader = Reader(peer, sut)
    cursor = reader.open_cursor(reader.open())
    reader.begin("remote_close_cursor", cursor=cursor)
    call = reader.one("RemoteQMCloseCursor")
    calls = reader.server.calls
    before = {one.name for one in calls[: calls.index(call)]} & {"RemoteQMOpenQueue", "RemoteQMCloseQueue"}
    judge("MQQP-3.1.4.3-05", expected="['RemoteQMOpenQueue']", observed=str(sorted(before)), evidence=call.evidence)
