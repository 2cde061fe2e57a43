"""Check the MessagePropertiesHeader of every message. Spec: MS-MQMQ 2.2.12, 2.2.18.1.6, 2.2.19.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.expectations.numbers import show_integer
from harness.judging.passive import Context, Finding, NotExercised, Predicate, passive
from reference_qm.codec import FormatError, MessageClass
from suites.mqmq.steps.message_bytes import find_properties_header_offset, is_user_message
from suites.mqmq.steps.unused import make_zero_value_predicate

USER_MESSAGE_KIND = "UserMessage"
OFFSET_BY_SIZE_FIELD = {"MessageSize": 32, "ExtensionSize": 52}
"""The offsets of the size fields in the MessagePropertiesHeader."""
PROPERTIES_HEADER_FIXED_BYTES = 56
LONGEST_LABEL_BYTES = 500

KNOWN_MESSAGE_CLASSES = frozenset(map(int, MessageClass))
APPLICATION_CLASS_BITS = 0xE1FF
"""The bits of MessageClass that an application may set (2.2.18.1.6)."""
VT_VECTOR = 0x1000
VT_BSTR = 8
KNOWN_BODY_TYPES = {0, 1, 2, 3, 11, 12, 16, 17, 18, 19, 20, 21, 31, 65, 72}
"""The type constants of 2.2.12 without VT_VECTOR, which is a flag."""
NORMAL_MESSAGE_CLASS = 0
"""MessageClass of messages that applications send; the applications choose their BodyType."""
PRIVACY_LEVELS = (0, 1, 3, 5)
RC2_ALGORITHM, RC4_ALGORITHM, AES_ALGORITHMS = 0x6602, 0x6801, (0x660E, 0x660F, 0x6610)
ENCRYPTION_ALGORITHM_FIELD = "EncryptionAlgorithm"
ALGORITHMS_BY_PRIVACY_LEVEL = {1: (RC2_ALGORITHM, RC4_ALGORITHM), 3: (RC2_ALGORITHM, RC4_ALGORITHM), 5: AES_ALGORITHMS}
"""For each PrivacyLevel, the encryption algorithms that it allows."""


def make_flag_bit_reader(bit: int) -> Callable[[Any], int]:
    """Return a function that reads a bit of Flags; the document has no name for the bit."""
    return lambda properties: properties.Flags >> bit & 1


for rule, bit in (
    ("MQMQ-2.2.19.3-05", 4),
    ("MQMQ-2.2.19.3-06", 5),
    ("MQMQ-2.2.19.3-07", 6),
    ("MQMQ-2.2.19.3-08", 7),
):
    name = f"bit {bit} of MessagePropertiesHeader.Flags"
    unused = make_zero_value_predicate("MessagePropertiesHeader", make_flag_bit_reader(bit), name)
    passive(rule, USER_MESSAGE_KIND, f"{name} is 0 when sent", advice=True)(unused)


@passive("MQMQ-2.2.19.3-11", USER_MESSAGE_KIND, "LabelLength includes the label's terminating null")
def check_label_is_terminated(packet: Any, context: Context) -> Finding:
    """Check that the label ends with a null within LabelLength."""
    properties = packet.MessagePropertiesHeader
    if not properties.LabelLength:
        return None
    return properties.LabelTerminated, f"LabelLength is {properties.LabelLength}, and the label is {properties.Label!a}"


@passive(
    "MQMQ-2.2.19.3-12", USER_MESSAGE_KIND, "MessageClass is a listed value, or has only bits that applications may set"
)
def check_message_class(packet: Any, context: Context) -> Finding:
    """Check that MessageClass is listed, or consists only of bits that applications may set."""
    value = packet.MessagePropertiesHeader.MessageClass
    return (
        value in KNOWN_MESSAGE_CLASSES or not value & ~APPLICATION_CLASS_BITS,
        f"MessageClass is {show_integer(value, 'MessageClass')}",
    )


@passive(
    "MQMQ-2.2.19.3-15", USER_MESSAGE_KIND, "BodyType of a message that the system itself creates is a type constant"
)
def check_body_type(packet: Any, context: Context) -> Finding:
    """Check that BodyType of messages that the system itself creates is a type constant, with or without VT_VECTOR.

    VT_BSTR is accepted: it is not in the table, but frame 7 of MS-MQQB section 4 contains it.
    """
    properties = packet.MessagePropertiesHeader
    value = properties.BodyType
    if properties.MessageClass == NORMAL_MESSAGE_CLASS:
        return None
    return value & ~VT_VECTOR in {*KNOWN_BODY_TYPES, VT_BSTR}, f"BodyType is 0x{value:X}"


def make_size_limit_predicate(field: str) -> Predicate:
    """Return a predicate that checks that a part is not larger than the packet."""

    def judge_size_field(packet: Any, context: Context) -> Finding:
        if not isinstance(packet, FormatError):
            size, limit = getattr(packet.MessagePropertiesHeader, field), packet.BaseHeader.PacketSize
            return size <= limit, f"{field} is {size}, and PacketSize is {limit}"
        data = context.frame.data
        at = find_properties_header_offset(data) if is_user_message(data) else None
        if at is None or len(data) < at + PROPERTIES_HEADER_FIXED_BYTES:
            return None
        begin = at + OFFSET_BY_SIZE_FIELD[field]
        size = int.from_bytes(data[begin : begin + 4], "little")
        limit = int.from_bytes(data[8:12], "little")
        return size <= limit, f"{field} is {size}, and PacketSize is {limit}"

    return judge_size_field


for rule, field in (("MQMQ-2.2.19.3-18", "MessageSize"), ("MQMQ-2.2.19.3-28", "ExtensionSize")):
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), f"{field} is no larger than PacketSize")(
        make_size_limit_predicate(field)
    )


@passive("MQMQ-2.2.19.3-20", USER_MESSAGE_KIND, "PrivacyLevel is 0, 1, 3 or 5")
def check_privacy_level(packet: Any, context: Context) -> Finding:
    """Check that PrivacyLevel has a defined value."""
    level = packet.MessagePropertiesHeader.PrivacyLevel
    return level in PRIVACY_LEVELS, f"PrivacyLevel is {level}"


@passive("MQMQ-2.2.19.3-24", USER_MESSAGE_KIND, "EncryptionAlgorithm is RC2, RC4 or AES")
def check_encryption_algorithm(packet: Any, context: Context) -> Finding:
    """Check that EncryptionAlgorithm has a defined value."""
    algorithm = packet.MessagePropertiesHeader.EncryptionAlgorithm
    return algorithm in (
        RC2_ALGORITHM,
        RC4_ALGORITHM,
        *AES_ALGORITHMS,
    ), f"EncryptionAlgorithm is {show_integer(algorithm, ENCRYPTION_ALGORITHM_FIELD)}"


@passive("MQMQ-2.2.19.3-26", USER_MESSAGE_KIND, "PrivacyLevel allows the EncryptionAlgorithm")
def check_algorithm_fits_privacy_level(packet: Any, context: Context) -> Finding:
    """Check that the algorithm is RC2 or RC4 with PrivacyLevel 1 or 3, and AES with PrivacyLevel 5."""
    properties = packet.MessagePropertiesHeader
    if properties.PrivacyLevel not in ALGORITHMS_BY_PRIVACY_LEVEL:
        return None
    kept = properties.EncryptionAlgorithm in ALGORITHMS_BY_PRIVACY_LEVEL[properties.PrivacyLevel]
    algorithm = show_integer(properties.EncryptionAlgorithm, ENCRYPTION_ALGORITHM_FIELD)
    return kept, f"EncryptionAlgorithm is {algorithm} with PrivacyLevel {properties.PrivacyLevel}"


@passive("MQMQ-2.2.19.3-30", USER_MESSAGE_KIND, "a label contains no null before its terminating null")
def check_label_has_one_null(packet: Any, context: Context) -> Finding:
    """Check that a label contains a null only as its last character."""
    properties = packet.MessagePropertiesHeader
    if not properties.LabelLength:
        return None
    return properties.LabelTerminated and "\0" not in properties.Label, f"Label is {properties.Label!a}"


@passive(
    "MQMQ-2.2.19.3-34",
    (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND),
    "the MessagePropertiesHeader is padded to a multiple of 4 bytes",
)
def check_padding_after_body(packet: Any, context: Context) -> Finding:
    """Check that padding after the body ends the header at a multiple of 4 bytes."""
    if isinstance(packet, FormatError):
        return (False, str(packet)) if packet.field == "MessagePropertiesHeader.Padding" else None
    properties = packet.MessagePropertiesHeader
    size = (
        PROPERTIES_HEADER_FIXED_BYTES
        + 2 * properties.LabelLength
        + properties.ExtensionSize
        + properties.AllocationBodySize
    )
    return (True, f"the padding has {-size % 4} bytes") if size % 4 else NotExercised("the header needs no padding")


@passive("MQMQ-2.2.19.3-19", USER_MESSAGE_KIND, "AllocationBodySize is at least MessageSize")
def check_allocation_size(packet: Any, context: Context) -> Finding:
    """Check that AllocationBodySize is at least MessageSize."""
    properties = packet.MessagePropertiesHeader
    sizes = properties.AllocationBodySize, properties.MessageSize
    return sizes[0] >= sizes[1], f"AllocationBodySize is {sizes[0]}, and MessageSize is {sizes[1]}"


@passive("MQMQ-2.2.19.3-29", USER_MESSAGE_KIND, f"a label has at most {LONGEST_LABEL_BYTES} bytes")
def check_label_size(packet: Any, context: Context) -> Finding:
    """Check that the label has at most 500 bytes, including its null."""
    size = 2 * packet.MessagePropertiesHeader.LabelLength
    return size <= LONGEST_LABEL_BYTES, f"LabelLength is {size // 2}, and the label has {size} bytes"
