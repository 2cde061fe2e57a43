"""Faults of MS-MQQP 3.2.4.1 Opening a Queue in the second opening, after failures and with other values."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, CallMethod, RemoteError, Sequence
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.rpc import QM2QM, Interface
from reference_qm.surface.inputs import Endpoint


@fault("client-second-opening-reuses-binding", breaks=("MQQP-3.2.4.1-02", "MQQP-3.2.4.1-05"))
class ClientSecondOpeningReusesBinding(ClientOpening):
    """The client opens a second queue of the same server on the binding handle of the first queue."""

    def open_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        earlier = [one for one in self.qm.remote_client.queues.values() if one.binding and not one.binding.ended]
        if not earlier:
            yield from super().open_queue_at_server(queue)
            return
        queue.binding = earlier[0].binding
        context = yield from self.call_open_queue(queue)
        self.add_remote_open_queue(queue, context)


class _PortKnown(ServerBindings):
    """Remember the port of qm2qm."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.port: int | None = None


@fault("client-second-opening-port-not-asked", breaks="MQQP-3.2.4.1-03")
class ClientSecondOpeningPortNotAsked(_PortKnown):
    """The client calls RemoteQMGetQMQMServerPort only for the first queue that it opens."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        if interface is not QM2QM:
            return (yield from super().ask_server_port(binding, interface))
        if self.port is None:
            self.port = yield from super().ask_server_port(binding, interface)
        return self.port


@fault("client-second-opening-at-port-of-first", breaks="MQQP-3.2.4.1-04")
class ClientSecondOpeningAtPortOfFirst(_PortKnown):
    """The client opens every queue at the port that the first RemoteQMGetQMQMServerPort returned."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        port = yield from super().ask_server_port(binding, interface)
        if interface is not QM2QM:
            return port
        self.port = self.port or port
        return self.port


@fault("client-first-binding-of-second-opening-not-closed", breaks="MQQP-3.2.4.1-05")
class ClientFirstBindingOfSecondOpeningNotClosed(ServerBindings):
    """The client does not close the first binding handle of the second queue that it opens."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def bind_to_server(self, server: Endpoint, interface: Interface) -> Sequence:
        self.count += interface is QM2QM
        if interface is not QM2QM or self.count % 2:
            return (yield from super().bind_to_server(server, interface))
        initial = yield from self.construct_initial_binding(server, interface)
        return (yield from self._bind_again(server, initial))


@fault("client-queue-opened-on-first-binding-if-port-refuses", breaks="MQQP-3.2.4.1-06")
class ClientQueueOpenedOnFirstBindingIfPortRefuses(ServerBindings):
    """The client calls the methods of qm2qm on the first binding handle, if the second one cannot be constructed."""

    def bind_to_server(self, server: Endpoint, interface: Interface) -> Sequence:
        initial = yield from self.construct_initial_binding(server, interface)
        try:
            second = yield from self._bind_again(server, initial)
        except RemoteError:
            return initial
        yield from self.close_binding(initial)
        return second


@fault("client-second-binding-of-second-queue-not-closed", breaks="MQQP-3.2.4.1-07")
class ClientSecondBindingOfSecondQueueNotClosed(ClientOpening):
    """The client closes the binding handle of the queue that it opened first when it closes any queue."""

    def close_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        first = self.qm.remote_client.RemoteOpenQueueEntryCollection[0].queue
        assert queue.binding is not None and first.binding is not None
        yield from self._close_open_queue(queue.binding, self.find_remote_open_queue(queue))
        yield from self.qm.server_bindings.close_binding(first.binding)


def _find_first(qm: QM, queue: RemoteQueue) -> RemoteQueue:
    return next(iter(qm.remote_client.queues.values()), queue)


class _Changing(ClientOpening):
    """Change the parameters of RemoteQMOpenQueue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        raise NotImplementedError

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        return super().build_open_queue(queue) | self.change(queue)


