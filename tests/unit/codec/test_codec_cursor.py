"""The bounded reader cannot read past the part of the bytes for which it was created."""

import pytest

from reference_qm.codec import FormatError, MQFAddressHeader
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import U16, U32, Layout

LAYOUT = Layout("Thing", "MS-X 1", First=U16, Second=U32)


def test_limited_cursor_cannot_read_past_its_end():
    whole = ByteCursor(bytes(range(20)))
    part = whole.take_subcursor(4, "Part", "MS-X 1")
    assert (part.offset, part.remaining_bytes, whole.offset) == (0, 4, 4)
    with pytest.raises(FormatError) as caught:
        part.unpack(LAYOUT)
    assert (caught.value.field, caught.value.offset, caught.value.section) == ("Thing.Second", 0, "MS-X 1")
    with pytest.raises(FormatError) as caught:
        part.read_bytes(5, "Part.Field", "MS-X 1")
    assert (caught.value.field, caught.value.offset) == ("Part.Field", 0)
    with pytest.raises(FormatError):
        part.take_subcursor(5, "Part.Field", "MS-X 1")
    assert part.read_bytes(4, "Part.Field", "MS-X 1") == bytes(range(4))
    part.require_end("Part", "MS-X 1")
    assert whole.unpack(LAYOUT) == (0x0504, 0x09080706)


def test_terminator_after_cursor_end_is_ignored():
    for wire in (b"a\0b\0\0\0", b"aabb\0\0"):
        with pytest.raises(FormatError, match="no terminating null"):
            ByteCursor(wire, 0, 4).read_wchars_up_to_marker(b"\0\0", "Text", "MS-X 1")
    assert ByteCursor(b"a\0b\0\0\0").read_wchars_up_to_marker(b"\0\0", "Text", "MS-X 1") == b"a\0b\0"


def test_format_name_element_that_exceeds_its_header_is_refused():
    wire = bytes.fromhex("10 00 00 00 64 00 00 00 01 00 00 00 03 00 61 00 00 00 00 00")
    with pytest.raises(FormatError) as caught:
        MQFAddressHeader.parse(wire)
    assert (caught.value.field, caught.value.offset) == ("MQFDirectQueueFormatName.DirectFormatName", 14)
