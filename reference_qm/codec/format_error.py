"""Defines the errors of the codec for malformed bytes and for records that cannot be built."""

from __future__ import annotations


class FormatError(ValueError):
    """Raised when bytes or text do not have the specified structure.

    ``field`` is the specified name of the field, such as ``BaseHeader.PacketSize``. ``offset`` is the offset of the
    field: int bytes from the start of the packet, or int characters from the start of a format name. ``section`` is
    the section that specifies the field, such as ``MS-MQMQ 2.2.19.1``. ``message`` has one line.
    """

    def __init__(self, field: str, offset: int, section: str, message: str) -> None:
        super().__init__(f"{field} at {offset}: {message} ({section})")
        self.field = field
        self.offset = offset
        self.section = section
        self.message = message


class FramingError(FormatError):
    """Raised when a stream contains bytes that cannot be part of a packet.

    ``packets`` contains the packets that the same call of ``StreamFramer.feed`` completed before the error.
    """

    def __init__(self, cause: FormatError, packets: list[bytes]) -> None:
        super().__init__(cause.field, cause.offset, cause.section, cause.message)
        self.packets = packets


class MisuseError(ValueError):
    """Raised when a record has values from which no valid bytes can be built. The caller that created the record has a
    bug.
    """
