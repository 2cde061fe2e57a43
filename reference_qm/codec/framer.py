"""Splits a byte stream into packets. Spec: MS-MQQB 2.1.1, 2.2; MS-MQMQ 2.2.19.1 (PacketSize)."""

from __future__ import annotations

from reference_qm.codec.base import measure_packet
from reference_qm.codec.format_error import FormatError, FramingError

_BYTES_NEEDED_TO_MEASURE_PACKET = 12  # bytes up to and including PacketSize


class StreamFramer:
    """Splits the bytes of one direction of a stream into complete packets. The bytes may arrive in pieces of any size.

    After an error, every later call fails: the framer does not search for the next signature, because payloads may
    contain signatures. The framer stores at most one packet, which has at most 0x00400000 + 16 bytes.
    """

    __slots__ = ("_error", "_unfinished_packet")

    def __init__(self) -> None:
        self._unfinished_packet = bytearray()
        self._error: FormatError | None = None

    @property
    def unfinished_packet_bytes(self) -> int:
        """The number of bytes of the unfinished packet that have arrived."""
        return len(self._unfinished_packet)

    @property
    def announced_packet_size(self) -> int:
        """The PacketSize of the unfinished packet, or 0 if no packet is unfinished or its PacketSize has not
        arrived.
        """
        return measure_packet(self._unfinished_packet) or 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the packets that are complete after ``data`` has arrived.

        Raises FramingError (a FormatError) as soon as a byte cannot be part of a packet. The attribute ``packets``
        of the error contains the packets that were complete before the error. Every later call raises the same
        error without packets.
        """
        if self._error is not None:
            raise FramingError(self._error, [])
        packets: list[bytes] = []
        held, position = self._unfinished_packet, 0
        try:
            while position < len(data):
                if not held:
                    size = measure_packet(data, position)
                    if size is not None and position + size <= len(data):
                        packets.append(bytes(data[position : position + size]))
                        position += size
                        continue
                size = measure_packet(held)
                missing = (_BYTES_NEEDED_TO_MEASURE_PACKET if size is None else size) - len(held)
                held += data[position : position + missing]
                position = min(position + missing, len(data))
                if len(held) == measure_packet(held):
                    packets.append(bytes(held))
                    held.clear()
        except FormatError as error:
            held.clear()
            self._error = error
            raise FramingError(error, packets) from error
        return packets
