"""Faults that break rules of MS-MQSO 5.5.2 for requests that wait when the network fails."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.model.statuses import Status


@fault("client-reports-timeout-for-read-whose-connection-was-lost", breaks="MQSO-5.5.2-04", blind=True)
class ClientReportsTimeoutForReadWhoseConnectionWasLost(ClientMessageReading):
    """The client answers a remote read whose connection is lost while the read waits for a message as if the timeout
    had expired, so that the request of the application does not fail.
    """

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError as error:
            binding = read.queue.binding
            if binding is not None and (binding.end_reason or "").startswith("the connection is lost"):
                raise RemoteError(str(error), Status.MQ_ERROR_IO_TIMEOUT) from error
            raise
