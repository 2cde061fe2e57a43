"""Faults with which a client ends a receive that has failed."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import CallMethodStep, RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.model.statuses import Status

FAILURE_BIT = 0x80000000


class FailedReceiveEnder(ClientMessageReading):
    """A part of the queue manager that calls RemoteQMEndReceive after some receives that failed; a subclass selects
    which.
    """

    def is_failed_receive_ended(self, method: str, error: RemoteError) -> bool:
        """Return whether the client ends a failed receive."""
        raise NotImplementedError

    def get_handle(self) -> UUID | None:
        """Return the context handle with which a failed receive is ended."""
        return None

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        return (yield from self._end_failed_receive(read, "RemoteQMStartReceive", super().start_receive(read)))

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        method = "RemoteQMStartReceive2" if read.LookupId is None else "RemoteQMStartReceiveByLookupId"
        return (yield from self._end_failed_receive(read, method, super().start_receive2(read)))

    def _end_failed_receive(self, read: RemoteRead, method: str, sequence: RemoteCallSequence) -> RemoteCallSequence:
        try:
            return (yield from sequence)
        except RemoteError as error:
            if read.receives and self.is_failed_receive_ended(method, error) and read.queue.binding is not None:
                arguments = {"pphContext": self.get_handle(), "dwAck": int(RemoteReadAck.RR_NACK)}
                yield CallMethodStep(read.queue.binding, "RemoteQMEndReceive", arguments, 10_000)
            raise


def is_thrown_failure(error: RemoteError) -> bool:
    """Return whether a call failed with an RPC fault."""
    return error.status is not None and not error.status & FAILURE_BIT and error.status != _CANCELLED_READ_STATUS


_CANCELLED_READ_STATUS = Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT


@fault("client-calls-end-receive-after-start-receive-rpc-fault", breaks="MQQP-3.1.4.1-07", blind=True)
class ClientCallsEndReceiveAfterStartReceiveRpcFault(FailedReceiveEnder):
    """A client calls RemoteQMEndReceive after a RemoteQMStartReceive that failed with an RPC fault."""

    def is_failed_receive_ended(self, method: str, error: RemoteError) -> bool:
        return method == "RemoteQMStartReceive" and is_thrown_failure(error)


@fault("client-calls-end-receive-after-start-receive2-rpc-fault", breaks="MQQP-3.1.4.10-04", blind=True)
class ClientCallsEndReceiveAfterStartReceive2RpcFault(FailedReceiveEnder):
    """A client calls RemoteQMEndReceive after a RemoteQMStartReceive2 that failed with an RPC fault."""

    def is_failed_receive_ended(self, method: str, error: RemoteError) -> bool:
        return method == "RemoteQMStartReceive2" and is_thrown_failure(error)


class LaterFailedReceiveEnder(FailedReceiveEnder):
    """A part of the queue manager that ends failed receives from the second failure on."""

    method: str
    failures = 0

    def is_failed_receive_ended(self, method: str, error: RemoteError) -> bool:
        self.failures += method == self.method
        return method == self.method and self.failures > 1


@fault("client-calls-end-receive-after-second-failed-start-receive", breaks="MQQP-3.1.4.1-07", blind=True)
class ClientCallsEndReceiveAfterSecondFailedStartReceive(LaterFailedReceiveEnder):
    """A client calls RemoteQMEndReceive after the second RemoteQMStartReceive that failed, but not after the first."""

    method = "RemoteQMStartReceive"


@fault("client-calls-end-receive-after-second-failed-start-receive2", breaks="MQQP-3.1.4.10-04", blind=True)
class ClientCallsEndReceiveAfterSecondFailedStartReceive2(LaterFailedReceiveEnder):
    """A client calls RemoteQMEndReceive after the second RemoteQMStartReceive2 that failed, but not after the first."""

    method = "RemoteQMStartReceive2"
