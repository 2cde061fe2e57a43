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


@fault("client-binds-to-wrong-interface", breaks="MQQP-3.2.4.1-02")
class ClientBindsToWrongInterface(ServerBindings):
    """The client binds to an interface other than qm2qm."""

    def construct_binding(self, server: Endpoint, interface: Interface) -> Sequence:
        return (yield from super().construct_binding(server, OTHER_INTERFACE if interface is QM2QM else interface))


@fault("client-get-server-port-not-called", breaks="MQQP-3.2.4.1-03")
class ClientGetServerPortNotCalled(ServerBindings):
    """The client does not call RemoteQMGetQMQMServerPort."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        if binding.interface is QM2QM:
            return self.qm.config.remote_rpc_port
        return (yield from super().ask_server_port(binding, interface))


@fault("client-returned-port-ignored", breaks="MQQP-3.2.4.1-04")
class ClientReturnedPortIgnored(ServerBindings):
    """The client ignores the port that RemoteQMGetQMQMServerPort returned."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        port = yield from super().ask_server_port(binding, interface)
        return self.qm.config.remote_rpc_port if binding.interface is QM2QM else port


@fault("client-binding-handles-never-closed", breaks="MQQP-3.2.4.1-05")
class ClientBindingHandlesNeverClosed(ServerBindings):
    """The client closes no binding handle to qm2qm."""

    def close_binding(self, binding: Binding) -> Sequence:
        if binding.interface is not QM2QM:
            yield from super().close_binding(binding)


@fault("client-open-queue-without-second-binding", breaks="MQQP-3.2.4.1-06")
class ClientOpenQueueWithoutSecondBinding(ClientOpening):
    """A client that cannot bind at the returned port calls RemoteQMOpenQueue at the first port."""

    def open_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        try:
            yield from super().open_queue_at_server(queue)
        except RemoteError:
            queue.binding = yield Bind(queue.RemoteServer, QM2QM)
            context = yield from self.call_open_queue(queue)
            self.add_remote_open_queue(queue, context)


@fault("client-binding-stays-open-after-queue", breaks="MQQP-3.2.4.1-07")
class ClientBindingStaysOpenAfterQueue(ClientOpening):
    """The client does not close the binding handle when it closes the queue."""

    def close_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        yield from self._close_open_queue(queue.binding, self.find_remote_open_queue(queue))


# -- the call ---------------------------------------------------------------------------------------------------------


@fault("client-open-queue-on-third-binding", breaks="MQQP-3.2.4.1-09")
class ClientOpenQueueOnThirdBinding(ClientOpening):
    """The client calls RemoteQMOpenQueue on a third binding handle."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        third = yield Bind(queue.RemoteServer, QM2QM)
        return (yield from super().call_open_queue(replace(queue, binding=third)))


@fault("client-open-queue-sends-wrong-p-lic-guid", breaks="MQQP-3.2.4.1-10")
class ClientOpenQueueSendsWrongPLicGuid(ClientOpening):
    """The client calls RemoteQMOpenQueue with a wrong GUID as pLicGuid."""

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        return super().build_open_queue(queue) | {"pLicGuid": OTHER_GUID}


@fault("client-open-queue-dw-mqs-inverted", breaks="MQQP-3.2.4.1-11")
class ClientOpenQueueDwMqsInverted(ClientOpening):
    """A client that is not a server calls RemoteQMOpenQueue with dwMQS 1."""

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        values = super().build_open_queue(queue)
        return values | {"dwMQS": 1 - values["dwMQS"]}


def _increment_open_parameter(parameter: str) -> Install:
    """Build a fault in which the client adds one to a parameter of RemoteQMOpenQueue."""

    class OneMore(ClientOpening):
        def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
            values = super().build_open_queue(queue)
            return values | {parameter: values[parameter] + 1}

    return replace_part(OneMore)


for _name, _rule, _parameter in (
    ("client-open-queue-h-queue-one-too-high", "MQQP-3.2.4.1-12", "hQueue"),
    ("client-open-queue-p-queue-one-too-high", "MQQP-3.2.4.1-13", "pQueue"),
    ("client-open-queue-dwp-context-one-too-high", "MQQP-3.2.4.1-14", "dwpContext"),
):
    add(
        _name,
        _rule,
        f"The client calls RemoteQMOpenQueue with a {_parameter} that is greater by 1 than the right value.",
        _increment_open_parameter(_parameter),
    )


# -- the time limit of the call ----------------------------------------------------------------------------------------


def _wait_a_minute(qm: QueueManager) -> None:
    qm.settings = replace(qm.settings, remote_call_ms=60_000)


add(
    "client-unanswered-call-never-cancelled",
    "MQQP-3.2.4.1-15",
    "The client never cancels a call that the server does not answer.",
    skip(ClientTasks.on_remote_call_timer),
)
add(
    "client-unanswered-call-cancelled-after-1-minute",
    "MQQP-3.2.4.1-15",
    "The client cancels an unanswered call after one minute.",
    always(_wait_a_minute),
)
add(
    "client-unanswered-call-dropped-without-cancel",
    "MQQP-3.2.4.1-16",
    "The client abandons an unanswered call without a co_cancel or orphaned PDU.",
    both(pdus(CoCancel, lambda body: None), pdus(Orphaned, lambda body: None)),
)

# -- the entry --------------------------------------------------------------------------------------------------------


@fault("client-open-queue-entry-has-wrong-context-handle", breaks="MQQP-3.2.4.1-17")
class ClientOpenQueueEntryHasWrongContextHandle(ClientOpening):
    """The client's RemoteOpenQueueEntry contains a wrong context handle."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        super().add_remote_open_queue(queue, OTHER_GUID)


add(
    "client-open-queue-entry-missing",
    ("MQQP-3.2.4.1-20", "MQQP-3.2.1.4-01"),
    "The client creates no RemoteOpenQueueEntry.",
    skip(ClientOpening.add_remote_open_queue),
)


@fault(
    "client-open-queue-handles-of-first-opened-queue",
    breaks=("MQQP-3.2.4.1-12", "MQQP-3.2.4.1-13", "MQQP-3.2.4.1-14"),
)
class ClientOpenQueueHandlesOfFirstOpenedQueue(ClientOpening):
    """When the client opens a second queue, it passes the handles of the first queue to RemoteQMOpenQueue."""

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        return super().build_open_queue(next(iter(self.qm.remote_client.queues.values()), queue))
