"""Faults of round five that break rules of MS-MQQP 3.1.4.4 RemoteQMCloseQueue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError, RpcBindingHandle
from reference_qm.model.statuses import Status


@fault("client-close-queue-invalid-handle-taken-as-success", breaks="MQQP-3.1.4.4-03", blind=True)
class ClientCloseQueueInvalidHandleTakenAsSuccess(ClientQueueOpening):
    """The client treats MQ_ERROR_INVALID_HANDLE of RemoteQMCloseQueue as a success, and reports all other failures of
    the method to its application.
    """

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        try:
            yield from super().call_close_queue(binding, entry)
        except RemoteError as error:
            if error.status != Status.MQ_ERROR_INVALID_HANDLE:
                raise
