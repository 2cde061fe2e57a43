"""MS-MQQP 2.2.1.2 PCTX_REMOTEREAD_HANDLE_TYPE: the context handles of receives."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Ack, Action, LookupId, Method

pytestmark = needs("qm2qm")


@covers("MQQP-2.2.1.2-01")
def test_each_receive_method_returns_handle_that_can_be_ended_once(remote, judge):
    """A receive by each of the three methods returns a different handle. RemoteQMEndReceive succeeds once with each
    handle, with RR_NACK and with RR_ACK; a second call with the handle gets a fault.
    """
    queue = remote.open_with_messages("first", "second", "third")
    reads = [
        queue.start_receive(by=Method.START_RECEIVE),
        queue.start_receive(by=Method.START_RECEIVE2),
        queue.read(Action.LOOKUP_RECEIVE_NEXT, by=Method.START_RECEIVE_BY_LOOKUP_ID, lookup_id=LookupId.BEFORE_FIRST),
    ]
    handles = {bytes(read.out.pphContext) for read in reads if read.out is not None and not read.has_null_handle}
    acks = (Ack.RR_NACK, Ack.RR_ACK, Ack.RR_ACK)
    ends = [queue.end(read, ack).outcome for read, ack in zip(reads, acks, strict=True) if read.out is not None]
    again = [queue.acknowledge(read).outcome for read in reads if read.out is not None]
    expected = facts(
        number_of_different_handles=3,
        first_end_of_each_receive=["MQ_OK"] * 3,
        second_end_of_each_receive=["fault nca_s_fault_context_mismatch"] * 3,
    )
    observed = {
        "number_of_different_handles": len(handles),
        "first_end_of_each_receive": ends,
        "second_end_of_each_receive": again,
    }
    judge.all(expected=expected, observed=observed, evidence=reads)
