"""Faults of how remote queues are opened and closed, and reads cancelled. Spec: MS-MQQP 3.2.1, 3.2.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import Method
from harness.faults.primitives import always, effects, procedure, skip
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote_client.binding import ServerBindings
from reference_qm.core.remote_client.cancelling import ClientCancelling
from reference_qm.core.remote_client.model import PendingRemoteReadEntry, RemoteQueue
from reference_qm.core.remote_client.opening import ClientOpening
from reference_qm.core.remote_client.running import ClientTasks
from reference_qm.core.remote_client.steps import Bind as Construct
from reference_qm.core.remote_client.steps import Binding, RemoteError, Sequence
from reference_qm.rpc import QM2QM, Interface
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.rpc.syntaxes import NDR, SyntaxId
from reference_qm.surface.effects import Effect, SendPacket
from reference_qm.surface.inputs import Endpoint

Original = Callable[..., Any]
KEPT, OPENING = "MQQP-3.2.1", "MQQP-3.2.4.1"
CANCELING, CURSOR, CLOSING = "MQQP-3.2.4.7", "MQQP-3.2.4.8", "MQQP-3.2.4.9"
STRANGE_HANDLE = UUID(int=0xBAD)


def _values(name: Method, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Install:
    """Change parameters of a call."""

    def make(original: Original) -> Original:
        def build(*given: Any) -> dict[str, Any]:
            values: dict[str, Any] = original(*given)
            return values | change(values)

        return build

    return procedure(name, make)


def _plus_one(name: Method, parameter: str) -> Install:
    return _values(name, lambda values: {parameter: values[parameter] + 1})


def nothing(*given: Any) -> Sequence:
    """Do nothing, as a sequence."""
    yield from ()


def never(name: Method) -> Install:
    """Leave out a sequence."""
    return procedure(name, lambda original: nothing)


# -- 3.2.4.1 ----------------------------------------------------------------------------------------------------------


def _other_interface(original: Original) -> Original:
    wrong = Interface("qm2qm", SyntaxId(UUID(int=QM2QM.syntax.uuid.int + 1), 1), QM2QM.methods)

    def construct(qm: QueueManager, server: Endpoint, interface: Interface) -> Sequence:
        return (yield from original(qm, server, wrong if interface is QM2QM else interface))

    return construct


def _port_of_qm2qm(asks: bool) -> Install:
    """Call the methods of qm2qm at the port that is known already, whether it asks for one or not."""

    def make(original: Original) -> Original:
        def tell(qm: QueueManager, binding: Binding) -> Sequence:
            if asks or binding.interface is not QM2QM:
                port: int = yield from original(qm, binding)
                if binding.interface is not QM2QM:
                    return port
            return qm.config.remote_rpc_port

        return tell

    return procedure(ServerBindings.ask_server_port, make)


def _bindings_kept(original: Original) -> Original:
    def close(qm: QueueManager, binding: Binding) -> Sequence:
        if binding.interface is not QM2QM:
            yield from original(qm, binding)

    return close


def _opened_anyway(original: Original) -> Original:
    """When the second binding fails, open the queue at the first port."""

    def open_queue(qm: QueueManager, queue: RemoteQueue) -> Sequence:
        try:
            return (yield from original(qm, queue))
        except RemoteError:
            queue.binding = yield Construct(queue.RemoteServer, QM2QM)
            context = yield from qm.client_opening.call_open_queue(queue)
            qm.client_opening.add_remote_open_queue(queue, context)

    return open_queue


def _on_a_third_binding(original: Original) -> Original:
    def call(qm: QueueManager, queue: RemoteQueue) -> Sequence:
        third = yield Construct(queue.RemoteServer, QM2QM)
        return (yield from original(qm, replace(queue, binding=third)))

    return call


def _silently(original: Original) -> Original:
    """Give up without a word to the server."""

    def on_timer(qm: QueueManager, number: int, now: Any) -> None:
        waits_for: Any = qm.remote_client.tasks[number].waits_for
        binding, call = waits_for
        if call is not None:
            binding.association._calls.pop(call.call_id, None)
        original(qm, number, now)

    return on_timer


def _a_minute(qm: QueueManager) -> None:
    qm.settings = replace(qm.settings, remote_call_ms=60_000)


def _entry_of_another(original: Original) -> Original:
    return lambda qm, queue, context: original(qm, queue, STRANGE_HANDLE)


add(
    "remote-open-other-interface",
    f"{OPENING}-02",
    "It binds to another interface.",
    procedure(ServerBindings.construct_binding, _other_interface),
)
add("remote-open-port-not-asked", f"{OPENING}-03", "It asks for no port of qm2qm.", _port_of_qm2qm(asks=False))
add("remote-open-port-ignored", f"{OPENING}-04", "It stays at the port that it knows.", _port_of_qm2qm(asks=True))
add(
    "remote-open-bindings-kept",
    f"{OPENING}-05",
    "Binding handles to qm2qm are never closed.",
    procedure(ServerBindings.close_binding, _bindings_kept),
)
add(
    "remote-open-without-second-binding",
    f"{OPENING}-06",
    "Without the second binding handle the queue is opened at the first port.",
    procedure(ClientOpening.open_queue_at_server, _opened_anyway),
)


def _closed_and_kept(original: Original) -> Original:
    def close(qm: QueueManager, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        entry = qm.client_opening.find_remote_open_queue(queue)
        yield from qm.client_cancelling.cancel_every_pending_read(queue)
        yield from qm.client_opening.call_close_queue(queue.binding, entry)
        qm.client_opening.remove_remote_open_queue(entry)

    return close


add(
    "remote-close-keeps-binding",
    f"{OPENING}-07",
    "The binding handle outlives the queue.",
    procedure(ClientOpening.close_queue_at_server, _closed_and_kept),
)
add(
    "remote-open-not-called",
    (f"{OPENING}-08", "MQQP-3.1.4.1-03"),
    "RemoteQMOpenQueue is not called.",
    never(ClientOpening.call_open_queue),
)
add(
    "remote-open-third-binding",
    f"{OPENING}-09",
    "RemoteQMOpenQueue is called on a binding handle of its own.",
    procedure(ClientOpening.call_open_queue, _on_a_third_binding),
)
add(
    "remote-open-other-client",
    f"{OPENING}-10",
    "pLicGuid is another GUID.",
    _values(ClientOpening.build_open_queue, lambda values: {"pLicGuid": STRANGE_HANDLE}),
)
add(
    "remote-open-other-role",
    f"{OPENING}-11",
    "dwMQS says server where it is none.",
    _values(ClientOpening.build_open_queue, lambda values: {"dwMQS": 1 - values["dwMQS"]}),
)
for _number, _name in (("12", "hQueue"), ("13", "pQueue"), ("14", "dwpContext")):
    add(
        f"remote-open-other-{_name.lower()}",
        f"{OPENING}-{_number}",
        f"{_name} of RemoteQMOpenQueue is another number.",
        _plus_one(ClientOpening.build_open_queue, _name),
    )
add("remote-open-waits-for-ever", f"{OPENING}-15", "A call is never given up.", skip(ClientTasks.on_remote_call_timer))
add("remote-open-impatient", f"{OPENING}-15", "A call is given up after a minute.", always(_a_minute))
add(
    "remote-open-given-up-silently",
    f"{OPENING}-16",
    "The server is not told that a call is given up.",
    procedure(ClientTasks.on_remote_call_timer, _silently),
)
add(
    "remote-open-entry-of-another",
    f"{OPENING}-17",
    "The entry of an open queue has another context handle.",
    procedure(ClientOpening.add_remote_open_queue, _entry_of_another),
)
add(
    "remote-open-no-entry",
    (f"{OPENING}-20", f"{KEPT}.4-01"),
    "An open queue has no entry.",
    skip(ClientOpening.add_remote_open_queue),
)

# -- 2.2, 3.1.4 -------------------------------------------------------------------------------------------------------


def _ndr_only(effect: Effect) -> Iterable[Effect]:
    """Propose NDR where NDR64 was to be."""
    if not isinstance(effect, SendPacket):
        return [effect]
    try:
        pdu = Pdu.parse(effect.data)
    except PduError:
        return [effect]
    bind = pdu.body
    if not isinstance(bind, Bind):
        return [effect]
    proposed = tuple(replace(one, transfer_syntaxes=(NDR,)) for one in bind.p_context_elem)
    return [replace(effect, data=replace(pdu, body=replace(bind, p_context_elem=proposed)).build())]


add("remote-bind-ndr-only", "MQQP-2.2-01", "NDR64 is not proposed.", effects(_ndr_only))
add(
    "remote-failures-told-apart",
    [
        *(f"MQQP-3.1.4.{one}" for one in ("1-10", "2-08", "3-12", "4-03", "5-03", "6-05", "7-03")),
        *("MQQP-3.1.4.10-10", "MQQP-3.1.4.11-18"),
    ],
    "Only failures of message queuing count as such.",
    procedure(ServerBindings.is_failure, lambda original: lambda qm, status: status >> 16 == 0xC00E),
)

# -- 3.2.4.7 ----------------------------------------------------------------------------------------------------------


def _the_last(original: Original) -> Original:
    def find(qm: QueueManager, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        return qm.remote_client.PendingRemoteReadEntryCollection[-1]

    return find


add(
    "remote-cancel-another-read",
    f"{CANCELING}-02",
    "The read that began last is cancelled.",
    procedure(ClientCancelling.find_pending_read, _the_last),
)
add(
    "remote-cancel-not-called",
    f"{CANCELING}-03",
    "RemoteQMCancelReceive is not called.",
    never(ClientCancelling.call_cancel_receive),
)
add(
    "remote-cancel-other-queue",
    (f"{CANCELING}-04", f"{CLOSING}-03"),
    "hQueue of RemoteQMCancelReceive is another number.",
    _plus_one(ClientCancelling.build_cancel_receive, "hQueue"),
)
add(
    "remote-cancel-other-descriptor",
    f"{CANCELING}-05",
    "pQueue of RemoteQMCancelReceive is another number.",
    _plus_one(ClientCancelling.build_cancel_receive, "pQueue"),
)
add(
    "remote-cancel-other-request",
    (f"{CANCELING}-06", f"{CLOSING}-04"),
    "dwRequestID of RemoteQMCancelReceive is another number.",
    _plus_one(ClientCancelling.build_cancel_receive, "dwRequestID"),
)
add(
    "remote-cancel-entry-stays",
    f"{CANCELING}-07",
    "The entry of a cancelled read stays.",
    skip(ClientCancelling.remove_cancelled_read),
)

# -- 3.2.4.8, 3.2.4.9 -------------------------------------------------------------------------------------------------

add(
    "remote-cursor-not-closed",
    (f"{CURSOR}-02", "MQQP-3.1.4.5-01"),
    "RemoteQMCloseCursor is not called.",
    never(ClientCancelling.close_remote_cursor),
)
add(
    "remote-cursor-other-queue",
    f"{CURSOR}-03",
    "hQueue of RemoteQMCloseCursor is another number.",
    _plus_one(ClientCancelling.build_close_cursor, "hQueue"),
)
add(
    "remote-cursor-other-cursor",
    f"{CURSOR}-04",
    "hCursor of RemoteQMCloseCursor is another number.",
    _plus_one(ClientCancelling.build_close_cursor, "hCursor"),
)


def _other_queue(original: Original) -> Original:
    return lambda qm, queue: qm.remote_client.RemoteOpenQueueEntryCollection[-1]


def _other_session(original: Original) -> Original:
    def call(qm: QueueManager, binding: Binding, entry: Any) -> Sequence:
        yield from original(qm, binding, replace(entry, RRSessionHandle=STRANGE_HANDLE))

    return call


add(
    "remote-close-another-queue",
    f"{CLOSING}-02",
    "The queue that was opened last is closed.",
    procedure(ClientOpening.find_remote_open_queue, _other_queue),
)
add(
    "remote-close-not-called",
    (f"{CLOSING}-05", "MQQP-2.2.1.1-01", "MQQP-3.1.4.4-01"),
    "RemoteQMCloseQueue is not called.",
    never(ClientOpening.call_close_queue),
)
add(
    "remote-close-other-session",
    f"{CLOSING}-06",
    "pphContext of RemoteQMCloseQueue is another handle.",
    procedure(ClientOpening.call_close_queue, _other_session),
)
add(
    "remote-close-entry-stays",
    f"{CLOSING}-07",
    "The entry of a closed queue stays.",
    skip(ClientOpening.remove_remote_open_queue),
)
