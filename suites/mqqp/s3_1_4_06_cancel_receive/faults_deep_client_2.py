"""Faults of MS-MQQP 3.1.4.6: RemoteQMCancelReceive of a client, with listed failures and before the read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue
from reference_qm.core.remote.client_steps import RemoteError, Sequence


@fault("client-failed-cancel-taken-as-success", breaks="MQQP-3.1.4.6-05")
class ClientFailedCancelTakenAsSuccess(ClientCancelling):
    """The client reports a cancel as done, if RemoteQMCancelReceive returned MQ_ERROR."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> Sequence:
        try:
            yield from super().call_cancel_receive(entry)
        except RemoteError as error:
            if error.status != 0xC00E0001:
                raise


@fault("client-cancel-status-not-found-taken-as-success", breaks="MQQP-3.1.4.6-05")
class ClientCancelStatusNotFoundTakenAsSuccess(ClientCancelling):
    """The client reports a cancel as done, if RemoteQMCancelReceive returned STATUS_NOT_FOUND."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> Sequence:
        try:
            yield from super().call_cancel_receive(entry)
        except RemoteError as error:
            if error.status != 0xC0000225:
                raise


@fault("client-cancel-called-before-start-receive", breaks="MQQP-3.1.4.6-03")
class ClientCancelCalledBeforeStartReceive(ClientCancelling):
    """The client calls RemoteQMCancelReceive for a read that it has not yet sent to the server."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> Sequence:
        entry = self.find_pending_read(queue, request_id)
        if not entry.is_known:
            yield from self.call_cancel_receive(entry)
        yield from super().cancel_pending_read(queue, request_id)
