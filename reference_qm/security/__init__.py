"""Signing, encrypting and authorizing messages: sans-IO, with told time and injected chance.

Spec: MS-MQQB 2.4, 3.1.5.8.3, 3.1.7.1.4, 3.1.7.1.5, MS-MQMQ 2.5. Weak algorithms are here because the protocol names
them, and nowhere else.
"""

from reference_qm.security.access import QueueAccess, is_granted
from reference_qm.security.algorithms import (
    AES_PROVIDER,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    EncryptionAlgorithm,
    HashAlgorithm,
    PrivacyLevel,
)
from reference_qm.security.caches import CachedSymmetricKey, CachedUserCert, SecurityCaches, SecuritySettings
from reference_qm.security.descriptor import Ace, AceType, Acl, SecurityDescriptor
from reference_qm.security.directory_keys import MqdsPublicKey, MqdsPublicKeys, UserSignCert, UserSignCerts
from reference_qm.security.errors import SecurityError
from reference_qm.security.key_exchange import public_key, public_key_blob
from reference_qm.security.receiving import Accepted, Accounts, Receiver, Refused, check_security
from reference_qm.security.sending import encrypt_message
from reference_qm.security.sid import EVERYONE, Sid
from reference_qm.security.signatures import SignatureType, sign_message

__all__ = [
    "AES_PROVIDER",
    "BASE_PROVIDER",
    "ENHANCED_PROVIDER",
    "EVERYONE",
    "Accepted",
    "Accounts",
    "Ace",
    "AceType",
    "Acl",
    "CachedSymmetricKey",
    "CachedUserCert",
    "EncryptionAlgorithm",
    "HashAlgorithm",
    "MqdsPublicKey",
    "MqdsPublicKeys",
    "PrivacyLevel",
    "QueueAccess",
    "Receiver",
    "Refused",
    "SecurityCaches",
    "SecurityDescriptor",
    "SecurityError",
    "SecuritySettings",
    "Sid",
    "SignatureType",
    "UserSignCert",
    "UserSignCerts",
    "check_security",
    "encrypt_message",
    "is_granted",
    "public_key",
    "public_key_blob",
    "sign_message",
]
