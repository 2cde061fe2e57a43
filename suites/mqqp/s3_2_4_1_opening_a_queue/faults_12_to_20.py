"""Faults that break the rules MQQP-3.2.4.1-12 to MQQP-3.2.4.1-20."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_after_every_input, change_pdus, combine_installers, omit_step
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import CallMethodStep, RemoteCallSequence, RemoteError
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.rpc.bodies import CoCancel, Orphaned
from suites.mqqp.s3_2_4_1_opening_a_queue.fault_steps import (
    WRONG_GUID,
    OpenQueueParameterChanger,
    OpenQueueValueReplacer,
)


def _increment_open_parameter(parameter: str) -> Install:
    """Build a fault in which the client adds one to a parameter of RemoteQMOpenQueue."""

    class OpenParameterIncrementer(ClientQueueOpening):
        def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
            values = super().build_open_queue_arguments(queue)
            return values | {parameter: values[parameter] + 1}

    return replace_part(OpenParameterIncrementer)


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


@fault(
    "client-sends-handles-of-first-queue-in-second-open-queue",
    breaks=("MQQP-3.2.4.1-12", "MQQP-3.2.4.1-13", "MQQP-3.2.4.1-14"),
)
class ClientSendsHandlesOfFirstQueueInSecondOpenQueue(ClientQueueOpening):
    """When the client opens a second queue, it passes the handles of the first queue to RemoteQMOpenQueue."""

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        return super().build_open_queue_arguments(next(iter(self.qm.remote_client.queues.values()), queue))


@fault("client-open-queue-sends-h-queue-of-first-opened-queue", breaks="MQQP-3.2.4.1-12")
class ClientOpenQueueSendsHQueueOfFirstOpenedQueue(OpenQueueParameterChanger):
    """The client sets hQueue of RemoteQMOpenQueue to the phQueue of the queue that it opened first."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        opened = [one.QueueHandle for one in self.qm.remote_client.queues.values()]
        return {"hQueue": [*opened, queue.QueueHandle][0]}


@fault("client-open-queue-sends-low-16-bits-of-h-queue", breaks="MQQP-3.2.4.1-12")
class ClientOpenQueueSendsLow16BitsOfHQueue(OpenQueueParameterChanger):
    """The client sets hQueue of RemoteQMOpenQueue to the low 16 bits of phQueue."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        return {"hQueue": queue.QueueHandle & 0xFFFF}


def _find_first_opened_queue(qm: QM, queue: RemoteQueue) -> RemoteQueue:
    return next(iter(qm.remote_client.queues.values()), queue)


@fault("client-h-queue-of-later-open-queue-is-that-of-first-queue", breaks="MQQP-3.2.4.1-12")
class ClientHQueueOfLaterOpenQueueIsThatOfFirstQueue(OpenQueueValueReplacer):
    """The client sets hQueue of each RemoteQMOpenQueue to the phQueue of the first queue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {"hQueue": _find_first_opened_queue(self.qm, queue).QueueHandle}


@fault("client-h-queue-is-dwp-queue-in-open-queue-to-peek", breaks="MQQP-3.2.4.1-12")
class ClientHQueueIsDwpQueueInOpenQueueToPeek(OpenQueueValueReplacer):
    """The client sets hQueue to dwpQueue for a queue that it opens to peek."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {} if queue.may_receive else {"hQueue": queue.QueueDescriptor}


@fault("client-open-queue-sends-low-31-bits-of-p-queue", breaks="MQQP-3.2.4.1-13")
class ClientOpenQueueSendsLow31BitsOfPQueue(OpenQueueParameterChanger):
    """The client sets pQueue of RemoteQMOpenQueue to the low 31 bits of dwpQueue."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        return {"pQueue": queue.QueueDescriptor & 0x7FFFFFFF}


@fault("client-open-queue-sends-p-queue-of-first-opened-queue", breaks="MQQP-3.2.4.1-13")
class ClientOpenQueueSendsPQueueOfFirstOpenedQueue(OpenQueueParameterChanger):
    """The client sets pQueue of RemoteQMOpenQueue to the dwpQueue of the queue that it opened first."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        opened = [one.QueueDescriptor for one in self.qm.remote_client.queues.values()]
        return {"pQueue": [*opened, queue.QueueDescriptor][0]}


@fault("client-p-queue-of-later-open-queue-is-that-of-first-queue", breaks="MQQP-3.2.4.1-13")
class ClientPQueueOfLaterOpenQueueIsThatOfFirstQueue(OpenQueueValueReplacer):
    """The client sets pQueue of each RemoteQMOpenQueue to the dwpQueue of the first queue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {"pQueue": _find_first_opened_queue(self.qm, queue).QueueDescriptor}


