"""MS-MQQP 3.1.4.2 RemoteQMEndReceive: the client ends the receives that it begins with each method."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Ack, Method
from suites.mqqp.steps.reader import Reader, Reading

pytestmark = needs("remote_read")

LOOKUP_ID = 0x0055_0000_0000_0007


def _receive_by_lookup_ids(reader: Reader, remote: int) -> None:
    for seek in ("current", "next", "previous", "first", "last"):
        reader.begin("remote_receive_by_lookup_id", remote=remote, lookup_id=LOOKUP_ID, seek=seek).outcome()


def _receive_with_and_without_cursor(reader: Reader, remote: int) -> None:
    for reading in (Reading.RECEIVE, Reading.RECEIVE_BY_CURSOR, Reading.RECEIVE):
        reader.begin_read(reading, remote).outcome()


@covers("MQQP-3.1.4.2-01")
@pytest.mark.parametrize(
    ("method", "version", "receive"),
    [
        pytest.param(method, version, receive, id=method)
        for method, version, receive in (
            (Method.START_RECEIVE, Reader.WINDOWS_2000_VERSION, _receive_with_and_without_cursor),
            (Method.START_RECEIVE2, Reader.WINDOWS_7_VERSION, _receive_with_and_without_cursor),
            (Method.START_RECEIVE_BY_LOOKUP_ID, Reader.WINDOWS_7_VERSION, _receive_by_lookup_ids),
        )
    ],
)
def test_client_acknowledges_every_received_message(peer, sut, judge, method, version, receive):
    """The SUT receives several messages of the peer, with and without a cursor, or by lookup identifiers. For each
    message it calls RemoteQMEndReceive once, with RR_ACK and the handle that the peer returned.
    """
    reader = Reader(peer, sut, version)
    receive(reader, reader.open())
    starts = reader.server.list_calls_of(method)
    if not starts:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {method}")
        return
    reader.server.wait(Method.END_RECEIVE, len(starts))
    peer.pass_time(sut.quiet_ms)
    calls = reader.server.list_calls_of(Method.END_RECEIVE)
    ends = [call.decoded_request for call in calls if call.decoded_request is not None]
    observed = {
        "handles": [bytes(end.pphContext).hex() for end in ends],
        "acknowledgments": [int(end.dwAck) for end in ends],
    }
    expected = facts(
        handles=[reader.get_receive_handle(call).hex() for call in starts],
        acknowledgments=[int(Ack.RR_ACK)] * len(starts),
    )
    judge("MQQP-3.1.4.2-01", expected=expected, observed=observed, evidence=[*starts, *calls])
