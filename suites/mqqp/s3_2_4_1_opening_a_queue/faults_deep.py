"""Faults of MS-MQQP 3.2.4.1 Opening a Queue that only special cases reveal: several queues, and special values."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, CallMethod, RemoteError, Sequence
from reference_qm.core.remote.server_bindings import ServerBindings, require_port
from reference_qm.rpc import QM2QM, Interface


class _OpenQueue(ClientOpening):
    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        """Return the wrong parameters of RemoteQMOpenQueue."""
        return {}

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        given = super().build_open_queue(queue)
        return {**given, **self.change(queue, given)}


@fault("client-open-queue-hqueue-of-first-opened-queue", breaks="MQQP-3.2.4.1-12")
class ClientOpenQueueHqueueOfFirstOpenedQueue(_OpenQueue):
    """The client sets hQueue of RemoteQMOpenQueue to the phQueue of the queue that it opened first."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        opened = [one.QueueHandle for one in self.qm.remote_client.queues.values()]
        return {"hQueue": [*opened, queue.QueueHandle][0]}


@fault("client-open-queue-hqueue-in-16-bits", breaks="MQQP-3.2.4.1-12")
class ClientOpenQueueHqueueIn16Bits(_OpenQueue):
    """The client sets hQueue of RemoteQMOpenQueue to the low 16 bits of phQueue."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        return {"hQueue": queue.QueueHandle & 0xFFFF}


@fault("client-open-queue-pqueue-in-31-bits", breaks="MQQP-3.2.4.1-13")
class ClientOpenQueuePqueueIn31Bits(_OpenQueue):
    """The client sets pQueue of RemoteQMOpenQueue to the low 31 bits of dwpQueue."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        return {"pQueue": queue.QueueDescriptor & 0x7FFFFFFF}


@fault("client-open-queue-pqueue-of-first-opened-queue", breaks="MQQP-3.2.4.1-13")
class ClientOpenQueuePqueueOfFirstOpenedQueue(_OpenQueue):
    """The client sets pQueue of RemoteQMOpenQueue to the dwpQueue of the queue that it opened first."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        opened = [one.QueueDescriptor for one in self.qm.remote_client.queues.values()]
        return {"pQueue": [*opened, queue.QueueDescriptor][0]}


@fault("client-open-queue-dwpcontext-of-first-opened-queue", breaks="MQQP-3.2.4.1-14")
class ClientOpenQueueDwpcontextOfFirstOpenedQueue(_OpenQueue):
    """The client sets dwpContext of RemoteQMOpenQueue to the pdwContext of the queue that it opened first."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        opened = [one.OpenContext for one in self.qm.remote_client.queues.values()]
        return {"dwpContext": [*opened, queue.OpenContext][0]}


@fault("client-open-queue-dwpcontext-in-16-bits", breaks="MQQP-3.2.4.1-14")
class ClientOpenQueueDwpcontextIn16Bits(_OpenQueue):
    """The client sets dwpContext of RemoteQMOpenQueue to the low 16 bits of pdwContext."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        return {"dwpContext": queue.OpenContext & 0xFFFF}


@fault("client-open-queue-plicguid-differs-for-second-queue", breaks="MQQP-3.2.4.1-10")
class ClientOpenQueuePlicguidDiffersForSecondQueue(_OpenQueue):
    """When the client opens a queue after the first, it sets pLicGuid to a GUID other than its Identifier."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        second = bool(self.qm.remote_client.queues)
        return {"pLicGuid": UUID(int=given["pLicGuid"].int ^ 1)} if second else {}


@fault("client-second-open-queue-without-server-port-call", breaks="MQQP-3.2.4.1-03")
class ClientSecondOpenQueueWithoutServerPortCall(ServerBindings):
    """The client calls RemoteQMGetQMQMServerPort only once, and uses the first port for all later queues."""

    port = 0

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        if interface is not QM2QM or not self.port:
            found = yield from super().ask_server_port(binding, interface)
            if interface is QM2QM:
                self.port = found
            return found
        return self.port