@fault("client-open-queue-sends-dwp-context-of-first-opened-queue", breaks="MQQP-3.2.4.1-14")
class ClientOpenQueueSendsDwpContextOfFirstOpenedQueue(OpenQueueParameterChanger):
    """The client sets dwpContext of RemoteQMOpenQueue to the pdwContext of the queue that it opened first."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        opened = [one.OpenContext for one in self.qm.remote_client.queues.values()]
        return {"dwpContext": [*opened, queue.OpenContext][0]}


@fault("client-open-queue-sends-low-16-bits-of-dwp-context", breaks="MQQP-3.2.4.1-14")
class ClientOpenQueueSendsLow16BitsOfDwpContext(OpenQueueParameterChanger):
    """The client sets dwpContext of RemoteQMOpenQueue to the low 16 bits of pdwContext."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        return {"dwpContext": queue.OpenContext & 0xFFFF}


@fault("client-dwp-context-of-later-open-queue-is-that-of-first-queue", breaks="MQQP-3.2.4.1-14")
class ClientDwpContextOfLaterOpenQueueIsThatOfFirstQueue(OpenQueueValueReplacer):
    """The client sets dwpContext of each RemoteQMOpenQueue to the pdwContext of the first queue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        return {"dwpContext": _find_first_opened_queue(self.qm, queue).OpenContext}


add(
    "client-unanswered-call-never-cancelled",
    "MQQP-3.2.4.1-15",
    "The client never cancels a call that the server does not answer.",
    omit_step(ClientTasks.on_remote_call_timer),
)


def _set_remote_call_time_to_one_minute(qm: QueueManager) -> None:
    qm.settings = replace(qm.settings, remote_call_ms=60_000)


add(
    "client-unanswered-call-cancelled-after-1-minute",
    "MQQP-3.2.4.1-15",
    "The client cancels an unanswered call after one minute.",
    change_core_after_every_input(_set_remote_call_time_to_one_minute),
)


@fault("client-cancels-open-queue-call-after-three-minutes", breaks="MQQP-3.2.4.1-15")
class ClientCancelsOpenQueueCallAfterThreeMinutes(ClientQueueOpening):
    """The client cancels a RemoteQMOpenQueue after three minutes."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        arguments = self.build_open_queue_arguments(queue)
        results = yield CallMethodStep(queue.binding, "RemoteQMOpenQueue", arguments, 180_000)
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]


@fault("client-second-open-queue-without-time-limit", breaks="MQQP-3.2.4.1-15")
class ClientSecondOpenQueueWithoutTimeLimit(ClientQueueOpening):
    """The client never cancels the RemoteQMOpenQueue of the second queue that it opens."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        if not self.qm.remote_client.queues:
            return (yield from super().call_open_queue(queue))
        assert queue.binding is not None
        results = yield CallMethodStep(queue.binding, "RemoteQMOpenQueue", self.build_open_queue_arguments(queue), None)
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]


@fault("client-cancels-open-queue-call-after-ten-minutes", breaks="MQQP-3.2.4.1-15", blind=True)
class ClientCancelsOpenQueueCallAfterTenMinutes(ClientQueueOpening):
    """The client cancels an unanswered RemoteQMOpenQueue after ten minutes."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        limit = 2 * self.qm.settings.remote_call_ms
        results = yield CallMethodStep(
            queue.binding, "RemoteQMOpenQueue", self.build_open_queue_arguments(queue), limit
        )
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]


