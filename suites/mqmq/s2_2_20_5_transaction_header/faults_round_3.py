"""Faults that break rules of MS-MQMQ 2.2.20.5 TransactionHeader."""

from __future__ import annotations

from harness.faults.received_messages import change_received
from harness.faults.registry import add
from reference_qm.codec import TransactionHeader

_FINAL_ACK = TransactionHeader.flags(FA=1)

add(
    "receiver-no-final-ack-for-message-with-x1",
    "MQMQ-2.2.20.5-08",
    "The receiver sends no FinalAck for a message that requests one if bit X1 of TransactionHeader.Flags is set.",
    change_received(
        {"TransactionHeader.Flags": lambda flags: flags & ~_FINAL_ACK},
        lambda packet: packet.TransactionHeader is not None and packet.TransactionHeader.X1,
    ),
    blind=True,
)
