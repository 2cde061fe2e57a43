"""Faults in the properties that a signature covers, of a sender or of both sides: MQMQ-2.5.2-09 to MQMQ-2.5.3-16."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from harness.faults.signed_packets import ValueByFieldPath, change_signed_packet
from reference_qm.codec import BaseHeader, UserHeader, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

SIG10, SIG20, SIG30 = SignatureType.SIG10, SignatureType.SIG20, SignatureType.SIG30
_DELIVERY_OFFSET, _PRIORITY_OFFSET, _JOURNAL_OFFSET, _CLASS_OFFSET, _BODY_TYPE_OFFSET, _FIXED_PROPERTIES_END_OFFSET = (
    16,
    17,
    18,
    20,
    22,
    26,
)
"""Offsets of properties behind SourceQueueManager, which MSMQ 2.0 and 3.0 signatures cover."""
_broken_rule: str | tuple[str, ...]
_changed_values_by_field_path: ValueByFieldPath


def _change_signed_bytes_from_source_queue_manager(of: SignatureType, change: Callable[[bytes], bytes]) -> Install:
    """Let sender and receiver change the signed bytes of the fields SourceQueueManager to BodyType before they compute
    the signature.
    """

    class SignedInOtherForm(SecurityOnReceipt):
        def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
            content: bytes = super().build_signed_properties(packet, kind)
            if kind is not of:
                return content
            connector = 0 if packet.UserHeader.ConnectorType is None else 16
            before = (
                len(super().build_signed_properties(packet, SIG10))
                if kind is SIG20
                else len(content) - _FIXED_PROPERTIES_END_OFFSET - connector
            )
            end = before + _FIXED_PROPERTIES_END_OFFSET
            return content[:before] + change(content[before:end]) + content[end:]

    return replace_part(SignedInOtherForm)


def _make_byte_range_exchanger(first: int, second: int, end: int) -> Callable[[bytes], bytes]:
    """Return a function that exchanges the bytes from ``first`` to ``second`` and from ``second`` to ``end``."""
    return lambda data: data[:first] + data[second:end] + data[first:second] + data[end:]


def _make_byte_changer(at: int, change: Callable[[int], int]) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + bytes([change(data[at])]) + data[at + 1 :]


def _exchange_journaling_bits(value: int) -> int:
    return value >> 1 | (value & 1) << 1


for _kind, _number, _rule_numbers in (
    (SIG20, "2-0", ("MQMQ-2.5.2-09", "MQMQ-2.5.2-10", "MQMQ-2.5.2-11", "MQMQ-2.5.2-14")),
    (SIG30, "3-0", ("MQMQ-2.5.3-11", "MQMQ-2.5.3-12", "MQMQ-2.5.3-13", "MQMQ-2.5.3-16")),
):
    _dm, _pr, _journal, _body_type = _rule_numbers
    for _name, _broken_rule, _says, _tail in (
        (
            "with-priority-before-dm",
            (_dm, _pr),
            "has PR before DM",
            _make_byte_range_exchanger(_DELIVERY_OFFSET, _PRIORITY_OFFSET, _JOURNAL_OFFSET),
        ),
        (
            "with-dm-of-2-bytes",
            (_dm,),
            "has a DM of 2 bytes",
            lambda data: data[:_PRIORITY_OFFSET] + b"\0" + data[_PRIORITY_OFFSET:],
        ),
        (
            "with-dm-at-its-bits",
            (_dm,),
            "has DM at its position in UserHeader.Flags",
            _make_byte_changer(_DELIVERY_OFFSET, lambda old: old << 5 & 0xFF),
        ),
        (
            "with-priority-counted-down",
            (_pr,),
            "has 7 minus PR",
            _make_byte_changer(_PRIORITY_OFFSET, lambda old: 7 - old),
        ),
        (
            "with-journaling-bits-exchanged",
            (_journal,),
            "has JN before JP",
            _make_byte_changer(_JOURNAL_OFFSET, _exchange_journaling_bits),
        ),
        (
            "with-two-journaling-bytes",
            (_journal,),
            "has a byte for JP and a byte for JN",
            lambda data: (
                data[:_JOURNAL_OFFSET]
                + bytes([data[_JOURNAL_OFFSET] >> 1, data[_JOURNAL_OFFSET] & 1])
                + data[_JOURNAL_OFFSET + 1 :]
            ),
        ),
        (
            "with-body-type-before-class",
            (_body_type,),
            "has BodyType before MessageClass",
            _make_byte_range_exchanger(_CLASS_OFFSET, _BODY_TYPE_OFFSET, _FIXED_PROPERTIES_END_OFFSET),
        ),
        (
            "with-body-type-of-2-bytes",
            (_body_type,),
            "has a BodyType of 2 bytes",
            lambda data: data[: _FIXED_PROPERTIES_END_OFFSET - 2],
        ),
    ):
        add(
            f"queue-manager-msmq-{_number}-signature-{_name}",
            _broken_rule,
            f"The content that the queue manager signs and verifies for MSMQ {_number.replace('-', '.')} {_says}.",
            _change_signed_bytes_from_source_queue_manager(_kind, _tail),
            blind=True,
        )
    for _name, _broken_rule, _says, _changed_values_by_field_path in (
        ("dm-0", (_dm,), "DM 0", {"UserHeader.Flags": lambda old: old & ~UserHeader.flags(DM=3)}),
        ("priority-0", (_pr,), "PR 0", {"BaseHeader.Flags": lambda old: old & ~BaseHeader.flags(PR=7)}),
        (
            "journaling-bits-0",
            (_journal,),
            "JP 0 and JN 0",
            {"UserHeader.Flags": lambda old: old & ~UserHeader.flags(JP=1, JN=1)},
        ),
        ("body-type-0", (_body_type,), "BodyType 0", {"MessagePropertiesHeader.BodyType": 0}),
    ):
        add(
            f"sender-msmq-{_number}-signature-with-{_name}",
            _broken_rule,
            f"The sender computes an MSMQ {_number.replace('-', '.')} signature with {_says}.",
            change_signed_packet(_kind, _changed_values_by_field_path),
            blind=True,
        )
