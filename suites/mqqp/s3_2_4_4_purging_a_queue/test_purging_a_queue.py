"""MS-MQQP 3.2.4.4 Purging a Queue."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@covers("MQQP-3.2.4.4-D01")
@pytest.mark.parametrize("which", [0, 1], ids=["first", "second"])
def test_client_purges_queue_that_application_names(peer, sut, judge, which):
    """Two queues are open, and the application purges one of them twice, the second time while the queue has a cursor
    and a waiting read. Each time, the SUT sends one RemoteQMPurgeQueue with the phQueue of that queue.
    """
    reader = Reader(peer, sut)
    remotes = [reader.open()]
    remotes.append(reader.open())
    reader.begin("remote_purge", remote=remotes[which]).outcome()
    reader.begin("remote_open_cursor", remote=remotes[which]).outcome()
    reader.leave_start_receives_unanswered()
    reader.begin_read(Reading.PEEK, remotes[which], Reader.LONG_TIMEOUT_MS)
    reader.run_until_start_receives(1)
    reader.begin("remote_purge", remote=remotes[which]).outcome()
    reader.server.wait("RemoteQMPurgeQueue", 2)
    peer.pass_time(sut.quiet_ms)
    calls = reader.server.list_calls_of("RemoteQMPurgeQueue")
    found = [call.decoded_request.hQueue for call in calls if call.decoded_request is not None]
    expected = [(Reader.FIRST_QUEUE_HANDLES.queue, Reader.SECOND_QUEUE_HANDLES.queue)[which]] * 2
    judge("MQQP-3.2.4.4-D01", expected=expected, observed=found, evidence=calls, case="queue handles in the calls")