@fault("client-second-open-queue-not-cancelled", breaks="MQQP-3.2.4.1-15", blind=True)
class ClientSecondOpenQueueNotCancelled(ClientQueueOpening):
    """The client never cancels an unanswered RemoteQMOpenQueue while it has another queue open."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        limit = None if self.qm.remote_client.queues else self.qm.settings.remote_call_ms
        results = yield CallMethodStep(
            queue.binding, "RemoteQMOpenQueue", self.build_open_queue_arguments(queue), limit
        )
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]


add(
    "client-unanswered-call-dropped-without-cancel",
    "MQQP-3.2.4.1-16",
    "The client abandons an unanswered call without a co_cancel or orphaned PDU.",
    combine_installers(change_pdus(CoCancel, lambda body: None), change_pdus(Orphaned, lambda body: None)),
)


@fault("client-open-queue-entry-has-wrong-context-handle", breaks="MQQP-3.2.4.1-17")
class ClientOpenQueueEntryHasWrongContextHandle(ClientQueueOpening):
    """The client's RemoteOpenQueueEntry contains a wrong context handle."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        super().add_remote_open_queue_entry(queue, WRONG_GUID)


@fault("client-remote-open-queue-entry-of-second-queue-replaces-first", breaks=("MQQP-3.2.4.1-17", "MQQP-3.2.4.1-20"))
class ClientRemoteOpenQueueEntryOfSecondQueueReplacesFirst(ClientQueueOpening):
    """The client replaces the RemoteOpenQueueEntry of its first queue when it opens a second queue."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        super().add_remote_open_queue_entry(queue, context)
        del self.qm.remote_client.RemoteOpenQueueEntryCollection[:-1]


@fault("client-second-open-queue-entry-has-handle-of-first-queue", breaks="MQQP-3.2.4.1-17")
class ClientSecondOpenQueueEntryHasHandleOfFirstQueue(ClientQueueOpening):
    """The client sets RRSessionHandle of the second RemoteOpenQueueEntry to the handle of the first queue."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        entries: list[RemoteOpenQueueEntry] = self.qm.remote_client.RemoteOpenQueueEntryCollection
        super().add_remote_open_queue_entry(queue, entries[0].RRSessionHandle if entries else context)


@fault("client-remote-open-queue-entry-of-peeked-queue-not-added", breaks=("MQQP-3.2.4.1-17", "MQQP-3.2.4.1-20"))
class ClientRemoteOpenQueueEntryOfPeekedQueueNotAdded(ClientQueueOpening):
    """The client adds no RemoteOpenQueueEntry for a queue that it opens to peek."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        if queue.may_receive:
            super().add_remote_open_queue_entry(queue, context)


@fault("client-keeps-only-remote-open-queue-entry-of-last-queue", breaks=("MQQP-3.2.4.1-17", "MQQP-3.2.4.1-20"))
class ClientKeepsOnlyRemoteOpenQueueEntryOfLastQueue(ClientQueueOpening):
    """The client keeps only the RemoteOpenQueueEntry of the queue that it opened last."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        self.qm.remote_client.RemoteOpenQueueEntryCollection.clear()
        super().add_remote_open_queue_entry(queue, context)


@fault("client-second-open-queue-entry-has-ph-context-of-first-queue", breaks="MQQP-3.2.4.1-17")
class ClientSecondOpenQueueEntryHasPhContextOfFirstQueue(ClientQueueOpening):
    """The client stores the phContext of the first queue in the RemoteOpenQueueEntry of the second queue."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        super().add_remote_open_queue_entry(queue, entries[0].RRSessionHandle if entries else context)


@fault("client-second-open-queue-entry-has-dwp-queue-as-handle", breaks="MQQP-3.2.4.1-17")
class ClientSecondOpenQueueEntryHasDwpQueueAsHandle(ClientQueueOpening):
    """The client stores dwpQueue as OpenQueueDescriptorHandle in the RemoteOpenQueueEntry of the second queue."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        super().add_remote_open_queue_entry(queue, context)
        if len(entries) > 1:
            entry: RemoteOpenQueueEntry = entries[-1]
            entry.OpenQueueDescriptorHandle = queue.QueueDescriptor


add(
    "client-open-queue-entry-missing",
    ("MQQP-3.2.4.1-20", "MQQP-3.2.1.4-01"),
    "The client creates no RemoteOpenQueueEntry.",
    omit_step(ClientQueueOpening.add_remote_open_queue_entry),
)


@fault("client-adds-entry-for-queue-of-failed-open-queue", breaks="MQQP-3.2.4.1-20", blind=True)
class ClientAddsEntryForQueueOfFailedOpenQueue(ClientQueueOpening):
    """When RemoteQMOpenQueue failed, the client still adds a RemoteOpenQueueEntry for the queue."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        try:
            return (yield from super().call_open_queue(queue))
        except RemoteError:
            self.add_remote_open_queue_entry(queue, NULL_GUID)
            raise
