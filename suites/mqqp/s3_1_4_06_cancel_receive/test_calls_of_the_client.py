"""MS-MQQP 3.1.4.6: how a client calls RemoteQMCancelReceive. The SUT is the client."""

from __future__ import annotations

import pytest

from harness.expectations import facts, none
from harness.peer.rpc_server import ServedCall
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@covers("MQQP-3.1.4.6-03")
@pytest.mark.parametrize("version", [Reader.WINDOWS_2000_VERSION, Reader.WINDOWS_7_VERSION], ids=["old", "new"])
def test_client_cancels_read_after_it_began(peer, sut, judge, version):
    """Two reads of the SUT wait at the peer, and the application cancels the second. After both reads, the SUT sends
    one RemoteQMCancelReceive with the dwRequestID of the second read. If the application cancels a read before the peer
    has answered RemoteQmGetVersion, the SUT sends no RemoteQMCancelReceive.
    """
    reader = Reader(peer, sut, version)
    remote = reader.open()
    judge_cancel_before_read(reader, judge, remote)
    reader.set_version(*version)
    reader.leave_start_receives_unanswered()
    before, requests = len(reader.reads()), []
    for number in (1, 2):
        requests.append(reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS))
        reader.await_start_receives(before + number)
    reader.begin("cancel", request=requests[1].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    reads = reader.reads()[before:]
    begun = [reader.get_read_description(call).dwRequestID for call in reads]
    came = [call.name == "RemoteQMCancelReceive" for call in reader.server.calls if call in [*reads, *cancels]]
    cancelled = [call.decoded_request.dwRequestID for call in cancels if call.decoded_request is not None]
    observed = {"RemoteQMCancelReceive_was_called": came, "dwRequestID_in_the_call": cancelled}
    expected = facts(RemoteQMCancelReceive_was_called=[False, False, True], dwRequestID_in_the_call=begun[1:])
    evidence = [*reads, *cancels]
    judge("MQQP-3.1.4.6-03", expected=expected, observed=observed, evidence=evidence)


def judge_cancel_before_read(reader, judge, remote):
    """Judge the cancellation of a read that the SUT has not sent yet. The function judges only a SUT that calls
    RemoteQmGetVersion before a read.
    """
    asked: list[ServedCall] = []
    reader.server.answers[Method.GET_VERSION] = asked.append
    request = reader.begin_read(Reading.RECEIVE, remote)
    reader.peer.wait(lambda: bool(asked or reader.reads()), None, "a call of the read")
    if not asked:
        return
    reader.begin("cancel", request=request.number)
    reader.peer.pass_time(reader.sut.quiet_ms)
    sent = reader.server.list_calls_of("RemoteQMCancelReceive")
    judge("MQQP-3.1.4.6-03", expected=none("RemoteQMCancelReceive before the read"), observed=sent, evidence=asked)
    asked[0].respond(pMajor=6, pMinor=1, pBuildNumber=7600)
    request.outcome()
