"""Faults that break the rules MQQP-3.2.4.1-02 to MQQP-3.2.4.1-11."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import (
    BindStep,
    CallMethodStep,
    RemoteCallSequence,
    RemoteError,
    RpcBindingHandle,
)
from reference_qm.core.remote.server_bindings import ServerBindings, require_port
from reference_qm.rpc import QM2QM, QMCOMM, Interface
from reference_qm.rpc.syntaxes import SyntaxId
from reference_qm.surface.inputs import Endpoint
from suites.mqqp.s3_2_4_1_opening_a_queue.fault_steps import (
    WRONG_GUID,
    OpenQueueParameterChanger,
    OpenQueueValueReplacer,
)

WRONG_QM2QM_INTERFACE = Interface("qm2qm", SyntaxId(UUID(int=QM2QM.syntax.uuid.int + 1), 1), QM2QM.methods)


@fault("client-binds-to-wrong-interface", breaks="MQQP-3.2.4.1-02")
class ClientBindsToWrongInterface(ServerBindings):
    """The client binds to an interface other than qm2qm."""

    def construct_binding(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        return (
            yield from super().construct_binding(server, WRONG_QM2QM_INTERFACE if interface is QM2QM else interface)
        )


@fault("client-opens-second-queue-on-binding-of-first-queue", breaks=("MQQP-3.2.4.1-02", "MQQP-3.2.4.1-05"))
class ClientOpensSecondQueueOnBindingOfFirstQueue(ClientQueueOpening):
    """The client opens a second queue of the same server on the binding handle of the first queue."""

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        earlier = [one for one in self.qm.remote_client.queues.values() if one.binding and not one.binding.end_reason]
        if not earlier:
            yield from super().open_queue_at_server(queue)
            return
        queue.binding = earlier[0].binding
        context = yield from self.call_open_queue(queue)
        self.add_remote_open_queue_entry(queue, context)


@fault("client-get-server-port-not-called", breaks="MQQP-3.2.4.1-03")
class ClientGetServerPortNotCalled(ServerBindings):
    """The client does not call RemoteQMGetQMQMServerPort."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        if binding.interface is QM2QM:
            return self.qm.config.remote_rpc_port
        return (yield from super().ask_server_port(binding, interface))


@fault("client-second-open-queue-without-server-port-call", breaks="MQQP-3.2.4.1-03")
class ClientSecondOpenQueueWithoutServerPortCall(ServerBindings):
    """The client calls RemoteQMGetQMQMServerPort only once, and uses the first port for all later queues."""

    first_port = 0

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        if interface is not QM2QM or not self.first_port:
            found = yield from super().ask_server_port(binding, interface)
            if interface is QM2QM:
                self.first_port = found
            return found
        return self.first_port


class _PortRecorder(ServerBindings):
    """Remember the port of qm2qm."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.port: int | None = None


@fault("client-omits-get-server-port-for-second-opened-queue", breaks="MQQP-3.2.4.1-03")
class ClientOmitsGetServerPortForSecondOpenedQueue(_PortRecorder):
    """The client calls RemoteQMGetQMQMServerPort only for the first queue that it opens."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        if interface is not QM2QM:
            return (yield from super().ask_server_port(binding, interface))
        if self.port is None:
            self.port = yield from super().ask_server_port(binding, interface)
        return self.port


@fault("client-asks-for-handshake-port-of-second-queue", breaks="MQQP-3.2.4.1-03", blind=True)
class ClientAsksForHandshakePortOfSecondQueue(ServerBindings):
    """The client calls RemoteQMGetQMQMServerPort with IP_HANDSHAKE when it has another queue open."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        if interface is not QM2QM or not self.qm.remote_client.queues or binding.interface is not QM2QM:
            return (yield from super().ask_server_port(binding, interface))
        method = "RemoteQMGetQMQMServerPort"
        results = yield CallMethodStep(binding, method, {"dwPortType": 0}, self.qm.settings.remote_call_ms)
        return require_port(method, interface.name, results["Return"])


@fault("client-open-queue-asks-qmcomm-for-server-port", breaks="MQQP-3.2.4.1-03", blind=True)
class ClientOpenQueueAsksQmcommForServerPort(ServerBindings):
    """A client that opens a queue calls R_QMGetRTQMServerPort of qmcomm on a separate binding handle instead of
    RemoteQMGetQMQMServerPort on its first binding handle to qm2qm.
    """

    def _bind_at_server_port(self, server: Endpoint, initial: RpcBindingHandle) -> RemoteCallSequence:
        if initial.interface is not QM2QM:
            return (yield from super()._bind_at_server_port(server, initial))
        qmcomm = yield from self.construct_binding(server, QMCOMM)
        port = yield from self.run_sequence_and_close_binding(qmcomm, self.ask_server_port(qmcomm, QM2QM))
        return (yield from self.construct_binding(Endpoint(server.host, port), QM2QM))


@fault("client-returned-port-ignored", breaks="MQQP-3.2.4.1-04")
class ClientReturnedPortIgnored(ServerBindings):
    """The client ignores the port that RemoteQMGetQMQMServerPort returned."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        port = yield from super().ask_server_port(binding, interface)
        return self.qm.config.remote_rpc_port if binding.interface is QM2QM else port


