"""Check the SecurityHeader of a message. Spec: MS-MQMQ 2.2.20.6.

Sizes are compared with the lengths that follow from the items themselves: a SID, a SIMPLEBLOB, a certificate or a
null-terminated string.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Context, Finding, NotExercised, passive
from reference_qm.codec import FormatError, ProviderInfo, SecurityHeader
from suites.mqmq.steps.message_parts import MessagePartJudgment, judge_message_part
from suites.mqmq.steps.unused import register_unused_bit_predicates

USER_MESSAGE_KIND = "UserMessage"
NO_SENDER_TYPE, SID_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE = 0, 1, 2
SID_FIXED_BYTES = 8
MAX_SUB_AUTHORITIES = 15
SIMPLE_BLOB_HEADER_BYTES = 12
ENCRYPTION_KEY_SIZES = (SIMPLE_BLOB_HEADER_BYTES + 128, SIMPLE_BLOB_HEADER_BYTES + 256)
"""Possible sizes of a SIMPLEBLOB in bytes: its encrypted key is as long as the receiver's RSA modulus."""
RSA_SIGNATURE_SIZES = (64, 128, 256, 384, 512)
GUID_SIZE = 16
ITEM_BY_SIZE_FIELD = {
    "SenderIdSize": "SecurityID",
    "EncryptionKeySize": "EncryptionKey",
    "SignatureSize": "Signature",
    "SenderCertSize": "SenderCert",
    "ProviderInfoSize": "ProviderInfo",
}
"""The items of SecurityData, by the field with the size of each item."""
LARGEST_CERTIFICATE_BYTES = 0xFFFF
PROVIDER_TYPE_BYTES = 4
DER_SEQUENCE_TAG, DER_TWO_BYTE_LENGTH_TAG = 0x30, 0x82

judge_security_header = judge_message_part("SecurityHeader")
UNUSED_BIT_BY_RULE = {
    "MQMQ-2.2.20.6-10": "X12",
    "MQMQ-2.2.20.6-11": "X13",
    "MQMQ-2.2.20.6-12": "X14",
    "MQMQ-2.2.20.6-13": "X15",
}
"""The unused bits of Flags, by rule."""

register_unused_bit_predicates(USER_MESSAGE_KIND, SecurityHeader, UNUSED_BIT_BY_RULE)


@passive("MQMQ-2.2.20.6-01", USER_MESSAGE_KIND, "ST of the SecurityHeader is 0, 1 or 2")
@judge_security_header
def check_sender_type(security: Any, packet: Any) -> Finding:
    """Check that ST has a defined value."""
    return security.ST in (NO_SENDER_TYPE, SID_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE), f"ST is {security.ST}"


@passive("MQMQ-2.2.20.6-02", USER_MESSAGE_KIND, "SenderIdSize is 0 if ST is 0")
@judge_security_header
def check_missing_sender_has_size_0(security: Any, packet: Any) -> Finding:
    """Check that SenderIdSize is 0 if ST is 0, which means no sender."""
    return (
        (security.SenderIdSize == 0, f"SenderIdSize is {security.SenderIdSize}")
        if security.ST == NO_SENDER_TYPE
        else None
    )


@passive("MQMQ-2.2.20.6-03", USER_MESSAGE_KIND, "SecurityID is a SID if ST is 1")
@judge_security_header
def check_user_has_sid(security: Any, packet: Any) -> Finding:
    """Check that SecurityID is a SID if ST is 1, which means a user."""
    if security.ST != SID_SENDER_TYPE:
        return None
    identifier = security.SecurityData.SecurityID
    return _is_sid(identifier), f"SecurityID is {identifier.hex()}"


@passive("MQMQ-2.2.20.6-04", USER_MESSAGE_KIND, "SecurityID is the GUID of the queue manager if ST is 2")
@judge_security_header
def check_queue_manager_has_guid(security: Any, packet: Any) -> Finding:
    """Check that SecurityID is the GUID of the SUT if ST is 2, which means a queue manager."""
    if security.ST != QUEUE_MANAGER_SENDER_TYPE:
        return None
    identifier = security.SecurityData.SecurityID
    return identifier == packet.UserHeader.SourceQueueManager.bytes_le, f"SecurityID is {identifier.hex()}"


