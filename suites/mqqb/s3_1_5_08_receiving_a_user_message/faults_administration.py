"""Faults of MS-MQQB 3.1.5.8.10 Sending an Administration Acknowledgment."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import MessagePropertiesHeader
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import MessagePosition
from reference_qm.surface.clock import Now

_ALL = MessagePropertiesHeader.flags(PA=1, PR=1, NA=1, NR=1)

add(
    "arrival-not-told",
    ("MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-D07", "MQQB-3.1.5.8-12"),
    "No arrival is acknowledged.",
    skip(AdminAcks.acknowledge_arrival),
)


@fault("arrival-told-unasked", breaks=("MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-37", "MQDMPR-3.1.1.12-D07"))
class ArrivalAcknowledgedUnasked(AdminAcks):
    """Every arrival is acknowledged."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        asking = replace(position.MessageReference, AcknowledgementsRequested=_ALL)
        super().acknowledge_arrival(replace(position, MessageReference=asking), now)
