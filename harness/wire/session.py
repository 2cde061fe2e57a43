"""Define the SessionHeader, which acknowledges packets."""

from __future__ import annotations

from scapy.fields import LEShortField, XLEIntField, XLEShortField

from harness.wire.layer import Layer


# [MS-MQMQ] sect 2.2.20.4
class SessionHeader(Layer):
    """The header with the counts of the packets that were received and sent in the session: 16 bytes."""

    fields_desc = (
        LEShortField("AckSequenceNumber", 0),
        LEShortField("RecoverableMsgAckSeqNumber", 0),
        XLEIntField("RecoverableMsgAckFlags", 0),
        LEShortField("UserMsgSequenceNumber", 0),
        LEShortField("RecoverableMsgSeqNumber", 0),
        LEShortField("WindowSize", 0x40),
        XLEShortField("Reserved", 0),
    )
