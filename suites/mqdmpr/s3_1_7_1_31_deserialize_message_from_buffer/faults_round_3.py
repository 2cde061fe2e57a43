"""Faults that break rules of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer."""

from __future__ import annotations

from harness.faults.received_messages import change_received
from harness.faults.registry import add
from reference_qm.codec import UserHeader
from reference_qm.core.store.messages import ON_SOURCE, TYPE_ON_ADMIN_HOST

_RESPONSE_TYPE = UserHeader.flags(RQ=7)

add(
    "receiver-response-queue-on-admin-host-read-as-on-source",
    "MQDMPR-3.1.7.1.31-D17",
    "The receiver reads RQ 0x4 (PrivateQueueOnAdmin) as a private queue of the source queue manager.",
    change_received(
        {"UserHeader.Flags": lambda flags: flags & ~_RESPONSE_TYPE | UserHeader.flags(RQ=ON_SOURCE)},
        lambda packet: packet.UserHeader.RQ == TYPE_ON_ADMIN_HOST,
    ),
    blind=True,
)
