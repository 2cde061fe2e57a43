"""Define the SoapHeader, which contains SOAP texts."""

from __future__ import annotations

from scapy.fields import XLEShortField

from harness.wire.fields import ComputedField, PaddingField, WideStringField, compute_length_of
from harness.wire.layer import Layer


# [MS-MQMQ] sect 2.2.20.7
class SoapHeader(Layer):
    """The header with two texts, each with its length in characters.

    The section specifies no padding, but headers are aligned to 4 bytes (MS-MQMQ 2.2.19.1, PacketSize).
    """

    fields_desc = (
        XLEShortField("HeaderSectionID", 0x0320),
        XLEShortField("Reserved", 0),
        ComputedField("HeaderDataLength", "I", compute_length_of("Header", unit=2)),
        WideStringField("Header", lambda layer: 2 * layer.HeaderDataLength),
        XLEShortField("BodySectionID", 0x0384),
        XLEShortField("Reserved1", 0),
        ComputedField("BodyDataLength", "I", compute_length_of("Body", unit=2)),
        WideStringField("Body", lambda layer: 2 * layer.BodyDataLength),
        PaddingField(printed=False),
    )
