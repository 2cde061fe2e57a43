"""Faults of a server that offers qm2qm only at first, or only to one client at a time (MS-MQQP 2.1)."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.rpc import EPT, QM2QM, Call, CallReceived, RpcEvent
from reference_qm.rpc.mapper import EndpointMapper
from reference_qm.surface.clock import Now


class _MethodRefuserAfterRestart(RpcEventDispatching):
    """The server supports no method of qm2qm after a restart."""

    has_restarted = False

    def is_method_supported(self, call: Call) -> bool:
        return super().is_method_supported(call) and not (self.has_restarted and call.context.interface is QM2QM)


class _EndpointMapperEmptyAfterRestart(RpcEventDispatching):
    """The endpoint mapper lists no endpoint after a restart."""

    has_restarted = False

    def carry_out(self, event: RpcEvent, now: Now) -> None:
        if self.has_restarted and isinstance(event, CallReceived) and event.call.context.interface is EPT:
            self.qm.remote.carry_out_outputs(EndpointMapper([])(event))
        else:
            super().carry_out(event, now)


def _record_restart(qm: QueueManager) -> None:
    qm.rpc_event_dispatching.has_restarted = True  # type: ignore[attr-defined]  # the part is one of the classes above


add(
    "server-qm2qm-after-restart-not-offered",
    "MQQP-2.1-01",
    "The server offers no method of qm2qm after a restart.",
    combine_installers(replace_part(_MethodRefuserAfterRestart), change_core_at_restart(_record_restart)),
    blind=True,
)
add(
    "server-mapper-after-restart-empty",
    "MQQP-2.1-02",
    "The endpoint mapper returns no port of qm2qm after a restart.",
    combine_installers(replace_part(_EndpointMapperEmptyAfterRestart), change_core_at_restart(_record_restart)),
    blind=True,
)


@fault("server-refuses-open-queue-on-qm2qm-while-other-client-read-waits", breaks="MQQP-2.1-01", blind=True)
class ServerRefusesOpenQueueOnQm2qmWhileOtherClientReadWaits(RpcEventDispatching):
    """The server accepts no call of qm2qm that opens a queue while a read of another client waits."""

    def is_method_supported(self, call: Call) -> bool:
        opens = call.context.interface is QM2QM and call.method.name == "RemoteQMOpenQueue"
        return super().is_method_supported(call) and not (opens and self.qm.remote.reads)


@fault("server-endpoint-mapper-returns-no-port-from-second-call", breaks="MQQP-2.1-02", blind=True)
class ServerEndpointMapperReturnsNoPortFromSecondCall(RpcEventDispatching):
    """The endpoint mapper returns no port of qm2qm from the second call on."""

    count = 0

    def carry_out(self, event: RpcEvent, now: Now) -> None:
        if isinstance(event, CallReceived) and event.call.context.interface is EPT:
            self.count += 1
            if self.count > 1:
                self.qm.remote.carry_out_outputs(EndpointMapper([])(event))
                return
        super().carry_out(event, now)
