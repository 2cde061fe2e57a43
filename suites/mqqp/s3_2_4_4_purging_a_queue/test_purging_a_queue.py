"""MS-MQQP 3.2.4.4 Purging a Queue."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import QUEUE_HANDLE, Reader, context

OTHER_HANDLE, OTHER_DESCRIPTOR, OTHER_CONTEXT = 0x1077, 0x2088, 0x3099


@needs("remote_read")
@covers("MQQP-3.2.4.4-D01")
@pytest.mark.parametrize("which", [0, 1], ids=["first", "second"])
def test_the_queue_that_is_meant_is_purged(peer, sut, judge, which):
    """Two queues are open, one is purged, twice: each time RemoteQMPurgeQueue comes, once, with its phQueue."""
    reader = Reader(peer, sut)
    remotes = [reader.open()]
    reader.server.answers |= {
        "R_QMOpenRemoteQueue": lambda call: call.respond(
            pphContext=context(2), pdwContext=OTHER_CONTEXT, dwpQueue=OTHER_DESCRIPTOR, phQueue=OTHER_HANDLE
        ),
        "RemoteQMOpenQueue": lambda call: call.respond(phContext=context(0x5E77)),
    }
    remotes.append(reader.open())
    for _ in range(2):
        reader.begin("remote_purge", remote=remotes[which]).outcome()
    calls = reader.server.wait("RemoteQMPurgeQueue", 2)
    found = [call.into.hQueue for call in calls if call.into is not None]
    expected = [(QUEUE_HANDLE, OTHER_HANDLE)[which]] * 2
    judge("MQQP-3.2.4.4-D01", expected=expected, observed=found, evidence=calls)
