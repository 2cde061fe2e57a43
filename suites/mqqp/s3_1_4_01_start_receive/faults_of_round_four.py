"""Faults of MS-MQQP 3.1.4.10 RemoteQMStartReceive2: reads of other methods, and the presentation context."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence


@fault("client-calls-start-receive2-on-refused-ndr-context", breaks="MQQP-3.1.4.10-01", blind=True)
class ClientCallsStartReceive2OnRefusedNdrContext(ClientMessageReading):
    """The client calls RemoteQMStartReceive2 on the presentation context for NDR, even if the server has accepted only
    the presentation context for NDR64.
    """

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        binding = read.queue.binding
        assert binding is not None
        contexts, name = binding.association._contexts, binding.interface.name
        kept = contexts[name]
        if read.LookupId is None:
            contexts[name] = (0, False)
        try:
            return (yield from super().start_receive2(read))
        finally:
            contexts[name] = kept
