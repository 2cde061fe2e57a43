"""The errors of the codec: for malformed bytes, and for records that cannot be built."""

from __future__ import annotations


class FormatError(ValueError):
    """Bytes or text do not have the structure that the specification prints.

    ``field``: the printed name, such as ``BaseHeader.PacketSize``. ``offset``: int bytes from the start of the packet
    to the field; for format names, int characters from the start of the text. ``section``: such as ``MS-MQMQ
    2.2.19.1``. ``message``: the one-line message.
    """

    def __init__(self, field: str, offset: int, section: str, message: str) -> None:
        super().__init__(f"{field} at {offset}: {message} ({section})")
        self.field = field
        self.offset = offset
        self.section = section
        self.message = message


class FramingError(FormatError):
    """A stream that cannot be cut into further packets.

    ``packets``: the packets that the same call of ``StreamFramer.feed`` completed before the error.
    """

    def __init__(self, cause: FormatError, packets: list[bytes]) -> None:
        super().__init__(cause.field, cause.offset, cause.section, cause.message)
        self.packets = packets


class MisuseError(ValueError):
    """The caller built a record whose bytes could not be parsed again."""
