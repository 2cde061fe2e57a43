"""Faults of MS-MQQP 3.1.4.2 of the probe, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import Ack
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-end-receive-rr-nack-after-lookup-id-removes-message", breaks="MQQP-3.1.4.2-06", blind=True)
class NackAfterLookupRemoves(RemoteEnding):
    """RemoteQMEndReceive with RR_NACK removes the message if RemoteQMStartReceiveByLookupId received it."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None and call.handle.state.call.method.name == "RemoteQMStartReceiveByLookupId":
            call.arguments["dwAck"] = int(Ack.RR_ACK)
        super().remote_qm_end_receive(call, now)
