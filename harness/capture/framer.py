"""Split the bytes of one direction of a stream into packets. The bytes are received in pieces of any size."""

from __future__ import annotations

from abc import ABC, abstractmethod

from reference_qm.codec import FormatError, FramingError


class Framer(ABC):
    """A parser that splits the bytes of one direction of a stream into packets. A subclass determines the length of
    each packet.
    """

    def __init__(self) -> None:
        self._unsplit_bytes = bytearray()
        self.unsplittable_bytes = b""
        """The received bytes that cannot be split into packets, because no packet can begin with the first of them. It
        is empty if there are no such bytes.
        """

    @property
    def pending_size(self) -> int:
        """The number of received bytes that belong to an incomplete packet."""
        return len(self._unsplit_bytes)

    @property
    def first_bytes(self) -> bytes:
        """The first bytes of an incomplete packet, at most 32."""
        return bytes(self._unsplit_bytes[:32])

    def clear(self) -> None:
        """Discard an incomplete packet, because the rest of it will not arrive."""
        self._unsplit_bytes.clear()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the packets that are complete when ``data`` is added. If the bytes after them cannot begin a
        packet, raise FramingError with the packets found so far.
        """
        self._unsplit_bytes += data
        packets: list[bytes] = []
        try:
            while (size := self._read_packet_size()) is not None:
                packets.append(bytes(self._unsplit_bytes[:size]))
                del self._unsplit_bytes[:size]
        except FormatError as error:
            self.unsplittable_bytes = bytes(self._unsplit_bytes)
            self._unsplit_bytes.clear()
            raise FramingError(error, packets) from error
        return packets

    @abstractmethod
    def get_remaining_bytes(self) -> bytes:
        """Return the bytes that remain at the end of the stream, unless they are the beginning of a packet."""

    @abstractmethod
    def _read_packet_size(self) -> int | None:
        """Return the length of the packet at the start of the received bytes, or None while the packet is
        incomplete or its length is unknown.
        """
