"""Defines the algorithms that a message can name, and the algorithms of each PrivacyLevel. Spec: MS-MQMQ 2.2.19.3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from reference_qm.security.security_error import SecurityError

SPEC_SECTION = "MS-MQMQ 2.2.19.3"


class HashAlgorithm(IntEnum):
    """The values of MessagePropertiesHeader.HashAlgorithm, u32. Spec: MS-MQMQ 2.2.19.3."""

    MD2 = 0x8001
    MD4 = 0x8002
    MD5 = 0x8003
    SHA1 = 0x8004
    SHA256 = 0x800C
    SHA512 = 0x800E


class EncryptionAlgorithm(IntEnum):
    """The values of MessagePropertiesHeader.EncryptionAlgorithm, u32. Spec: MS-MQMQ 2.2.19.3."""

    RC2 = 0x6602
    RC4 = 0x6801
    AES128 = 0x660E
    AES192 = 0x660F
    AES256 = 0x6610


class PrivacyLevel(IntEnum):
    """The values of MessagePropertiesHeader.PrivacyLevel, u32. Spec: MS-MQMQ 2.2.19.3."""

    NONE = 0
    BASE = 1
    ENHANCED = 3
    ADVANCED = 5


BASE_PROVIDER = "Microsoft Base Cryptographic Provider v1.0"
ENHANCED_PROVIDER = "Microsoft Enhanced Cryptographic Provider v1.0"
AES_PROVIDER = "Microsoft Enhanced RSA and AES Cryptographic Provider"
PROV_RSA_FULL = 0x01
PROV_RSA_AES = 0x18


@dataclass(frozen=True, slots=True)
class PrivacyProvider:
    """The provider and the keys that a PrivacyLevel stands for.

    Spec: MS-MQQB 3.1.5.8.3, 3.1.7.1.5. ``provider``: the name of the CSP. ``provider_type``: u32 (MS-MQMQ 2.2.1).
    ``key_bits``: the length in bits of the symmetric key for each algorithm of the provider.
    """

    provider: str
    provider_type: int
    key_bits: Mapping[EncryptionAlgorithm, int]


PRIVACY_BY_LEVEL: Mapping[int, PrivacyProvider] = {
    PrivacyLevel.BASE: PrivacyProvider(
        BASE_PROVIDER, PROV_RSA_FULL, {EncryptionAlgorithm.RC2: 40, EncryptionAlgorithm.RC4: 40}
    ),
    PrivacyLevel.ENHANCED: PrivacyProvider(
        ENHANCED_PROVIDER, PROV_RSA_FULL, {EncryptionAlgorithm.RC2: 128, EncryptionAlgorithm.RC4: 128}
    ),
    PrivacyLevel.ADVANCED: PrivacyProvider(
        AES_PROVIDER,
        PROV_RSA_AES,
        {EncryptionAlgorithm.AES128: 128, EncryptionAlgorithm.AES192: 192, EncryptionAlgorithm.AES256: 256},
    ),
}


def parse_hash_algorithm(value: int) -> HashAlgorithm:
    """Return the HashAlgorithm with a u32 value. Raise SecurityError for a value that is not in the table."""
    try:
        return HashAlgorithm(value)
    except ValueError:
        raise SecurityError(
            "MessagePropertiesHeader.HashAlgorithm", SPEC_SECTION, f"0x{value:08X} is not a known hash algorithm"
        ) from None


def get_provider_and_key_size(level: int) -> PrivacyProvider:
    """Return the provider and the key size of a PrivacyLevel (u32). Raise SecurityError for a PrivacyLevel without
    encryption.
    """
    privacy = PRIVACY_BY_LEVEL.get(level)
    if privacy is None:
        raise SecurityError("MessagePropertiesHeader.PrivacyLevel", SPEC_SECTION, f"0x{level:08X} names no encryption")
    return privacy


def parse_encryption_algorithm(privacy: PrivacyProvider, value: int) -> EncryptionAlgorithm:
    """Return the EncryptionAlgorithm with a u32 value. Raise SecurityError for an algorithm that the provider of
    the PrivacyLevel does not have.
    """
    found = next((known for known in privacy.key_bits if known == value), None)
    if found is None:
        allowed = ", ".join(known.name for known in privacy.key_bits)
        raise SecurityError(
            "MessagePropertiesHeader.EncryptionAlgorithm", SPEC_SECTION, f"0x{value:08X} is none of {allowed}"
        )
    return found
