"""MS-MQQP 3.2.4.1 Opening a Queue: a server that accepts only one call at a time on a connection."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import CommandOutcome, Reader

pytestmark = needs("remote_read")


@covers("MQQP-3.2.4.1-08")
def test_client_opens_queue_of_server_without_multiplexing(peer, sut, judge):
    """The peer does not set PFC_CONC_MPX in its bind_acks. The SUT opens a queue of the peer twice, and calls
    RemoteQMOpenQueue each time.
    """
    reader = Reader(peer, sut)
    reader.server.multiplexes = False
    outcomes = [reader.begin_open_queue().outcome() for _ in range(2)]
    calls = reader.server.wait(Method.OPEN_QUEUE, 2)
    judge(
        "MQQP-3.2.4.1-08",
        expected=facts(outcomes=[CommandOutcome.SUCCESS] * 2, number_of_calls=2),
        observed={"outcomes": outcomes, "number_of_calls": len(calls)},
        evidence=[*(frame for one in reader.server.associations for frame, _ in one.binds), *calls],
    )