def make_zero_bits_predicate(name: str) -> MessagePartJudgment:
    """Return a predicate that checks that some bits of SecurityHeader.Flags are 0."""

    def judge_bits(security: Any, packet: Any) -> Finding:
        value = getattr(security, name)
        return value == 0, f"{name} is {value}"

    return judge_bits


for rule, name in (("MQMQ-2.2.20.6-05", "AU"), ("MQMQ-2.2.20.6-09", "AS")):
    passive(rule, USER_MESSAGE_KIND, f"{name} of the SecurityHeader is 0")(
        judge_security_header(make_zero_bits_predicate(name))
    )


@passive("MQMQ-2.2.20.6-07", USER_MESSAGE_KIND, "ProviderInfo of a signed message contains a name if DE is 0")
@judge_security_header
def check_provider_name(security: Any, packet: Any) -> Finding:
    """Check that a signed message with DE 0 names the provider of its signature."""
    if security.DE or not security.SignatureSize:
        return None
    name = _read_provider_name(security.SecurityData.ProviderInfo)
    return bool(name), f"ProviderName is {name!a}"


@passive("MQMQ-2.2.20.6-08", USER_MESSAGE_KIND, "SecurityData is present if AI is 1")
@judge_security_header
def check_security_data_is_present(security: Any, packet: Any) -> Finding:
    """Check that SecurityData is present if AI is set."""
    return (_has_nonzero_size(security), _describe_item_sizes(security)) if security.AI else None


@passive("MQMQ-2.2.20.6-14", USER_MESSAGE_KIND, "SenderIdSize is the length of the SID or GUID in SecurityID")
@judge_security_header
def check_sender_size(security: Any, packet: Any) -> Finding:
    """Check that SenderIdSize is the length of the SID or GUID."""
    identifier = security.SecurityData.SecurityID
    if security.ST not in (SID_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE):
        return None
    right = _is_sid(identifier) if security.ST == SID_SENDER_TYPE else len(identifier) == GUID_SIZE
    return right, f"SenderIdSize is {len(identifier)}, and SecurityID is {identifier.hex()}"


@passive("MQMQ-2.2.20.6-15", USER_MESSAGE_KIND, "EncryptionKeySize is the length of the SIMPLEBLOB")
@judge_security_header
def check_encryption_key_size(security: Any, packet: Any) -> Finding:
    """Check that EncryptionKeySize is the length of the SIMPLEBLOB."""
    size = security.EncryptionKeySize
    return (size in ENCRYPTION_KEY_SIZES, f"EncryptionKeySize is {size}") if size else None


@passive("MQMQ-2.2.20.6-16", USER_MESSAGE_KIND, "SignatureSize is the length of an RSA signature")
@judge_security_header
def check_signature_size(security: Any, packet: Any) -> Finding:
    """Check that SignatureSize is the length of an RSA signature."""
    size = security.SignatureSize
    return (size in RSA_SIGNATURE_SIZES, f"SignatureSize is {size}") if size else None


@passive("MQMQ-2.2.20.6-17", USER_MESSAGE_KIND, "SenderCertSize is the length of the certificate")
@judge_security_header
def check_certificate_size(security: Any, packet: Any) -> Finding:
    """Check SenderCertSize against the length that the certificate itself contains."""
    certificate = security.SecurityData.SenderCert
    if not certificate:
        return None
    length = (
        4 + int.from_bytes(certificate[2:4], "big")
        if certificate[:2] == bytes([DER_SEQUENCE_TAG, DER_TWO_BYTE_LENGTH_TAG])
        else -1
    )
    return length == len(
        certificate
    ), f"SenderCertSize is {len(certificate)}, and the length in the certificate is {length}"


@passive("MQMQ-2.2.20.6-D04", USER_MESSAGE_KIND, f"SenderCertSize is at most {LARGEST_CERTIFICATE_BYTES}")
@judge_security_header
def check_certificate_limit(security: Any, packet: Any) -> Finding:
    """Check that SenderCertSize is at most 0xFFFF."""
    size = security.SenderCertSize
    return (size <= LARGEST_CERTIFICATE_BYTES, f"SenderCertSize is {size}") if size else None


