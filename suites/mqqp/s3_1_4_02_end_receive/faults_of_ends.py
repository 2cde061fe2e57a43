"""Faults of RemoteQMEndReceive for a negative acknowledgment, a later call, and an end that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_rejected_context
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.rpc.events import RpcOutput
from reference_qm.surface.clock import Now

FAILED_END_RECEIVE_STATUSES = (Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, Status.MQ_ERROR_TRANSACTION_SEQUENCE)


class _CallWithChangedEndReceiveAnswer:
    """A call of RemoteQMEndReceive whose answer is changed."""

    def __init__(self, call: Call, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._call = call
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def respond(self, **results: Any) -> list[RpcOutput]:
        return self._call.respond(**self._change(results))


class EndReceiveAnswerChanger(RemoteReadEnding):
    """A part of the queue manager that changes some answers of RemoteQMEndReceive; a subclass selects which."""

    def change_end_receive_answer(self, call: Call, results: dict[str, Any]) -> dict[str, Any]:
        """Return the changed answer of RemoteQMEndReceive."""
        raise NotImplementedError

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        changed = _CallWithChangedEndReceiveAnswer(call, lambda results: self.change_end_receive_answer(call, results))
        super().remote_qm_end_receive(cast(Call, changed), now)


@fault("server-end-receive-accepts-null-handle-with-nack", breaks="MQQP-3.1.4.2-10", blind=True)
class ServerEndReceiveAcceptsNullHandleWithNack(EndReceiveAnswerChanger):
    """RemoteQMEndReceive with the context handle NULL and dwAck RR_NACK returns MQ_OK."""

    def change_end_receive_answer(self, call: Call, results: dict[str, Any]) -> dict[str, Any]:
        refused = call.handle is None and call.arguments["dwAck"] == RemoteReadAck.RR_NACK
        return {**results, "Return": Status.MQ_OK} if refused else results


@fault("server-end-receive-accepts-null-handle-after-ended-receive", breaks="MQQP-3.1.4.2-10", blind=True)
class ServerEndReceiveAcceptsNullHandleAfterEndedReceive(EndReceiveAnswerChanger):
    """RemoteQMEndReceive with the context handle NULL returns MQ_OK after a receive was ended on the connection."""

    def change_end_receive_answer(self, call: Call, results: dict[str, Any]) -> dict[str, Any]:
        ended: set[int] = self.__dict__.setdefault("ended", set())
        if call.handle is None and id(call.association) in ended:
            return {**results, "Return": Status.MQ_OK}
        if call.handle is not None:
            ended.add(id(call.association))
        return results


@fault("server-end-receive-with-nack-keeps-context-handle", breaks="MQQP-3.1.4.2-16", blind=True)
class ServerEndReceiveWithNackKeepsContextHandle(EndReceiveAnswerChanger):
    """RemoteQMEndReceive with RR_NACK returns the context handle unchanged, and the handle stays valid."""

    def change_end_receive_answer(self, call: Call, results: dict[str, Any]) -> dict[str, Any]:
        return {**results, "pphContext": call.handle} if call.arguments["dwAck"] == RemoteReadAck.RR_NACK else results


@fault("server-end-receive-returns-handle-after-dequeue-failure", breaks="MQQP-3.1.4.2-16", blind=True)
class ServerEndReceiveReturnsHandleAfterDequeueFailure(EndReceiveAnswerChanger):
    """RemoteQMEndReceive returns the context handle unchanged when Dequeue Message End fails."""

    def change_end_receive_answer(self, call: Call, results: dict[str, Any]) -> dict[str, Any]:
        return {**results, "pphContext": call.handle} if results["Return"] in FAILED_END_RECEIVE_STATUSES else results


@fault("server-end-receive-returns-mq-ok-for-failed-nack", breaks="MQQP-3.1.4.2-D01", blind=True)
class ServerEndReceiveReturnsMqOkForFailedNack(EndReceiveAnswerChanger):
    """RemoteQMEndReceive with RR_NACK returns MQ_OK although Dequeue Message End fails."""

    def change_end_receive_answer(self, call: Call, results: dict[str, Any]) -> dict[str, Any]:
        failed = results["Return"] in FAILED_END_RECEIVE_STATUSES and call.arguments["dwAck"] == RemoteReadAck.RR_NACK
        return {**results, "Return": Status.MQ_OK} if failed else results


@fault("server-end-receive-returns-mq-error-for-successful-nack", breaks="MQQP-3.1.4.2-D01", blind=True)
class ServerEndReceiveReturnsMqErrorForSuccessfulNack(EndReceiveAnswerChanger):
    """RemoteQMEndReceive with RR_NACK returns MQ_ERROR although Dequeue Message End succeeds."""

    def change_end_receive_answer(self, call: Call, results: dict[str, Any]) -> dict[str, Any]:
        succeeded = results["Return"] == Status.MQ_OK and call.arguments["dwAck"] == RemoteReadAck.RR_NACK
        return {**results, "Return": Status.MQ_ERROR} if succeeded else results


@fault("client-calls-end-receive-twice-for-receive-by-lookup-id", breaks="MQQP-3.1.4.2-04", blind=True)
class ClientCallsEndReceiveTwiceForReceiveByLookupId(ClientMessageReading):
    """A client calls RemoteQMEndReceive twice for a receive by lookup identifier."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        results = yield from super().start_receive2(read)
        self.__dict__["by_lookup"] = read.entry if read.LookupId is not None else None
        return results

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        yield from super().call_end_receive(entry, ack)
        if self.__dict__.get("by_lookup") is entry:
            yield from super().call_end_receive(entry, ack)


@fault("client-omits-end-receive-while-other-read-is-pending", breaks="MQQP-3.1.4.2-04", blind=True)
class ClientOmitsEndReceiveWhileOtherReadIsPending(ClientMessageReading):
    """A client does not call RemoteQMEndReceive while another read of the same queue is pending."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if not any(one is not entry and one.queue is entry.queue for one in pending):
            yield from super().call_end_receive(entry, ack)


add(
    "initiator-remoteqmendreceive-context-rejected",
    "MQQP-3.1.4.2-05",
    "A client calls RemoteQMEndReceive on the presentation context that the server has rejected.",
    call_on_rejected_context("RemoteQMEndReceive"),
    blind=True,
)
add(
    "initiator-remoteqmendreceive-context-of-third-call-rejected",
    "MQQP-3.1.4.2-05",
    "From the third call of RemoteQMEndReceive on, a client uses the rejected presentation context.",
    call_on_rejected_context("RemoteQMEndReceive", first_call=3),
    blind=True,
)
