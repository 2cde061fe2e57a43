"""MS-MQQP 3.1.4.1, 3.1.4.2, 3.1.4.10, 3.1.4.11: the ends of failed receives, and of receives while other reads wait.
The SUT is the client.
"""

from __future__ import annotations

import pytest

from harness.expectations import none
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader, Reading

pytestmark = needs("remote_read")

READ_TIMEOUT_STATUS = 0xC00E_001B
"""The status MQ_ERROR_IO_TIMEOUT: no message arrived in time."""
ACCESS_DENIED_FAULT = 0x0000_0005
SAMPLE_LOOKUP_ID = 0x0055_0000_0000_0007

RULE_BY_READ_STARTING_METHOD = {
    Method.START_RECEIVE: "MQQP-3.1.4.1-07",
    Method.START_RECEIVE2: "MQQP-3.1.4.10-04",
    Method.START_RECEIVE_BY_LOOKUP_ID: "MQQP-3.1.4.11-04",
}


@pytest.mark.parametrize(
    ("name", "rule"),
    [pytest.param(name, rule, marks=covers(rule), id=name) for name, rule in RULE_BY_READ_STARTING_METHOD.items()],
)
def test_client_ends_no_receive_that_failed(peer, sut, judge, name, rule):
    """The SUT receives from four queues of the peer: the first two receives return a failure, and the other two get an
    RPC fault. The SUT does not call RemoteQMEndReceive.
    """
    reader = Reader(
        peer, sut, Reader.WINDOWS_2000_VERSION if name == Method.START_RECEIVE else Reader.WINDOWS_7_VERSION
    )
    for fails_with_fault in (False, False, True, True):
        remote = reader.open()
        reader.server.answers[name] = (
            (lambda call: call.fault(ACCESS_DENIED_FAULT))
            if fails_with_fault
            else (lambda call: reader.answer_read(call, None, READ_TIMEOUT_STATUS))
        )
        if name == Method.START_RECEIVE_BY_LOOKUP_ID:
            reader.begin("remote_receive_by_lookup_id", remote=remote, lookup_id=SAMPLE_LOOKUP_ID).outcome()
        else:
            reader.begin_read(Reading.RECEIVE, remote).outcome()
    calls = reader.server.list_calls_of(name)
    if not calls:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    peer.pass_time(sut.quiet_ms)
    ends = [call.name for call in reader.server.list_calls_of(Method.END_RECEIVE)]
    judge(rule, expected=none("RemoteQMEndReceive"), observed=ends, evidence=calls)


@covers("MQQP-3.1.4.2-04")
@pytest.mark.parametrize("waiting", [Reading.PEEK, Reading.RECEIVE], ids=["peek", "receive"])
@pytest.mark.parametrize("version", [Reader.WINDOWS_2000_VERSION, Reader.WINDOWS_7_VERSION], ids=["old", "new"])
def test_client_ends_receive_beside_waiting_read(peer, sut, judge, version, waiting):
    """A peek or a receive of the SUT waits at the peer. Two later receives from the same queue return messages. The SUT
    calls RemoteQMEndReceive once for each of them, with the handle of that receive.
    """
    reader = Reader(peer, sut, version)
    remote = reader.open()
    reader.leave_start_receives_unanswered()
    reader.begin_read(waiting, remote, Reader.LONG_TIMEOUT_MS)
    reader.await_start_receives()
    reader.answer_start_receives_with_message()
    for _ in range(2):
        reader.begin_read(Reading.RECEIVE, remote).outcome()
    reader.server.wait(Method.END_RECEIVE, 2)
    received = reader.await_start_receives(3)[1:3]
    ends = reader.server.list_calls_of(Method.END_RECEIVE)
    judge(
        "MQQP-3.1.4.2-04",
        expected=[reader.get_receive_handle(call).hex() for call in received],
        observed=[bytes(call.decoded_request.pphContext).hex() for call in ends if call.decoded_request is not None],
        evidence=[*received, *ends],
        case="handles in the calls of RemoteQMEndReceive",
    )
