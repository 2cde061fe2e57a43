"""Faults that break the rule MQQP-3.2.4.2-26 only under certain conditions."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead


class _PeekDwSizeSetter(ClientMessageReading):
    """Set a wrong dwSize in some peeks with RemoteQMStartReceive2; a subclass selects which."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read_count = 0

    def choose_dw_size(self, read: RemoteRead) -> int:
        """Return the dwSize that the client sets in a read."""
        return 0

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        self.read_count += 1
        size = self.choose_dw_size(read)
        sized = {"dwSize": size, "lpBuffer": bytes(size)} if size else {}
        return {**described, "pRemoteReadDesc": {**described["pRemoteReadDesc"], **sized}}


@fault("client-second-peek-with-dw-size-1", breaks="MQQP-3.2.4.2-26", blind=True)
class ClientSecondPeekWithDwSize1(_PeekDwSizeSetter):
    """From its second read on, the client sets dwSize of a peek to 1."""

    def choose_dw_size(self, read: RemoteRead) -> int:
        return int(self.read_count > 1 and not read.receives)


@fault("client-peek-with-time-limit-with-dw-size-1", breaks="MQQP-3.2.4.2-26", blind=True)
class ClientPeekWithTimeLimitWithDwSize1(_PeekDwSizeSetter):
    """The client sets dwSize of a peek with a nonzero timeout to 1."""

    def choose_dw_size(self, read: RemoteRead) -> int:
        return int(bool(read.TimeOut) and not read.receives)
