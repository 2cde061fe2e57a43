"""Faults of a client that calls RemoteQMCancelReceive before the read, or on a rejected presentation context."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_rejected_context
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import CallMethodStep, RemoteCallSequence


@fault("client-calls-cancel-receive-before-each-later-read", breaks="MQQP-3.1.4.6-03", blind=True)
class ClientCallsCancelReceiveBeforeEachLaterRead(ClientMessageReading):
    """Before each read after its first, a client calls RemoteQMCancelReceive with the dwRequestID of that read."""

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        version = yield from super().ask_server_version(read)
        entry = read.entry
        if self.__dict__.setdefault("began", False) and entry is not None and entry.queue.binding is not None:
            arguments = self.qm.client_read_cancelling.build_cancel_receive_arguments(entry)
            yield CallMethodStep(
                entry.queue.binding, "RemoteQMCancelReceive", arguments, self.qm.settings.remote_call_ms
            )
        self.__dict__["began"] = True
        return version


add(
    "initiator-remoteqmcancelreceive-context-rejected",
    "MQQP-3.1.4.6-04",
    "A client calls RemoteQMCancelReceive on the presentation context that the server has rejected.",
    call_on_rejected_context("RemoteQMCancelReceive"),
    blind=True,
)
add(
    "initiator-remoteqmcancelreceive-context-of-third-call-rejected",
    "MQQP-3.1.4.6-04",
    "From the third call of RemoteQMCancelReceive on, a client uses the rejected presentation context.",
    call_on_rejected_context("RemoteQMCancelReceive", first_call=3),
    blind=True,
)