@fault("client-does-not-open-queue-at-port-above-0x7fff", breaks="MQQP-3.2.4.1-04")
class ClientDoesNotOpenQueueAtPortAbove0x7fff(ServerBindings):
    """When RemoteQMGetQMQMServerPort returns a port above 0x7FFF, the client does not open the queue."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        port = yield from super().ask_server_port(binding, interface)
        if port > 0x7FFF and interface is QM2QM:
            raise RemoteError(f"the port {port} is negative")
        return require_port("RemoteQMGetQMQMServerPort", interface.name, port)


@fault("client-opens-every-queue-at-first-returned-port", breaks="MQQP-3.2.4.1-04")
class ClientOpensEveryQueueAtFirstReturnedPort(_PortRecorder):
    """The client opens every queue at the port that the first RemoteQMGetQMQMServerPort returned."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        port = yield from super().ask_server_port(binding, interface)
        if interface is not QM2QM:
            return port
        self.port = self.port or port
        return self.port


@fault("client-binding-handles-never-closed", breaks="MQQP-3.2.4.1-05")
class ClientBindingHandlesNeverClosed(ServerBindings):
    """The client closes no binding handle to qm2qm."""

    def close_binding(self, binding: RpcBindingHandle) -> RemoteCallSequence:
        if binding.interface is not QM2QM:
            yield from super().close_binding(binding)


@fault("client-first-binding-of-second-queue-not-closed", breaks="MQQP-3.2.4.1-05")
class ClientFirstBindingOfSecondQueueNotClosed(ServerBindings):
    """When the client opens a queue while another queue is open, it does not close the first binding handle of the new
    queue.
    """

    def close_binding(self, binding: RpcBindingHandle) -> RemoteCallSequence:
        second = bool(self.qm.remote_client.RemoteOpenQueueEntryCollection)
        if not second or binding.interface is not QM2QM:
            yield from super().close_binding(binding)


@fault("client-keeps-first-binding-of-second-opened-queue-open", breaks="MQQP-3.2.4.1-05")
class ClientKeepsFirstBindingOfSecondOpenedQueueOpen(ServerBindings):
    """The client does not close the first binding handle of the second queue that it opens."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def bind_to_server(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        self.count += interface is QM2QM
        if interface is not QM2QM or self.count % 2:
            return (yield from super().bind_to_server(server, interface))
        initial = yield from self.construct_initial_binding(server, interface)
        return (yield from self._bind_at_server_port(server, initial))


@fault("client-open-queue-without-second-binding", breaks="MQQP-3.2.4.1-06")
class ClientOpenQueueWithoutSecondBinding(ClientQueueOpening):
    """A client that cannot bind at the returned port calls RemoteQMOpenQueue at the first port."""

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        try:
            yield from super().open_queue_at_server(queue)
        except RemoteError:
            queue.binding = yield BindStep(queue.RemoteServer, QM2QM)
            context = yield from self.call_open_queue(queue)
            self.add_remote_open_queue_entry(queue, context)


@fault("client-queue-opened-on-first-binding-if-port-refuses", breaks="MQQP-3.2.4.1-06")
class ClientQueueOpenedOnFirstBindingIfPortRefuses(ServerBindings):
    """The client calls the methods of qm2qm on the first binding handle, if the second one cannot be constructed."""

    def bind_to_server(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        initial = yield from self.construct_initial_binding(server, interface)
        try:
            second = yield from self._bind_at_server_port(server, initial)
        except RemoteError:
            return initial
        yield from self.close_binding(initial)
        return second


@fault("client-binding-handle-not-closed-when-queue-is-closed", breaks="MQQP-3.2.4.1-07")
class ClientBindingHandleNotClosedWhenQueueIsClosed(ClientQueueOpening):
    """The client does not close the binding handle when it closes the queue."""

    def close_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        yield from self._close_open_queue(queue.binding, self.find_remote_open_queue_entry(queue))


@fault("client-second-binding-not-closed-while-other-queue-is-open", breaks="MQQP-3.2.4.1-07")
class ClientSecondBindingNotClosedWhileOtherQueueIsOpen(ServerBindings):
    """The client keeps the second binding handle of a closed queue until it closes its last queue."""

    def run_sequence_and_close_binding(
        self, binding: RpcBindingHandle, sequence: RemoteCallSequence
    ) -> RemoteCallSequence:
        last = len(self.qm.remote_client.RemoteOpenQueueEntryCollection) <= 1
        ports = [one.binding for one in self.qm.remote_client.queues.values()]
        known = [one.queue.binding for one in self.qm.remote_client.RemoteOpenQueueEntryCollection]
        if binding in (*ports, *known) and not last:
            return (yield from sequence)
        return (yield from super().run_sequence_and_close_binding(binding, sequence))


@fault("client-close-of-any-queue-closes-binding-of-first-queue", breaks="MQQP-3.2.4.1-07")
class ClientCloseOfAnyQueueClosesBindingOfFirstQueue(ClientQueueOpening):
    """The client closes the binding handle of the queue that it opened first when it closes any queue."""

    def close_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        first = self.qm.remote_client.RemoteOpenQueueEntryCollection[0].queue
        assert queue.binding is not None and first.binding is not None
        yield from self._close_open_queue(queue.binding, self.find_remote_open_queue_entry(queue))
        yield from self.qm.server_bindings.close_binding(first.binding)


@fault("client-open-queue-called-twice-for-second-queue", breaks="MQQP-3.2.4.1-08")
class ClientOpenQueueCalledTwiceForSecondQueue(ClientQueueOpening):
    """When the client has another queue open, it calls RemoteQMOpenQueue twice for the new queue."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        context = yield from super().call_open_queue(queue)
        if self.qm.remote_client.queues:
            context = yield from super().call_open_queue(queue)
        return context


