"""MS-MQQP 3.2.4.1 Opening a Queue: a server at the highest port."""

from __future__ import annotations

from harness.errors import SutUnavailable
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader

HIGHEST_PORT = 0xFFFF


@needs("remote_read")
@covers("MQQP-3.2.4.1-04")
def test_client_opens_queue_at_highest_port(peer, sut, judge):
    """RemoteQMGetQMQMServerPort of the peer returns port 65535. The SUT calls RemoteQMOpenQueue at this port."""
    reader = Reader(peer, sut)
    try:
        reader.server.move_read_port(HIGHEST_PORT)
    except SutUnavailable:
        judge.mark_not_exercised("MQQP-3.2.4.1-04", reason="another program of the tester's computer uses port 65535")
        return
    reader.begin_open_queue().outcome()
    calls = reader.server.wait(Method.OPEN_QUEUE)
    judge(
        "MQQP-3.2.4.1-04",
        expected=[HIGHEST_PORT],
        observed=[call.port for call in calls],
        case="port of RemoteQMOpenQueue",
        evidence=[*(frame for one in reader.server.associations for frame, _ in one.binds), *calls],
    )
