"""Faults that break rules of MS-MQQP 3.1.4.6 for reads of other queues and for some servers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, add
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.statuses import Status
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.client import find_method
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.effects import Effect, SendPacket

_NDR_CONTEXT_ID = 0


@fault("server-cancel-receive-cancels-same-request-id-of-other-queue", breaks="MQQP-3.1.4.6-08", blind=True)
class ServerCancelReceiveCancelsSameRequestIdOfOtherQueue(RemoteEnding):
    """The server cancels the waiting read of another queue with the given dwRequestID if the queue that hQueue
    identifies has only waiting reads with other numbers.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if status is not Status.MQ_ERROR:
            return status, found
        entries = self.qm.remote.RemoteReadEntryCollection
        found = next((entry for entry in entries if entry.RequestId == request_id), None)
        return (status if found is None else Status.MQ_OK), found


def _send_cancels_in_ndr_context(faulty: FaultyCore) -> None:
    opnum = find_method(QM2QM, "RemoteQMCancelReceive")

    def change_context(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendPacket):
            return [effect]
        binding = faulty.core.remote_client.binding_by_connection.get(effect.transport)
        if binding is None or binding.interface is not QM2QM:
            return [effect]
        try:
            pdu = Pdu.parse(effect.data)
        except PduError:
            return [effect]  # a request of several fragments
        if not isinstance(pdu.body, Request) or pdu.body.opnum != opnum:
            return [effect]
        return [replace(effect, data=replace(pdu, body=replace(pdu.body, p_cont_id=_NDR_CONTEXT_ID)).build())]

    faulty.effect_filters.append(change_context)


add(
    "client-cancel-receive-context-of-ndr-although-refused",
    "MQQP-3.1.4.6-04",
    "The client calls RemoteQMCancelReceive on the presentation context for NDR, although the server has accepted only "
    "the context for NDR64.",
    _send_cancels_in_ndr_context,
    blind=True,
)
