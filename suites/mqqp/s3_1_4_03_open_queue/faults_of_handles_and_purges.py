"""Faults of RemoteQMOpenQueue in later openings of a queue, and faults of a client that purges an unopened queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.thrown_refusals import throw_status_as_fault_if
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import CallMethodStep, RemoteCallSequence
from reference_qm.core.remote.enums import DesiredAccess, ShareMode
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.server_names import build_queue_format
from reference_qm.model.statuses import Status
from reference_qm.rpc import QMCOMM, Call
from reference_qm.rpc.groups import ContextHandle
from reference_qm.surface.clock import Now


def _list_open_handles(call: Call) -> Iterator[ContextHandle]:
    """Yield the context handles of the queues that the client of a call has opened."""
    if call.association.group is not None:
        yield from [one for one in call.association.group.handles.values() if isinstance(one.state, OpenQueueEntry)]


@fault("server-open-queue-returns-invalid-handle-for-dwp-context-0", breaks="MQQP-3.1.4.3-14", blind=True)
class ServerOpenQueueReturnsInvalidHandleForDwpContext0(RemoteQueueOpening):
    """RemoteQMOpenQueue returns MQ_ERROR_INVALID_HANDLE for dwpContext 0 with a nonzero pQueue."""

    def check_open_handle_values(self, p_queue: int, dwp_context: int) -> Status:
        if p_queue and not dwp_context:
            return Status.MQ_ERROR_INVALID_HANDLE
        return super().check_open_handle_values(p_queue, dwp_context)


@fault("server-second-open-queue-repeats-handle-of-open-entry", breaks="MQQP-3.1.4.3-16", blind=True)
class ServerSecondOpenQueueRepeatsHandleOfOpenEntry(RemoteQueueOpening):
    """RemoteQMOpenQueue with the dwpContext of an open entry of the same client returns the handle of that entry."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        for handle in _list_open_handles(call):
            if handle.state.OpenQueueDescriptorHandle == call.arguments["dwpContext"] == call.arguments["pQueue"]:
                self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, phContext=handle))
                return
        super().remote_qm_open_queue(call, now)


@fault("server-second-open-queue-replaces-entry-of-first-opening", breaks="MQQP-3.1.4.3-16", blind=True)
class ServerSecondOpenQueueReplacesEntryOfFirstOpening(RemoteQueueOpening):
    """RemoteQMOpenQueue with the dwpContext of an open entry of the same client replaces that entry: its handle becomes
    unknown.
    """

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        for handle in list(_list_open_handles(call)):
            if handle.state.OpenQueueDescriptorHandle == call.arguments["dwpContext"] == call.arguments["pQueue"]:
                assert call.association.group is not None
                del call.association.group.handles[handle.uuid]
                self.qm.remote.OpenQueueEntryCollection.remove(handle.state)
        super().remote_qm_open_queue(call, now)


@fault("server-open-queue-entry-has-first-client-id-of-connection", breaks="MQQP-3.1.4.3-18", blind=True)
class ServerOpenQueueEntryHasFirstClientIdOfConnection(RemoteQueueOpening):
    """RemoteQMOpenQueue sets ClientId to the pLicGuid of the first RemoteQMOpenQueue on the connection."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        first: dict[int, UUID] = self.__dict__.setdefault("first", {})
        call.arguments["pLicGuid"] = first.setdefault(id(call.association), call.arguments["pLicGuid"])
        super().remote_qm_open_queue(call, now)


@fault("server-open-queue-entry-has-first-client-id-of-queue-handle", breaks="MQQP-3.1.4.3-18", blind=True)
class ServerOpenQueueEntryHasFirstClientIdOfQueueHandle(RemoteQueueOpening):
    """RemoteQMOpenQueue sets ClientId to the pLicGuid with which the same dwpContext was opened before."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        for entry in self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(call.arguments["dwpContext"]):
            call.arguments["pLicGuid"] = entry.ClientId
        super().remote_qm_open_queue(call, now)


add(
    "acceptor-remoteqmopenqueue-refusal-of-different-values-thrown",
    "MQQP-3.1.4.3-D02",
    "RemoteQMOpenQueue throws an exception, instead of returning an error, if pQueue differs from dwpContext.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_open_queue,
        lambda qm, call, status: bool(status) and call.arguments["pQueue"] != call.arguments["dwpContext"],
    ),
    blind=True,
)
add(
    "acceptor-remoteqmopenqueue-refusal-of-two-zeros-thrown",
    "MQQP-3.1.4.3-D02",
    "RemoteQMOpenQueue throws an exception, instead of returning an error, if pQueue and dwpContext are 0.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_open_queue,
        lambda qm, call, status: bool(status) and call.arguments["pQueue"] == call.arguments["dwpContext"] == 0,
    ),
    blind=True,
)


@fault("client-omits-open-queue-before-second-purge", breaks="MQQP-3.1.4.3-07", blind=True)
class ClientOmitsOpenQueueBeforeSecondPurge(ClientQueueOpening):
    """For the second purge of a queue, a client obtains a new queue handle by R_QMOpenRemoteQueue, and calls
    RemoteQMPurgeQueue with this handle without RemoteQMOpenQueue.
    """

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        purged: set[int] = self.__dict__.setdefault("purged", set())
        if queue.number not in purged:
            purged.add(queue.number)
            yield from super().purge_queue_at_server(queue)
            return
        assert queue.binding is not None
        application = yield from self.qm.server_bindings.bind_to_server(queue.RemoteServer, QMCOMM)
        results: dict[str, Any] = yield from self.qm.server_bindings.call_method(
            application,
            "R_QMOpenRemoteQueue",
            pQueueFormat=build_queue_format(queue.FormatName),
            dwCallingProcessID=0,
            dwDesiredAccess=int(DesiredAccess.MQ_RECEIVE_ACCESS),
            dwShareMode=int(ShareMode.MQ_DENY_NONE),
            pLicGuid=self.qm.adm.Identifier,
            dwMQS=0,
        )
        purging = self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=results["phQueue"])
        yield from self.qm.server_bindings.run_sequence_and_close_binding(application, purging)


@fault("client-calls-open-queue-for-second-queue-after-purge", breaks="MQQP-3.1.4.3-07", blind=True)
class ClientCallsOpenQueueForSecondQueueAfterPurge(ClientQueueOpening):
    """A client calls RemoteQMOpenQueue for its second and later queues only after the first RemoteQMPurgeQueue."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        opened: list[int] = self.__dict__.setdefault("opened", [])
        opened.append(queue.number)
        if len(opened) == 1:
            return (yield from super().call_open_queue(queue))
        self.__dict__.setdefault("unopened", set()).add(queue.number)
        return None

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        unopened: set[int] = self.__dict__.get("unopened", set())
        if queue.number not in unopened:
            yield from super().purge_queue_at_server(queue)
            return
        unopened.discard(queue.number)
        assert queue.binding is not None
        arguments = {"hQueue": queue.QueueHandle}
        yield CallMethodStep(queue.binding, "RemoteQMPurgeQueue", arguments, self.qm.settings.remote_call_ms)
        self.find_remote_open_queue_entry(queue).RRSessionHandle = yield from super().call_open_queue(queue)
        yield from super().purge_queue_at_server(queue)