@passive(
    "MQMQ-2.2.20.6-18",
    USER_MESSAGE_KIND,
    "ProviderInfoSize is the length of a provider type and a null-terminated name",
)
@judge_security_header
def check_provider_size(security: Any, packet: Any) -> Finding:
    """Check that ProviderInfo is a type followed by a null-terminated string."""
    info = security.SecurityData.ProviderInfo
    return (
        (_read_provider_name(info) is not None, f"ProviderInfoSize is {len(info)}, and ProviderInfo is {info.hex()}")
        if info
        else None
    )


@passive("MQMQ-2.2.20.6-19", USER_MESSAGE_KIND, "at least one of the five sizes in the SecurityHeader is not 0")
@judge_security_header
def check_any_size_is_nonzero(security: Any, packet: Any) -> Finding:
    """Check that at least one item of SecurityData is not empty."""
    return _has_nonzero_size(security), _describe_item_sizes(security)


@passive(
    "MQMQ-2.2.20.6-20",
    USER_MESSAGE_KIND,
    "SecurityData contains a SecurityID if ST is 1 or 2, and an EncryptionKey if EB is 1",
)
@judge_security_header
def check_announced_items(security: Any, packet: Any) -> Finding:
    """Check that SecurityData contains a SecurityID if ST is 1 or 2, and an EncryptionKey if EB is 1."""
    if security.ST == NO_SENDER_TYPE and not security.EB:
        return NotExercised("ST is 0, and EB is 0")
    lacking = [name for name, lacks in _find_missing_items(security).items() if lacks]
    return not lacking, f"missing items of SecurityData: {', '.join(lacking) or 'none'}"


@passive(
    "MQMQ-2.2.20.6-21",
    (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND),
    "each item of SecurityData begins at a multiple of 4 bytes",
)
def check_alignment_of_items(packet: Any, context: Context) -> Finding:
    """Check that each item begins at a multiple of 4 bytes; if not, the codec reports SecurityData as malformed."""
    if isinstance(packet, FormatError):
        return (False, str(packet)) if packet.field.startswith("SecurityData.") else None
    return (
        None if packet.SecurityHeader is None else (True, "each item of SecurityData begins at a multiple of 4 bytes")
    )


@passive(
    "MQMQ-2.2.20.6-37", USER_MESSAGE_KIND, "ProviderInfo is present only if DE is 0, and consists of a type and a name"
)
@judge_security_header
def check_provider_info_only_with_de_clear(security: Any, packet: Any) -> Finding:
    """Check that ProviderInfo is present only if DE is 0, and consists of a type and a name."""
    if not security.ProviderInfoSize:
        return NotExercised("the message has no ProviderInfo")
    info = security.SecurityData.ProviderInfo
    name, kind = _read_provider_name(info), int.from_bytes(info[:PROVIDER_TYPE_BYTES], "little")
    whole = name is not None and not _is_utf16_text(info[:PROVIDER_TYPE_BYTES])
    return not security.DE and whole, f"DE is {security.DE}, ProviderType is {kind}, and ProviderName is {name!a}"


def _is_sid(identifier: bytes) -> bool:
    if len(identifier) < SID_FIXED_BYTES or identifier[0] != 1 or identifier[1] > MAX_SUB_AUTHORITIES:
        return False
    return len(identifier) == SID_FIXED_BYTES + 4 * identifier[1]


def _read_provider_name(info: bytes) -> str | None:
    try:
        return ProviderInfo.parse(info).ProviderName
    except FormatError:
        return None


def _is_utf16_text(data: bytes) -> bool:
    """Return whether bytes are ASCII letters in UTF-16, as at the start of a ProviderName."""
    return not any(data[1::2]) and data[::2].isalpha()


def _has_nonzero_size(security: Any) -> bool:
    return any(getattr(security, name) for name in ITEM_BY_SIZE_FIELD)


def _describe_item_sizes(security: Any) -> str:
    return f"sizes: {', '.join(f'{name} {getattr(security, field)}' for field, name in ITEM_BY_SIZE_FIELD.items())}"


def _find_missing_items(security: Any) -> dict[str, bool]:
    return {
        "SecurityID": security.ST != NO_SENDER_TYPE and not security.SenderIdSize,
        "EncryptionKey": bool(security.EB) and not security.EncryptionKeySize,
    }
