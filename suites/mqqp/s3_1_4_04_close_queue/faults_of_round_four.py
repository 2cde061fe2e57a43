"""Faults that break rules of MS-MQQP 3.1.4.4 after an earlier call."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-close-queue-accepts-null-handle-after-earlier-close", breaks="MQQP-3.1.4.4-05", blind=True)
class ServerCloseQueueAcceptsNullHandleAfterEarlierClose(RemoteQueueOpening):
    """When a RemoteQMCloseQueue has the context handle NULL, the server returns MQ_OK if the client has already closed
    a queue on the same connection.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.closing_associations: set[object] = set()

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is None and call.association in self.closing_associations:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, pphContext=None))
            return
        if call.handle is not None:
            self.closing_associations.add(call.association)
        super().remote_qm_close_queue(call, now)