@fault("client-open-queue-on-third-binding", breaks="MQQP-3.2.4.1-09")
class ClientOpenQueueOnThirdBinding(ClientQueueOpening):
    """The client calls RemoteQMOpenQueue on a third binding handle."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        third = yield BindStep(queue.RemoteServer, QM2QM)
        return (yield from super().call_open_queue(replace(queue, binding=third)))


@fault("client-open-queue-called-on-binding-of-first-queue", breaks="MQQP-3.2.4.1-09")
class ClientOpenQueueCalledOnBindingOfFirstQueue(ClientQueueOpening):
    """The client calls RemoteQMOpenQueue for a second queue on the binding handle of the first queue."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        opened = [one.queue.binding for one in self.qm.remote_client.RemoteOpenQueueEntryCollection]
        own = queue.binding
        queue.binding = [*opened, own][0]
        context = yield from super().call_open_queue(queue)
        queue.binding = own
        return context


@fault("client-open-queue-sends-wrong-p-lic-guid", breaks="MQQP-3.2.4.1-10")
class ClientOpenQueueSendsWrongPLicGuid(ClientQueueOpening):
    """The client calls RemoteQMOpenQueue with a wrong GUID as pLicGuid."""

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        return super().build_open_queue_arguments(queue) | {"pLicGuid": WRONG_GUID}


@fault("client-open-queue-plicguid-differs-for-second-queue", breaks="MQQP-3.2.4.1-10")
class ClientOpenQueuePlicguidDiffersForSecondQueue(OpenQueueParameterChanger):
    """When the client opens a queue after the first, it sets pLicGuid to a GUID other than its Identifier."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        second = bool(self.qm.remote_client.queues)
        return {"pLicGuid": UUID(int=given["pLicGuid"].int ^ 1)} if second else {}


@fault("client-p-lic-guid-changed-in-second-remote-qm-open-queue", breaks="MQQP-3.2.4.1-10")
class ClientPLicGuidChangedInSecondRemoteQmOpenQueue(OpenQueueValueReplacer):
    """The client sets pLicGuid of its second RemoteQMOpenQueue to a different GUID."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        many = len(self.qm.remote_client.queues)
        return {"pLicGuid": UUID(int=self.qm.adm.Identifier.int ^ many)}


@fault("client-open-queue-dw-mqs-1-although-client-is-no-server", breaks="MQQP-3.2.4.1-11")
class ClientOpenQueueDwMqs1AlthoughClientIsNoServer(ClientQueueOpening):
    """A client that is not a server calls RemoteQMOpenQueue with dwMQS 1."""

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        values = super().build_open_queue_arguments(queue)
        return values | {"dwMQS": 1 - values["dwMQS"]}


@fault("client-dw-mqs-inverted-in-second-remote-qm-open-queue", breaks="MQQP-3.2.4.1-11")
class ClientDwMqsInvertedInSecondRemoteQmOpenQueue(OpenQueueValueReplacer):
    """The client sets dwMQS of its second RemoteQMOpenQueue to the opposite value."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        machine = self.qm.enterprise.state.LocalQueueManager
        serves = bool(machine.RoutingServer or machine.DirectoryServer)
        return {"dwMQS": int(not serves)} if self.qm.remote_client.queues else {}


@fault("client-binding-not-closed-after-failed-close-queue", breaks="MQQP-3.2.4.1-07", blind=True)
class ClientBindingNotClosedAfterFailedCloseQueue(ClientQueueOpening):
    """The client does not close the second binding handle of a queue if RemoteQMCloseQueue returns a failure."""

    def close_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        yield from self._close_open_queue(queue.binding, self.find_remote_open_queue_entry(queue))
        yield from self.qm.server_bindings.close_binding(queue.binding)


@fault("client-binding-not-closed-after-cancelled-read", breaks="MQQP-3.2.4.1-07")
class ClientBindingNotClosedAfterCancelledRead(ClientQueueOpening):
    """The client does not close the second binding handle of a queue on which a read waited when the queue was
    closed.
    """

    def close_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        if any(one.queue is queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection):
            assert queue.binding is not None
            yield from self._close_open_queue(queue.binding, self.find_remote_open_queue_entry(queue))
        else:
            yield from super().close_queue_at_server(queue)
