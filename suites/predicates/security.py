"""What the SecurityHeader of a message shows. Spec: MS-MQMQ 2.2.20.6, MS-MQQB 2.4.2.

Sizes are held against what an item says of its own length: a SID, a SIMPLEBLOB, a certificate, a text with its null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.judging.passive import MALFORMED, Context, Finding, Predicate, passive
from reference_qm.codec import FormatError, ProviderInfo, SimpleBlob

MESSAGE = "UserMessage"
NOBODY, SID, QUEUE_MANAGER = 0, 1, 2
SID_HEAD = 8
SUB_AUTHORITIES = 15
BLOB_HEAD = 12
KEY_SIZES = (BLOB_HEAD + 128, BLOB_HEAD + 256)
"""Of a SIMPLEBLOB, whose key is as long as the modulus of the receiver's."""
RSA_SIZES = (64, 128, 256, 384, 512)
ALGORITHMS = (0x660E, 0x660F, 0x6610, 0x6602, 0x6801)
GUID_SIZE = 16
DER_SEQUENCE, DER_LONG = 0x30, 0x82

Sees = Callable[[Any, Any], Finding]
"""Takes the SecurityHeader and the packet."""


def secured(sees: Sees) -> Predicate:
    """Show a predicate only messages that have the header."""

    def predicate(packet: Any, context: Context) -> Finding:
        return None if packet.SecurityHeader is None else sees(packet.SecurityHeader, packet)

    return predicate


def zero(name: str) -> Sees:
    """Demand bits that are 0."""

    def sees(security: Any, packet: Any) -> Finding:
        value = getattr(security, name)
        return value == 0, f"{name} is {value}"

    return sees


def sender_type(security: Any, packet: Any) -> Finding:
    """ST is 0, 1 or 2."""
    return security.ST in (NOBODY, SID, QUEUE_MANAGER), f"ST is {security.ST}"


def no_sender(security: Any, packet: Any) -> Finding:
    """SenderIdSize is 0 with ST 0."""
    return (security.SenderIdSize == 0, f"SenderIdSize is {security.SenderIdSize}") if security.ST == NOBODY else None


def user(security: Any, packet: Any) -> Finding:
    """SecurityID is a SID with ST 1."""
    if security.ST != SID:
        return None
    identifier = security.SecurityData.SecurityID
    return _is_sid(identifier), f"SecurityID is {identifier.hex()}"


def queue_manager(security: Any, packet: Any) -> Finding:
    """SecurityID is the GUID of the queue manager with ST 2."""
    if security.ST != QUEUE_MANAGER:
        return None
    identifier = security.SecurityData.SecurityID
    return identifier == packet.UserHeader.SourceQueueManager.bytes_le, f"SecurityID is {identifier.hex()}"


def _signed(sees: Sees) -> Sees:
    return lambda security, packet: sees(security, packet) if security.SignatureSize else None


def other_provider(security: Any, packet: Any) -> Finding:
    """ProviderInfo names a provider with DE 0 and a signature."""
    if security.DE or not security.SignatureSize:
        return None
    name = _provider(security.SecurityData.ProviderInfo)
    return bool(name), f"ProviderName is {name!a}"


def default_provider(security: Any, packet: Any) -> Finding:
    """ProviderInfo is there only with DE 0, and is a type and a name then."""
    if not security.ProviderInfoSize:
        return True, "no ProviderInfo"
    name = _provider(security.SecurityData.ProviderInfo)
    return not security.DE and name is not None, f"DE is {security.DE}, ProviderName is {name!a}"


def has_data(security: Any, packet: Any) -> Finding:
    """SecurityData is there with AI 1."""
    return (_any_size(security), f"sizes are {_sizes(security)}") if security.AI else None


def not_empty(security: Any, packet: Any) -> Finding:
    """At least one size is not 0."""
    return _any_size(security), f"sizes are {_sizes(security)}"


def as_announced(security: Any, packet: Any) -> Finding:
    """SecurityData has a sender with ST 1 or 2 and a key with EB 1."""
    lacking = [name for name, lacks in _lacking(security).items() if lacks]
    return not lacking, f"lacks {' and '.join(lacking) or 'nothing'}"


def _lacking(security: Any) -> dict[str, bool]:
    return {
        "SecurityID": security.ST != NOBODY and not security.SenderIdSize,
        "EncryptionKey": bool(security.EB) and not security.EncryptionKeySize,
    }


