"""MS-MQQP 3.2.4.8 Closing a Cursor."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import CURSOR, QUEUE_HANDLE, Reader


@needs("remote_read")
@covers("MQQP-3.2.4.8-02", "MQQP-3.2.4.8-03", "MQQP-3.2.4.8-04")
def test_the_cursor_is_closed_at_the_server(peer, sut, judge):
    """RemoteQMCloseCursor is called once, with the handles of the queue and of the cursor."""
    reader = Reader(peer, sut)
    cursor = reader.open_cursor(reader.open())
    reader.begin("remote_close_cursor", cursor=cursor)
    calls = reader.server.wait("RemoteQMCloseCursor")
    evidence = [frame for call in calls for frame in call.evidence]
    judge("MQQP-3.2.4.8-02", expected=1, observed=len(calls), evidence=evidence)
    for rule, name, expected in (("MQQP-3.2.4.8-03", "hQueue", QUEUE_HANDLE), ("MQQP-3.2.4.8-04", "hCursor", CURSOR)):
        found = [getattr(call.into, name) for call in calls if call.into is not None]
        judge(rule, expected=str([expected]), observed=str(found), evidence=evidence)
