"""MS-MQQP 2.2.1.2 PCTX_REMOTEREAD_HANDLE_TYPE: the context handles of receives."""

from __future__ import annotations

from harness.expectations import facts
from harness.peer.remote import LOOKUP, START, START2, no_handle
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import FIRST_ID, LOOKUP_RECEIVE_NEXT, RECEIVE, RR_ACK
from suites.mqqp.steps.reading import FIRST, SECOND, THIRD

pytestmark = needs("qm2qm")


@covers("MQQP-2.2.1.2-01")
def test_each_way_to_receive_makes_a_handle_that_ends_with_it(remote, judge):
    """Three receives by three methods bring three handles; each can be ended, once."""
    queue = remote.filled(FIRST, SECOND, THIRD)
    reads = [
        queue.read(RECEIVE, by=START),
        queue.read(RECEIVE, by=START2),
        queue.read(LOOKUP_RECEIVE_NEXT, by=LOOKUP, lookup_id=FIRST_ID),
    ]
    handles = {bytes(read.out.pphContext) for read in reads if read.out is not None and not no_handle(read)}
    ends = [queue.end(read, RR_ACK).outcome for read in reads if read.out is not None]
    again = [queue.end(read, RR_ACK).outcome for read in reads if read.out is not None]
    expected = facts(handles=3, ends=["MQ_OK"] * 3, again=["fault nca_s_fault_context_mismatch"] * 3)
    observed = {"handles": len(handles), "ends": ends, "again": again}
    judge.all(expected=expected, observed=observed, evidence=reads)
