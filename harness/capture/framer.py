"""Cut one direction of a stream into its packets; the bytes arrive in pieces of any size."""

from __future__ import annotations

from abc import ABC, abstractmethod

from reference_qm.codec import FormatError, FramingError


class Framer(ABC):
    """A framer of the bytes of one direction of a stream; a subclass defines its packets."""

    def __init__(self) -> None:
        self._held = bytearray()
        self.broken = b""
        """The bytes that no packet begins with, once there were such."""

    @property
    def pending(self) -> int:
        """Return the number of bytes held of an unfinished packet."""
        return len(self._held)

    @property
    def head(self) -> bytes:
        """Return the first bytes of an unfinished packet."""
        return bytes(self._held[:32])

    def clear(self) -> None:
        """Leave out an unfinished packet: the rest of it will not come."""
        self._held.clear()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the packets that ``data`` completes; FramingError, with those before it, where none can be found."""
        self._held += data
        packets: list[bytes] = []
        try:
            while (size := self._size()) is not None:
                packets.append(bytes(self._held[:size]))
                del self._held[:size]
        except FormatError as error:
            self.broken = bytes(self._held)
            self._held.clear()
            raise FramingError(error, packets) from error
        return packets

    @abstractmethod
    def rest(self) -> bytes:
        """Return the remaining bytes at the end of the stream, unless they begin a packet that was cut off."""

    @abstractmethod
    def _size(self) -> int | None:
        """Return the bytes of the packet at the beginning of the held bytes; None while it is incomplete, or its length
        is unknown.
        """
