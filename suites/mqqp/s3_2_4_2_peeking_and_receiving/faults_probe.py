"""Faults of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import ReadAction


@fault("client-peek-next-by-cursor-sent-as-peek-current-to-old-server", breaks="MQQP-3.2.4.5-19", blind=True)
class ClientPeekNextByCursorSentAsPeekCurrentToOldServer(ClientReading):
    """The client calls RemoteQMStartReceive with PEEK_CURRENT when its application requests PEEK_NEXT by a cursor."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        if read.CursorHandle and read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            read = replace(read, Action=ReadAction.MQ_ACTION_PEEK_CURRENT)
        return (yield from super().start_receive(read))
