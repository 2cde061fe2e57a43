"""MS-MQQP 3.1.4.6: a client does not call RemoteQMCancelReceive for a read that it has not begun at the server."""

from __future__ import annotations

import pytest

from harness.expectations import none
from harness.peer.rpc_server import ServedCall
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader, Reading

VERSION_NOT_REQUESTED_REASON = "the SUT does not call RemoteQmGetVersion before a read"


@needs("remote_read")
@covers("MQQP-3.1.4.6-03")
@pytest.mark.parametrize("ending", ["cancel beside a waiting read", "close of the queue"])
def test_client_does_not_cancel_unsent_read_at_server(peer, sut, judge, ending):
    """The peer does not answer the RemoteQmGetVersion of a read, so that the SUT does not begin the read. The
    application cancels the read while another read waits at the peer, or closes the queue. Until the SUT begins this
    read, the SUT sends no RemoteQMCancelReceive that names the read.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.leave_start_receives_unanswered()
    known = set()
    if ending == "cancel beside a waiting read":
        reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
        waiting = reader.await_start_receives()
        known = {reader.get_read_description(call).dwRequestID for call in waiting}
    asked: list[ServedCall] = []
    begun = len(reader.reads())
    reader.server.answers[Method.GET_VERSION] = asked.append
    request = reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
    peer.wait(lambda: bool(asked) or len(reader.reads()) > begun, None, "a call of the read")
    if not asked:
        judge.mark_not_exercised("MQQP-3.1.4.6-03", reason=VERSION_NOT_REQUESTED_REASON)
        return
    if ending == "cancel beside a waiting read":
        reader.begin("cancel", request=request.number)
    else:
        reader.begin("remote_close", remote=remote)
    peer.pass_time(sut.quiet_ms)
    cancels = [
        call for call in reader.server.list_calls_of("RemoteQMCancelReceive") if call.decoded_request is not None
    ]
    judge(
        "MQQP-3.1.4.6-03",
        expected=none("RemoteQMCancelReceive for a read that was not begun"),
        observed=[
            call.decoded_request.dwRequestID for call in cancels if call.decoded_request.dwRequestID not in known
        ],
        evidence=[*asked, *cancels],
    )
    asked[0].respond(pMajor=6, pMinor=1, pBuildNumber=7600)
    peer.pass_time(sut.quiet_ms)