@fault("client-server-port-in-15-bits", breaks="MQQP-3.2.4.1-04")
class ClientServerPortIn15Bits(ServerBindings):
    """When RemoteQMGetQMQMServerPort returns a port above 0x7FFF, the client does not open the queue."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        port = yield from super().ask_server_port(binding, interface)
        if port > 0x7FFF and interface is QM2QM:
            raise RemoteError(f"the port {port} is negative")
        return require_port("RemoteQMGetQMQMServerPort", interface.name, port)


@fault("client-first-binding-of-second-queue-not-closed", breaks="MQQP-3.2.4.1-05")
class ClientFirstBindingOfSecondQueueNotClosed(ServerBindings):
    """When the client opens a queue while another queue is open, it does not close the first binding handle of the new
    queue.
    """

    def close_binding(self, binding: Binding) -> Sequence:
        second = bool(self.qm.remote_client.RemoteOpenQueueEntryCollection)
        if not second or binding.interface is not QM2QM:
            yield from super().close_binding(binding)


@fault("client-second-binding-not-closed-while-other-queue-is-open", breaks="MQQP-3.2.4.1-07")
class ClientSecondBindingNotClosedWhileOtherQueueIsOpen(ServerBindings):
    """The client keeps the second binding handle of a closed queue until it closes its last queue."""

    def then_close(self, binding: Binding, sequence: Sequence) -> Sequence:
        last = len(self.qm.remote_client.RemoteOpenQueueEntryCollection) <= 1
        ports = [one.binding for one in self.qm.remote_client.queues.values()]
        known = [one.queue.binding for one in self.qm.remote_client.RemoteOpenQueueEntryCollection]
        if binding in (*ports, *known) and not last:
            return (yield from sequence)
        return (yield from super().then_close(binding, sequence))


@fault("client-open-queue-called-on-binding-of-first-queue", breaks="MQQP-3.2.4.1-09")
class ClientOpenQueueCalledOnBindingOfFirstQueue(ClientOpening):
    """The client calls RemoteQMOpenQueue for a second queue on the binding handle of the first queue."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        opened = [one.queue.binding for one in self.qm.remote_client.RemoteOpenQueueEntryCollection]
        own = queue.binding
        queue.binding = [*opened, own][0]
        context = yield from super().call_open_queue(queue)
        queue.binding = own
        return context


@fault("client-open-queue-called-twice-for-second-queue", breaks="MQQP-3.2.4.1-08")
class ClientOpenQueueCalledTwiceForSecondQueue(ClientOpening):
    """When the client has another queue open, it calls RemoteQMOpenQueue twice for the new queue."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        context = yield from super().call_open_queue(queue)
        if self.qm.remote_client.queues:
            context = yield from super().call_open_queue(queue)
        return context


@fault("client-remote-open-queue-entry-of-second-queue-replaces-first", breaks=("MQQP-3.2.4.1-17", "MQQP-3.2.4.1-20"))
class ClientRemoteOpenQueueEntryOfSecondQueueReplacesFirst(ClientOpening):
    """The client replaces the RemoteOpenQueueEntry of its first queue when it opens a second queue."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        super().add_remote_open_queue(queue, context)
        del self.qm.remote_client.RemoteOpenQueueEntryCollection[:-1]


@fault("client-remote-open-queue-entry-handle-of-first-queue", breaks="MQQP-3.2.4.1-17")
class ClientRemoteOpenQueueEntryHandleOfFirstQueue(ClientOpening):
    """The client sets RRSessionHandle of the second RemoteOpenQueueEntry to the handle of the first queue."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: UUID | None) -> None:
        entries: list[RemoteOpenQueueEntry] = self.qm.remote_client.RemoteOpenQueueEntryCollection
        super().add_remote_open_queue(queue, entries[0].RRSessionHandle if entries else context)


@fault("client-open-queue-timeout-three-minutes", breaks="MQQP-3.2.4.1-15")
class ClientOpenQueueTimeoutThreeMinutes(ClientOpening):
    """The client cancels a RemoteQMOpenQueue after three minutes."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        arguments = self.build_open_queue(queue)
        results = yield CallMethod(queue.binding, "RemoteQMOpenQueue", arguments, 180_000)
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]
