"""Faults of MS-MQQP 3.1.4.10 RemoteQMStartReceive2: reads of other methods, and the presentation context."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.remote_starting import ReadDescription, RemoteStarting
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-start-receive2-request-id-of-other-method-accepted", breaks="MQQP-3.1.4.10-16", blind=True)
class ServerStartReceive2RequestIdOfOtherMethodAccepted(RemoteStarting):
    """RemoteQMStartReceive2 accepts the dwRequestID of a read of the same queue handle that RemoteQMStartReceive or
    RemoteQMStartReceiveByLookupId has started.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.in_start_receive2 = False

    def remote_qm_start_receive2(self, call: Call, now: Now) -> None:
        self.in_start_receive2 = True
        try:
            super().remote_qm_start_receive2(call, now)
        finally:
            self.in_start_receive2 = False

    def check_request_id(self, desc: ReadDescription) -> Status:
        status = super().check_request_id(desc)
        if not status or not self.in_start_receive2:
            return status
        pending = self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"])
        names = {entry.call.method.name for entry in pending if entry.RequestId == desc["dwRequestID"]}
        return status if "RemoteQMStartReceive2" in names else Status.MQ_OK


@fault("client-start-receive2-context-of-ndr-although-refused", breaks="MQQP-3.1.4.10-01", blind=True)
class ClientStartReceive2ContextOfNdrAlthoughRefused(ClientReading):
    """The client calls RemoteQMStartReceive2 on the presentation context for NDR, even if the server has accepted only
    the presentation context for NDR64.
    """

    def start_receive2(self, read: RemoteRead) -> Sequence:
        binding = read.queue.binding
        assert binding is not None
        contexts, name = binding.association._contexts, binding.interface.name
        kept = contexts[name]
        if read.LookupId is None:
            contexts[name] = (0, False)
        try:
            return (yield from super().start_receive2(read))
        finally:
            contexts[name] = kept
