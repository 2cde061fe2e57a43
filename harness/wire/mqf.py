"""Define the MultiQueueFormatHeader, which contains all destinations of a message, and its administration and
response queues.
"""

from __future__ import annotations

from typing import Any

from scapy.fields import Field, XLEShortField
from scapy.packet import Packet

from harness.wire.fields import (
    BytesField,
    ComputedField,
    NestedField,
    PaddingField,
    compute_length_of,
    measure_terminated_string,
)
from harness.wire.layer import Layer, Structure
from harness.wire.queues import (
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    PrivateQueueFormatName,
    PublicQueueFormatName,
)
from harness.wire.wire_error import WireError

ELEMENT_LAYOUT_BY_TYPE = {
    1: (PublicQueueFormatName, 1),
    2: (PrivateQueueFormatName, 4),
    3: (MQFDirectQueueFormatName, 2),
    6: (MQFDistributionQueueFormatName, 4),
}
"""For each FormatType, the layout of FormatName, and the alignment of its start (MS-MQMQ 2.2.18.1.4)."""

LONGEST_FIXED_ELEMENT = 2 + 3 + 20
ELEMENT_TYPE_BYTES = 2
ADDRESS_HEADER_FIXED_BYTES = 12

DESTINATION_HEADER_ID, ADMINISTRATION_HEADER_ID, RESPONSE_HEADER_ID = 0x0064, 0x00C8, 0x012C


def _find_element_layout(element: Packet) -> type[Structure]:
    if element.FormatType not in ELEMENT_LAYOUT_BY_TYPE:
        raise WireError(f"MQFFormatNameElement.FormatType: {element.FormatType:#06x} has no layout")
    return ELEMENT_LAYOUT_BY_TYPE[element.FormatType][0]


def _get_element_alignment(element: Packet) -> int:
    return ELEMENT_LAYOUT_BY_TYPE.get(element.get_field("FormatType").i2m(element, element.FormatType), (None, 1))[1]


def _get_element_type(element: Packet) -> int:
    return next(
        (number for number, (layout, _) in ELEMENT_LAYOUT_BY_TYPE.items() if isinstance(element.FormatName, layout)), 0
    )


# [MS-MQMQ] sect 2.2.18.1.4
class MQFFormatNameElement(Structure):
    """An element of a list of queue names: the type, and the name, which is aligned as the type requires."""

    fields_desc = (
        ComputedField("FormatType", "H", _get_element_type),
        PaddingField(align=_get_element_alignment),
        NestedField("FormatName", _find_element_layout, MQFDirectQueueFormatName()),
    )


class FormatNames(Field):
    """A list of ``ElementCount`` elements that follow each other without gaps."""

    islist = 1
    holds_packets = 1

    def __init__(self, name: str) -> None:
        super().__init__(name, [], "<0s")

    def i2count(self, pkt: Packet, x: list[MQFFormatNameElement]) -> int:
        return len(x)

    def addfield(self, pkt: Packet, s: bytes, val: list[MQFFormatNameElement]) -> bytes:
        for element in val:
            element.start = len(s)
            s += bytes(element)
        return s

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, list[Any]]:
        elements = []
        at = 0
        for _ in range(pkt.ElementCount):
            if at >= len(s):
                raise WireError(
                    f"MQFAddressHeader.ElementCount is {pkt.ElementCount}, but there are only {len(elements)} elements"
                )
            window = s[at : at + self._bound_element(pkt, s, at)]
            element = MQFFormatNameElement(window, _internal=1, _parent=pkt, start=ADDRESS_HEADER_FIXED_BYTES + at)
            elements.append(element)
            at += len(window) - len(element.rest)
        return s[at:], elements

    def _bound_element(self, pkt: Packet, data: bytes, at: int) -> int:
        """Return the maximum size of the element at ``at`` (int bytes). With this bound, each element is dissected
        from a short piece; passing all following bytes to each element would take quadratic time.
        """
        if data[at : at + ELEMENT_TYPE_BYTES] == b"\x03\0":
            return ELEMENT_TYPE_BYTES + measure_terminated_string(pkt, self.name, data, at + ELEMENT_TYPE_BYTES)
        return LONGEST_FIXED_ELEMENT


# [MS-MQMQ] sect 2.2.20.2
class MQFAddressHeader(Structure):
    """A list of queue names, padded to a multiple of 4 bytes. By default, ``HeaderSize`` includes the padding, but
    it may also exclude it.
    """

    fields_desc = (
        ComputedField("HeaderSize", "I", lambda layer: layer.size()),
        XLEShortField("HeaderID", DESTINATION_HEADER_ID),
        XLEShortField("Reserved", 0),
        ComputedField("ElementCount", "I", lambda layer: len(layer.FormatNameList)),
        FormatNames("FormatNameList"),
        PaddingField(),
    )

    def size(self) -> int:
        """Return the size in bytes, including the padding."""
        data = bytes(ADDRESS_HEADER_FIXED_BYTES)
        for name in ("FormatNameList", "Padding"):
            data = self.get_field(name).addfield(self, data, self.getfieldval(name))
        return len(data)

    def post_dissect(self, s: bytes) -> bytes:
        size = len(self.original) - len(s)
        if not size - len(self.Padding) <= self.HeaderSize <= size:
            raise WireError(f"MQFAddressHeader.HeaderSize is {self.HeaderSize}, but its padded names have {size} bytes")
        return s


class FormatNamesHeader(NestedField):
    """A field that contains an MQFAddressHeader. If a list of elements is given, it is converted to an
    MQFAddressHeader with the correct HeaderID.
    """

    __slots__ = ("header_id",)

    def __init__(self, name: str, header_id: int) -> None:
        self.header_id = header_id
        super().__init__(name, MQFAddressHeader, MQFAddressHeader(HeaderID=header_id))

    def any2i(self, pkt: Packet | None, x: Any) -> Packet | None:
        if isinstance(x, list):
            x = MQFAddressHeader(HeaderID=self.header_id, FormatNameList=x)
        return super().any2i(pkt, x)


# [MS-MQMQ] sect 2.2.20.3
class MQFSignatureHeader(Structure):
    """A signature in the header: 8 bytes followed by ``Size`` bytes, padded to a multiple of 4 like all headers
    (MS-MQMQ 2.2.19.1).
    """

    fields_desc = (
        XLEShortField("ID", 0x015E),
        XLEShortField("Reserved", 0),
        ComputedField("Size", "I", compute_length_of("Signature")),
        BytesField("Signature", lambda layer: layer.Size),
        PaddingField(printed=False),
    )


# [MS-MQMQ] sect 2.2.20.1
class MultiQueueFormatHeader(Layer):
    """The header with three lists of queue names and a signature."""

    fields_desc = (
        FormatNamesHeader("Destination", DESTINATION_HEADER_ID),
        FormatNamesHeader("Administration", ADMINISTRATION_HEADER_ID),
        FormatNamesHeader("Response", RESPONSE_HEADER_ID),
        NestedField("Signature", MQFSignatureHeader, MQFSignatureHeader()),
    )
