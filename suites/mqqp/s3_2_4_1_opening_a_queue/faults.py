"""Faults of MS-MQQP 3.2.4.1 Opening a Queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import always, both, pdus, skip
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Bind, Binding, RemoteError, Sequence
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.rpc import QM2QM, Interface
from reference_qm.rpc.bodies import CoCancel, Orphaned
from reference_qm.rpc.syntaxes import SyntaxId
from reference_qm.surface.inputs import Endpoint

OTHER_GUID = UUID(int=0xBAD)
OTHER_INTERFACE = Interface("qm2qm", SyntaxId(UUID(int=QM2QM.syntax.uuid.int + 1), 1), QM2QM.methods)

# -- binding handles --------------------------------------------------------------------------------------------------


@fault("remote-open-other-interface", breaks="MQQP-3.2.4.1-02")
class OtherInterfaceBound(ServerBindings):
    """It binds to another interface."""

    def construct_binding(self, server: Endpoint, interface: Interface) -> Sequence:
        return (yield from super().construct_binding(server, OTHER_INTERFACE if interface is QM2QM else interface))


@fault("remote-open-port-not-asked", breaks="MQQP-3.2.4.1-03")
class PortNotAsked(ServerBindings):
    """It asks for no port of qm2qm."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        if binding.interface is QM2QM:
            return self.qm.config.remote_rpc_port
        return (yield from super().ask_server_port(binding, interface))


@fault("remote-open-port-ignored", breaks="MQQP-3.2.4.1-04")
class PortIgnored(ServerBindings):
    """It stays at the port that it knows."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        port = yield from super().ask_server_port(binding, interface)
        return self.qm.config.remote_rpc_port if binding.interface is QM2QM else port


@fault("remote-open-bindings-kept", breaks="MQQP-3.2.4.1-05")
class BindingsKept(ServerBindings):
    """Binding handles to qm2qm are never closed."""

    def close_binding(self, binding: Binding) -> Sequence:
        if binding.interface is not QM2QM:
            yield from super().close_binding(binding)


@fault("remote-open-without-second-binding", breaks="MQQP-3.2.4.1-06")
class WithoutSecondBinding(ClientOpening):
    """Without the second binding handle the queue is opened at the first port."""

    def open_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        try:
            yield from super().open_queue_at_server(queue)
        except RemoteError:
            queue.binding = yield Bind(queue.RemoteServer, QM2QM)
            context = yield from self.call_open_queue(queue)
            self.add_remote_open_queue(queue, context)


@fault("remote-close-keeps-binding", breaks="MQQP-3.2.4.1-07")
class BindingOutlivesQueue(ClientOpening):
    """The binding handle outlives the queue."""

    def close_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        yield from self._close_open_queue(queue.binding, self.find_remote_open_queue(queue))


# -- the call ---------------------------------------------------------------------------------------------------------


@fault("remote-open-third-binding", breaks="MQQP-3.2.4.1-09")
class ThirdBinding(ClientOpening):
    """RemoteQMOpenQueue is called on a binding handle of its own."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        third = yield Bind(queue.RemoteServer, QM2QM)
        return (yield from super().call_open_queue(replace(queue, binding=third)))


@fault("remote-open-other-client", breaks="MQQP-3.2.4.1-10")
class OtherClient(ClientOpening):
    """pLicGuid is another GUID."""

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        return super().build_open_queue(queue) | {"pLicGuid": OTHER_GUID}


@fault("remote-open-other-role", breaks="MQQP-3.2.4.1-11")
class OtherRole(ClientOpening):
    """dwMQS says server where it is none."""

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        values = super().build_open_queue(queue)
        return values | {"dwMQS": 1 - values["dwMQS"]}


def _one_more(parameter: str) -> Install:
    """Add one to a parameter of RemoteQMOpenQueue."""

    class OneMore(ClientOpening):
        def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
            values = super().build_open_queue(queue)
            return values | {parameter: values[parameter] + 1}

    return replace_part(OneMore)


for _name, _rule, _parameter in (
    ("remote-open-other-hqueue", "MQQP-3.2.4.1-12", "hQueue"),
    ("remote-open-other-pqueue", "MQQP-3.2.4.1-13", "pQueue"),
    ("remote-open-other-dwpcontext", "MQQP-3.2.4.1-14", "dwpContext"),
):
    add(_name, _rule, f"{_parameter} of RemoteQMOpenQueue is another number.", _one_more(_parameter))


# -- how long it may take ---------------------------------------------------------------------------------------------


def _wait_a_minute(qm: QueueManager) -> None:
    qm.settings = replace(qm.settings, remote_call_ms=60_000)


add(
    "remote-open-waits-for-ever",
    "MQQP-3.2.4.1-15",
    "A call is never given up.",
    skip(ClientTasks.on_remote_call_timer),
)
add("remote-open-impatient", "MQQP-3.2.4.1-15", "A call is given up after a minute.", always(_wait_a_minute))
add(
    "remote-open-given-up-silently",
    "MQQP-3.2.4.1-16",
    "A call is given up without a word to the server.",
    both(pdus(CoCancel, lambda body: None), pdus(Orphaned, lambda body: None)),
)

# -- the entry --------------------------------------------------------------------------------------------------------


@fault("remote-open-entry-of-another", breaks="MQQP-3.2.4.1-17")
class EntryOfAnother(ClientOpening):
    """The entry of an open queue has another context handle."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        super().add_remote_open_queue(queue, OTHER_GUID)


add(
    "remote-open-no-entry",
    ("MQQP-3.2.4.1-20", "MQQP-3.2.1.4-01"),
    "An open queue has no entry.",
    skip(ClientOpening.add_remote_open_queue),
)