@fault("client-second-open-queue-plicguid-incremented", breaks="MQQP-3.2.4.1-10")
class ClientSecondOpenQueuePlicguidIncremented(_Changing):
    """The client sets pLicGuid of its second RemoteQMOpenQueue to a different GUID."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        many = len(self.qm.remote_client.queues)
        return {"pLicGuid": UUID(int=self.qm.adm.Identifier.int ^ many)}


@fault("client-second-open-queue-dwmqs-1", breaks="MQQP-3.2.4.1-11")
class ClientSecondOpenQueueDwmqs1(_Changing):
    """The client sets dwMQS of its second RemoteQMOpenQueue to the opposite value."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        machine = self.qm.enterprise.state.LocalQueueManager
        serves = bool(machine.RoutingServer or machine.DirectoryServer)
        return {"dwMQS": int(not serves)} if self.qm.remote_client.queues else {}


@fault("client-second-open-queue-hqueue-of-first", breaks="MQQP-3.2.4.1-12")
class ClientSecondOpenQueueHqueueOfFirst(_Changing):
    """The client sets hQueue of each RemoteQMOpenQueue to the phQueue of the first queue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {"hQueue": _find_first(self.qm, queue).QueueHandle}


@fault("client-second-open-queue-pqueue-of-first", breaks="MQQP-3.2.4.1-13")
class ClientSecondOpenQueuePqueueOfFirst(_Changing):
    """The client sets pQueue of each RemoteQMOpenQueue to the dwpQueue of the first queue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {"pQueue": _find_first(self.qm, queue).QueueDescriptor}


@fault("client-second-open-queue-dwpcontext-of-first", breaks="MQQP-3.2.4.1-14")
class ClientSecondOpenQueueDwpcontextOfFirst(_Changing):
    """The client sets dwpContext of each RemoteQMOpenQueue to the pdwContext of the first queue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {"dwpContext": _find_first(self.qm, queue).OpenContext}


@fault("client-open-queue-for-peek-hqueue-is-dwpqueue", breaks="MQQP-3.2.4.1-12")
class ClientOpenQueueForPeekHqueueIsDwpqueue(_Changing):
    """The client sets hQueue to dwpQueue for a queue that it opens to peek."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {} if queue.receives else {"hQueue": queue.QueueDescriptor}


@fault("client-second-open-queue-without-time-limit", breaks="MQQP-3.2.4.1-15")
class ClientSecondOpenQueueWithoutTimeLimit(ClientOpening):
    """The client never cancels the RemoteQMOpenQueue of the second queue that it opens."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        if not self.qm.remote_client.queues:
            return (yield from super().call_open_queue(queue))
        assert queue.binding is not None
        results = yield CallMethod(queue.binding, "RemoteQMOpenQueue", self.build_open_queue(queue), None)
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]


@fault("client-remote-open-queue-entry-of-peeked-queue-not-added", breaks=("MQQP-3.2.4.1-17", "MQQP-3.2.4.1-20"))
class ClientRemoteOpenQueueEntryOfPeekedQueueNotAdded(ClientOpening):
    """The client adds no RemoteOpenQueueEntry for a queue that it opens to peek."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        if queue.receives:
            super().add_remote_open_queue(queue, context)


@fault("client-remote-open-queue-entry-replaces-first", breaks=("MQQP-3.2.4.1-17", "MQQP-3.2.4.1-20"))
class ClientRemoteOpenQueueEntryReplacesFirst(ClientOpening):
    """The client keeps only the RemoteOpenQueueEntry of the queue that it opened last."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        self.qm.remote_client.RemoteOpenQueueEntryCollection.clear()
        super().add_remote_open_queue(queue, context)


@fault("client-remote-open-queue-entry-of-second-with-first-context", breaks="MQQP-3.2.4.1-17")
class ClientRemoteOpenQueueEntryOfSecondWithFirstContext(ClientOpening):
    """The client stores the phContext of the first queue in the RemoteOpenQueueEntry of the second queue."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        super().add_remote_open_queue(queue, entries[0].RRSessionHandle if entries else context)


@fault("client-remote-open-queue-entry-with-descriptor", breaks="MQQP-3.2.4.1-17")
class ClientRemoteOpenQueueEntryWithDescriptor(ClientOpening):
    """The client stores dwpQueue as OpenQueueDescriptorHandle in the RemoteOpenQueueEntry of the second queue."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        super().add_remote_open_queue(queue, context)
        if len(entries) > 1:
            entry: RemoteOpenQueueEntry = entries[-1]
            entry.OpenQueueDescriptorHandle = queue.QueueDescriptor