def sender_size(security: Any, packet: Any) -> Finding:
    """SenderIdSize is the length of the SID or GUID."""
    identifier = security.SecurityData.SecurityID
    if security.ST not in (SID, QUEUE_MANAGER):
        return None
    right = _is_sid(identifier) if security.ST == SID else len(identifier) == GUID_SIZE
    return right, f"SenderIdSize is {len(identifier)} for {identifier.hex()}"


def key_size(security: Any, packet: Any) -> Finding:
    """EncryptionKeySize is the length of the SIMPLEBLOB."""
    size = security.EncryptionKeySize
    return (size in KEY_SIZES, f"EncryptionKeySize is {size}") if size else None


def signature_size(security: Any, packet: Any) -> Finding:
    """SignatureSize is the length of an RSA signature."""
    size = security.SignatureSize
    return (size in RSA_SIZES, f"SignatureSize is {size}") if size else None


def certificate_size(security: Any, packet: Any) -> Finding:
    """SenderCertSize is the length of the certificate."""
    certificate = security.SecurityData.SenderCert
    if not certificate:
        return None
    told = 4 + int.from_bytes(certificate[2:4], "big") if certificate[:2] == bytes([DER_SEQUENCE, DER_LONG]) else -1
    return told == len(certificate), f"SenderCertSize is {len(certificate)}, the certificate's own length {told}"


def provider_size(security: Any, packet: Any) -> Finding:
    """ProviderInfoSize is the length of a type and a text with its null."""
    info = security.SecurityData.ProviderInfo
    return (_provider(info) is not None, f"ProviderInfoSize is {len(info)}") if info else None


def session_key_algorithm(security: Any, packet: Any) -> Finding:
    """sessionKeyAlgorithm of the SIMPLEBLOB is AES, RC2 or RC4."""
    key = security.SecurityData.EncryptionKey
    if not key:
        return None
    try:
        algorithm = SimpleBlob.parse(key).sessionKeyAlgorithm
    except FormatError:
        algorithm = int.from_bytes(key[4:8], "little")
    return algorithm in ALGORITHMS, f"sessionKeyAlgorithm is 0x{algorithm:X}"


def _is_sid(identifier: bytes) -> bool:
    if len(identifier) < SID_HEAD or identifier[0] != 1 or identifier[1] > SUB_AUTHORITIES:
        return False
    return len(identifier) == SID_HEAD + 4 * identifier[1]


def _provider(info: bytes) -> str | None:
    try:
        return ProviderInfo.parse(info).ProviderName
    except FormatError:
        return None


def _sizes(security: Any) -> tuple[int, ...]:
    return (
        security.SenderIdSize,
        security.EncryptionKeySize,
        security.SignatureSize,
        security.SenderCertSize,
        security.ProviderInfoSize,
    )


def _any_size(security: Any) -> bool:
    return any(_sizes(security))


RULE = "MQMQ-2.2.20.6-"
for _number, _sees in {
    "01": sender_type,
    "02": no_sender,
    "03": user,
    "04": queue_manager,
    "07": other_provider,
    "08": has_data,
    "14": sender_size,
    "15": key_size,
    "16": signature_size,
    "17": certificate_size,
    "18": provider_size,
    "19": not_empty,
    "20": as_announced,
    "22": _signed(queue_manager),
    "23": _signed(user),
    "24": _signed(queue_manager),
    "37": default_provider,
}.items():
    _expected = (_sees.__doc__ or "as with ST, in a signed message").rstrip(".")
    passive(f"{RULE}{_number}", MESSAGE, _expected)(secured(_sees))
for _number, _name in (("05", "AU"), ("09", "AS")):
    passive(f"{RULE}{_number}", MESSAGE, f"{_name} is 0")(secured(zero(_name)))
passive("MQQB-2.4.2-01", MESSAGE, (session_key_algorithm.__doc__ or "").rstrip("."))(secured(session_key_algorithm))


@passive(f"{RULE}21", (MESSAGE, MALFORMED), "each item of SecurityData begins at a multiple of 4 bytes")
def aligned(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.20.6: an item that is not where its alignment puts it leaves no whole header."""
    if isinstance(packet, FormatError):
        return (False, str(packet)) if packet.field.startswith("SecurityData.") else None
    return None if packet.SecurityHeader is None else (True, "every item is where its alignment puts it")
