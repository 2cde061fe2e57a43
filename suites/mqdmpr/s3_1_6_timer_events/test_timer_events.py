"""MS-MQDMPR 3.1.6 Timer Events."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE
from suites.mqqp.steps.reading import FIRST, WAITING, brought, filled, frames, waiting

LEFT_MS = 2_000
"""How much longer than a silence window a read may wait."""


@needs("qm2qm")
@covers("MQDMPR-3.1.6.3-03")
@pytest.mark.parametrize("action", [RECEIVE, PEEK_CURRENT, PEEK_NEXT], ids=["receive", "peek", "peek next"])
def test_a_read_that_waited_in_vain_ends_with_its_time(remote, judge, action):
    """A read of a queue without another message waits as long as it may, then ends with MQ_ERROR_IO_TIMEOUT."""
    queue = filled(remote, *([FIRST] if action == PEEK_NEXT else []))
    cursor = 0
    if action == PEEK_NEXT:
        cursor = queue.cursor().settled().out.phCursor
        queue.read(PEEK_CURRENT, hCursor=cursor).settled()
    timeout_ms = remote.sut.quiet_ms + LEFT_MS
    read = queue.begin(action, hCursor=cursor, ulTimeout=timeout_ms)
    early = waiting(read)
    ended = brought(read.wait(timeout_ms + remote.sut.response_timeout_ms))
    expected = [WAITING, "MQ_ERROR_IO_TIMEOUT"]
    judge("MQDMPR-3.1.6.3-03", expected=expected, observed=[early, ended], evidence=frames([read]))
