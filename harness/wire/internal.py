"""Define the headers of the internal packets, which set up a session."""

from __future__ import annotations

from scapy.fields import LEIntField, LEShortField, XLEShortField

from harness.wire.fields import BytesField, GuidField
from harness.wire.layer import Layer
from harness.wire.session import SessionHeader
from harness.wire.words import WordOfBitFields


# [MS-MQQB] sect 2.2.2.1
class ConnectionParametersHeader(Layer):
    """The header with the acknowledgment timeouts (ms) and the window size: 12 bytes."""

    fields_desc = (
        LEIntField("RecoverableAckTimeout", 1496),
        LEIntField("AckTimeout", 120_000),
        XLEShortField("Reserved", 0),
        LEShortField("WindowSize", 0x40),
    )


# [MS-MQQB] sect 2.2.3.1
class EstablishConnectionHeader(Layer):
    """The header with the identifiers of both queue managers, and the time: 552 bytes. By default, SE is 1, which
    means that no ping preceded the request.
    """

    OperatingSystem = WordOfBitFields(2, "RE:8 SE OS QS X11 X12 X13 X14 X15", RE=0x10, SE=1, OS=1)

    fields_desc = (
        GuidField("ClientGuid"),
        GuidField("ServerGuid"),
        LEIntField("TimeStamp", 0),
        *OperatingSystem.fields,
        XLEShortField("Reserved", 0),
        BytesField("Padding", 512, b"\x5a" * 512),
    )


class UnknownInternal(Layer):
    """The bytes after an InternalHeader with an undefined PT."""

    may_be_empty = True

    fields_desc = (BytesField("Data", lambda layer: len(layer.original)),)


HEADER_BY_PACKET_TYPE = {1: SessionHeader, 2: EstablishConnectionHeader, 3: ConnectionParametersHeader}


def _get_packet_type(layer: Layer) -> int:
    return next((number for number, header in HEADER_BY_PACKET_TYPE.items() if isinstance(layer.payload, header)), 0)


# [MS-MQQB] sect 2.2.1
class InternalHeader(Layer):
    """The header with the type of an internal packet, and with the flag that refuses a connection: 4 bytes."""

    Flags = WordOfBitFields(2, "PT:4 CS X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15", PT=_get_packet_type)

    fields_desc = (XLEShortField("Reserved", 0), *Flags.fields)

    def after(self, layer: type[Layer]) -> type[Layer] | None:
        return HEADER_BY_PACKET_TYPE.get(self.PT, UnknownInternal) if layer is InternalHeader else None
