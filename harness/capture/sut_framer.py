"""Split the bytes from a SUT into packets, including malformed packets. Spec: MS-MQMQ 2.2.19.1, MS-MQQB 2.1.1.

A queue manager stops reading a stream at the first wrong byte. The tester, however, must report the rule that this
byte breaks, and must also read the later packets. So a packet with a wrong version, signature or size is assumed to
end where its PacketSize or its content ends.
"""

from __future__ import annotations

from harness.capture.framer import Framer
from reference_qm.codec import FormatError, parse_packet
from reference_qm.codec.base import PACKET_SIGNATURE, PACKET_VERSION_NUMBER, BaseHeader, measure_packet

_BASE_HEADER_SECTION = BaseHeader.SPEC_SECTION
_BYTES_TO_RECOGNIZE_PACKET = 8
"""int bytes: the number of bytes that are needed to recognize a packet. They contain the version and the signature
in the BaseHeader.
"""
_BYTES_TO_FIND_PACKET_KIND = 20
"""int bytes: the number of bytes that are needed to determine the kind of a packet. They contain the BaseHeader and
the start of the next header.
"""
_PACKET_SIZE_OFFSET = 8
_INTERNAL_PACKET_BYTES_BY_TYPE = {1: 36, 2: 572, 3: 32}
"""int bytes: the lengths of internal packets, by packet type (PT in the InternalHeader), for SessionAck,
EstablishConnection and ConnectionParameters.
"""
_SESSION_HEADER_BYTES = 16
_LONGEST_COMPUTED_MESSAGE_BYTES = 64 * 1024
"""int bytes: the maximum length of a message whose end is computed from its headers. A longer message ends where
its PacketSize ends.
"""


class SutFramer(Framer):
    """A parser that splits one direction of a stream into packets, including packets with a wrong BaseHeader."""

    def get_remaining_bytes(self) -> bytes:
        held, self._unsplit_bytes = bytes(self._unsplit_bytes), bytearray()
        try:
            measure_packet(held)
        except FormatError:
            return held
        return b""

    def _read_packet_size(self) -> int | None:
        held = self._unsplit_bytes
        if (
            len(held) >= _BYTES_TO_RECOGNIZE_PACKET
            and held[0] != PACKET_VERSION_NUMBER
            and held[4:_BYTES_TO_RECOGNIZE_PACKET] != PACKET_SIGNATURE
        ):
            raise FormatError(
                "BaseHeader",
                0,
                _BASE_HEADER_SECTION,
                "no packet begins here: the version and the signature are missing",
            )
        if len(held) < _BYTES_TO_FIND_PACKET_KIND:
            return None
        refused: FormatError | None = None
        said = None
        try:
            said = measure_packet(_correct_base_header(held[:_BYTES_TO_FIND_PACKET_KIND]))
        except FormatError as error:
            refused = error
        if said is not None and said <= len(held) and self._is_packet_end(said):
            return said
        found = self._find_size_by_content()
        if found is not None:
            return found if found <= len(held) else None
        if refused is None:
            return said if said is not None and said <= len(held) else None
        wanted = int.from_bytes(held[_PACKET_SIZE_OFFSET : _PACKET_SIZE_OFFSET + 4], "little")
        if not _BYTES_TO_FIND_PACKET_KIND <= wanted <= len(held) or not self._is_packet_end(wanted):
            raise refused
        return wanted

    def _find_size_by_content(self) -> int | None:
        """Return the length of the packet, computed from its content instead of its PacketSize, or None if the
        content does not determine the length.
        """
        held = self._unsplit_bytes
        base = BaseHeader(Flags=int.from_bytes(held[2:4], "little"))
        if base.IN:
            return _INTERNAL_PACKET_BYTES_BY_TYPE.get(held[18] & 0xF)
        return _compute_message_size(held, bool(base.SH)) if len(held) <= _LONGEST_COMPUTED_MESSAGE_BYTES else None

    def _is_packet_end(self, size: int) -> bool:
        """Return whether a packet can end after ``size`` bytes. It can if no more bytes have been received, or if
        another packet begins there, which may have the same error as this packet.
        """
        held = self._unsplit_bytes
        after = held[size : size + 8]
        return not after or (
            after[0] in (PACKET_VERSION_NUMBER, held[0])
            and any(signature.startswith(after[4:8]) for signature in (PACKET_SIGNATURE, bytes(held[4:8])))
        )


def _correct_base_header(head: bytearray) -> bytes:
    """Return the bytes of a packet with the version and the signature in its BaseHeader corrected."""
    return bytes([PACKET_VERSION_NUMBER]) + bytes(head[1:4]) + PACKET_SIGNATURE + bytes(head[8:])


def _compute_message_size(held: bytearray, has_session_header: bool) -> int | None:
    """Return the length of a message, computed from its headers, or None if the headers received so far are
    inconsistent.
    """
    after = _SESSION_HEADER_BYTES if has_session_header else 0
    whole = bytearray(_correct_base_header(held))
    whole[_PACKET_SIZE_OFFSET : _PACKET_SIZE_OFFSET + 4] = max(len(held) - after, 0).to_bytes(4, "little")
    try:
        parse_packet(bytes(whole))
    except FormatError as error:
        left_over = error.field == "UserMessagePacket" and error.offset > _BYTES_TO_FIND_PACKET_KIND
        return error.offset + after if left_over else None
    return len(held)
