"""Define the DebugHeader, which names the queue for trace messages."""

from __future__ import annotations

from scapy.fields import XLEShortField

from harness.wire.fields import GuidFieldPresentIfFlagIsSet
from harness.wire.layer import Layer
from harness.wire.words import WordOfBitFields


# [MS-MQMQ] sect 2.2.20.8
class DebugHeader(Layer):
    """The header with flags and, optionally, the GUID of a public queue: 4 or 20 bytes."""

    Flags = WordOfBitFields(
        2,
        "QT:2 X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15",
        QT=lambda layer: layer.QueueIdentifier is not None,
    )

    fields_desc = (
        *Flags.fields,
        XLEShortField("Reserved", 0),
        GuidFieldPresentIfFlagIsSet("QueueIdentifier", lambda layer: layer.QT == 1),
    )
