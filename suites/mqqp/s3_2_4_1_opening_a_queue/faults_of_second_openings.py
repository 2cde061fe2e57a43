"""Faults in one of several openings and calls of a client: MQQP-3.2.4.1-02 to MQQP-3.2.4.1-16."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import filter_effects
from harness.faults.registry import FaultyCore, add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import BindStep, RemoteCallSequence, RemoteError, RpcBindingHandle
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bodies import CoCancel, Orphaned, Request
from reference_qm.rpc.client import find_method
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, SendPacket
from reference_qm.surface.inputs import Endpoint
from suites.mqqp.s3_2_4_1_opening_a_queue.fault_steps import OpenQueueParameterChanger


def _send_cancel_for_next_call(effect: Effect) -> list[Effect]:
    if not isinstance(effect, SendPacket):
        return [effect]
    try:
        pdu = Pdu.parse(effect.data)
    except PduError:
        return [effect]
    if not isinstance(pdu.body, CoCancel | Orphaned):
        return [effect]
    return [SendPacket(effect.transport, Pdu(pdu.body, pdu.call_id + 1).build())]


add(
    "client-cancel-of-unanswered-call-names-next-call",
    "MQQP-3.2.4.1-16",
    "The client cancels an unanswered call with PDUs whose call_id is 1 too large.",
    filter_effects(_send_cancel_for_next_call),
    blind=True,
)


@fault("client-unanswered-call-ended-by-close-of-connection", breaks="MQQP-3.2.4.1-16", blind=True)
class ClientUnansweredCallEndedByCloseOfConnection(ClientTasks):
    """The client ends an unanswered call by closing the connection, without a co_cancel or orphaned PDU."""

    def on_remote_call_timer(self, number: int, now: Now) -> None:
        awaited_answer = self.qm.remote_client.task_by_timer_number[number].awaited_answer
        if isinstance(awaited_answer, tuple) and awaited_answer[1] is not None:
            self.qm.remote_client.task_by_timer_number.pop(number)
            self._close_binding(awaited_answer[0], now, "a fault")
        else:
            super().on_remote_call_timer(number, now)


@fault("client-second-unanswered-call-not-cancelled", breaks="MQQP-3.2.4.1-16", blind=True)
class ClientSecondUnansweredCallNotCancelled(ClientTasks):
    """The client cancels only the first call that a server does not answer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.cancelled = False

    def on_remote_call_timer(self, number: int, now: Now) -> None:
        task = self.qm.remote_client.task_by_timer_number[number]
        awaited_answer = task.awaited_answer
        if self.cancelled and isinstance(awaited_answer, tuple) and awaited_answer[1] is not None:
            self.qm.remote_client.task_by_timer_number.pop(number)
            awaited_answer[0].task_by_call.pop(awaited_answer[1])
            self._resume_remote_call_task(task, RemoteError("the call was not answered in time"), now)
            return
        self.cancelled = True
        super().on_remote_call_timer(number, now)


class _OpeningBindingCounter(ServerBindings):
    """Count the binding handles to qm2qm that the client constructs for openings of queues."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.openings = 0


@fault("client-second-queue-opened-on-first-binding-if-port-refuses", breaks="MQQP-3.2.4.1-06", blind=True)
class ClientSecondQueueOpenedOnFirstBindingIfPortRefuses(ClientQueueOpening):
    """A client that has a queue open, and cannot construct the second binding handle of a new queue, calls
    RemoteQMOpenQueue for the new queue on the binding handle of the open queue.
    """

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        try:
            yield from super().open_queue_at_server(queue)
        except RemoteError:
            if not entries:
                raise
            queue.binding = entries[0].queue.binding
            self.add_remote_open_queue_entry(queue, (yield from self.call_open_queue(queue)))


@fault("client-queue-opened-again-on-first-binding", breaks="MQQP-3.2.4.1-09", blind=True)
class ClientQueueOpenedAgainOnFirstBinding(_OpeningBindingCounter):
    """From the second opening on, the client calls RemoteQMOpenQueue on the first binding handle to qm2qm."""

    def _bind_at_server_port(self, server: Endpoint, initial: RpcBindingHandle) -> RemoteCallSequence:
        self.openings += initial.interface is QM2QM
        again: RpcBindingHandle = yield from super()._bind_at_server_port(server, initial)
        return initial if initial.interface is QM2QM and self.openings > 1 else again

    def close_binding(self, binding: RpcBindingHandle) -> RemoteCallSequence:
        if self.openings < 2 or binding.interface is not QM2QM:
            yield from super().close_binding(binding)


@fault("client-queue-opened-to-peek-on-first-binding", breaks="MQQP-3.2.4.1-09", blind=True)
class ClientQueueOpenedToPeekOnFirstBinding(ClientQueueOpening):
    """A client that opens a queue to peek calls RemoteQMOpenQueue on a new binding handle at the first port."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        if not queue.may_receive:
            queue.binding = yield BindStep(queue.RemoteServer, QM2QM)
        return (yield from super().call_open_queue(queue))


@fault("client-sends-dw-mqs-1-when-opening-to-peek", breaks="MQQP-3.2.4.1-11", blind=True)
class ClientSendsDwMqs1WhenOpeningToPeek(OpenQueueParameterChanger):
    """A client that opens a queue to peek calls RemoteQMOpenQueue with dwMQS 1."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        return {} if queue.may_receive else {"dwMQS": 1}


def _cancel_preceding_call(faulty: FaultyCore) -> None:
    """Let the PDUs that cancel RemoteQMOpenQueue name the call before it on the connection, such as the bind."""
    opnum = find_method(QM2QM, "RemoteQMOpenQueue")
    opening: dict[str, int] = {}

    def rename_cancelled_call(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendPacket):
            return [effect]
        try:
            pdu = Pdu.parse(effect.data)
        except PduError:
            return [effect]  # a packet of message queuing
        if isinstance(pdu.body, Request) and pdu.body.opnum == opnum:
            opening[effect.transport] = pdu.call_id
        cancels = isinstance(pdu.body, CoCancel | Orphaned) and opening.get(effect.transport) == pdu.call_id
        return [replace(effect, data=replace(pdu, call_id=pdu.call_id - 1).build())] if cancels else [effect]

    faulty.effect_filters.append(rename_cancelled_call)


add(
    "client-cancel-of-open-queue-names-call-before",
    "MQQP-3.2.4.1-16",
    "The PDUs with which the client cancels RemoteQMOpenQueue have the call_id of the preceding call, such as "
    "the bind.",
    _cancel_preceding_call,
    blind=True,
)
