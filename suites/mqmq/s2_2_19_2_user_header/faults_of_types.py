"""Faults in single undefined types of queues that the receiver accepts: MQMQ-2.2.19.2-30 and MQMQ-2.2.19.2-34."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import Packet, UserHeader
from reference_qm.codec.record import Bits
from reference_qm.core.transfer.identifying import Identifying

_FLAGS_START_OFFSET, _FLAGS_END_OFFSET = 60, 64
"""The offsets of UserHeader.Flags in a message."""
_INTERNAL_BIT = 0x08
"""The bit IN in the third byte of a packet."""
_DIRECT_QUEUE_TYPE = 7


def _read_queue_type_as_direct(bits: Bits, value: int, required: int = 0) -> Install:
    """Let the receiver read one value of a type of a queue as that of a direct name, in messages whose
    UserHeader.Flags contain the required bits.
    """

    class TypeRead(Identifying):
        def identify_packet(self, data: bytes) -> Packet:
            flags = int.from_bytes(data[_FLAGS_START_OFFSET:_FLAGS_END_OFFSET], "little")
            is_message = len(data) > _FLAGS_END_OFFSET and not data[2] & _INTERNAL_BIT
            if is_message and flags >> bits.shift & bits.mask == value and flags & required == required:
                flags |= _DIRECT_QUEUE_TYPE << bits.shift
                data = data[:_FLAGS_START_OFFSET] + flags.to_bytes(4, "little") + data[_FLAGS_END_OFFSET:]
            return super().identify_packet(data)

    return replace_part(TypeRead)


for _name, _rule, _says, _install in (
    ("destination-type-1", "MQMQ-2.2.19.2-30", "DQ 1", _read_queue_type_as_direct(UserHeader.DQ, 1)),
    ("destination-type-2", "MQMQ-2.2.19.2-30", "DQ 2", _read_queue_type_as_direct(UserHeader.DQ, 2)),
    ("destination-type-6", "MQMQ-2.2.19.2-30", "DQ 6", _read_queue_type_as_direct(UserHeader.DQ, 6)),
    ("administration-type-1", "MQMQ-2.2.19.2-34", "AQ 1", _read_queue_type_as_direct(UserHeader.AQ, 1)),
    ("administration-type-4", "MQMQ-2.2.19.2-34", "AQ 4", _read_queue_type_as_direct(UserHeader.AQ, 4)),
    (
        "administration-type-4-of-recoverable-message",
        "MQMQ-2.2.19.2-34",
        "AQ 4 in a recoverable message",
        _read_queue_type_as_direct(UserHeader.AQ, 4, UserHeader.flags(DM=1)),
    ),
):
    add(
        f"receiver-{_name}-read-as-direct",
        _rule,
        f"The receiver reads {_says} as the type of a direct name.",
        _install,
        blind=True,
    )
