"""Faults with which a client ends a receive that has failed."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import CallMethodStep, RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.model.statuses import Status

FAILURE_BIT = 0x80000000


class FailedReceiveEnded(ClientReading):
    """A part that calls RemoteQMEndReceive after some receives that failed."""

    def is_ended(self, method: str, error: RemoteError) -> bool:
        """Return whether a failed receive is ended."""
        raise NotImplementedError

    def get_handle(self) -> UUID | None:
        """Return the context handle with which a failed receive is ended."""
        return None

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        return (yield from self._end_failed(read, "RemoteQMStartReceive", super().start_receive(read)))

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        method = "RemoteQMStartReceive2" if read.LookupId is None else "RemoteQMStartReceiveByLookupId"
        return (yield from self._end_failed(read, method, super().start_receive2(read)))

    def _end_failed(self, read: RemoteRead, method: str, sequence: RemoteCallSequence) -> RemoteCallSequence:
        try:
            return (yield from sequence)
        except RemoteError as error:
            if read.receives and self.is_ended(method, error) and read.queue.binding is not None:
                arguments = {"pphContext": self.get_handle(), "dwAck": int(RemoteReadAck.RR_NACK)}
                yield CallMethodStep(read.queue.binding, "RemoteQMEndReceive", arguments, 10_000)
            raise


def is_thrown_failure(error: RemoteError) -> bool:
    """Return whether a call failed with an RPC fault."""
    return error.status is not None and not error.status & FAILURE_BIT and error.status != _CANCELLED


_CANCELLED = Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT


@fault("initiator-remoteqmstartreceive-thrown-failure-ended", breaks="MQQP-3.1.4.1-07", blind=True)
class InitiatorRemoteqmstartreceiveThrownFailureEnded(FailedReceiveEnded):
    """A client calls RemoteQMEndReceive after a RemoteQMStartReceive that failed with an RPC fault."""

    def is_ended(self, method: str, error: RemoteError) -> bool:
        return method == "RemoteQMStartReceive" and is_thrown_failure(error)


@fault("initiator-remoteqmstartreceive2-thrown-failure-ended", breaks="MQQP-3.1.4.10-04", blind=True)
class InitiatorRemoteqmstartreceive2ThrownFailureEnded(FailedReceiveEnded):
    """A client calls RemoteQMEndReceive after a RemoteQMStartReceive2 that failed with an RPC fault."""

    def is_ended(self, method: str, error: RemoteError) -> bool:
        return method == "RemoteQMStartReceive2" and is_thrown_failure(error)


class LaterFailedReceiveEnded(FailedReceiveEnded):
    """A part that ends failed receives from the second failure on."""

    method: str
    failures = 0

    def is_ended(self, method: str, error: RemoteError) -> bool:
        self.failures += method == self.method
        return method == self.method and self.failures > 1


@fault("initiator-remoteqmstartreceive-second-failure-ended", breaks="MQQP-3.1.4.1-07", blind=True)
class InitiatorRemoteqmstartreceiveSecondFailureEnded(LaterFailedReceiveEnded):
    """A client calls RemoteQMEndReceive after the second RemoteQMStartReceive that failed, but not after the first."""

    method = "RemoteQMStartReceive"


@fault("initiator-remoteqmstartreceive2-second-failure-ended", breaks="MQQP-3.1.4.10-04", blind=True)
class InitiatorRemoteqmstartreceive2SecondFailureEnded(LaterFailedReceiveEnded):
    """A client calls RemoteQMEndReceive after the second RemoteQMStartReceive2 that failed, but not after the first."""

    method = "RemoteQMStartReceive2"
