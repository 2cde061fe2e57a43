"""Signs, encrypts and authorizes messages without I/O; the caller passes the time and the entropy.

Spec: MS-MQQB 2.4, 3.1.5.8.3, 3.1.7.1.4, 3.1.7.1.5, MS-MQMQ 2.5. The protocol requires some weak algorithms, which are
used only in this package.
"""

from reference_qm.security.access import (
    DEFAULT_QUEUE_SECURITY,
    QueueAccess,
    default_queue_security,
    is_granted,
)
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
from reference_qm.security.key_exchange import public_key, public_key_blob
from reference_qm.security.message_attributes import (
    UNPROTECTED_ATTRIBUTES,
    MessageSecurity,
    add_security,
    read_security,
)
from reference_qm.security.provisioning import (
    KEY_BITS,
    Account,
    PrivateKeys,
    SecurityConfig,
    generate_key,
    public_key_list,
)
from reference_qm.security.receiving import (
    ST_NONE,
    ST_QUEUE_MANAGER,
    ST_SID,
    Accounts,
    Receiver,
    Refused,
    authenticate_message,
    authorize_sender,
    decrypt_message,
    identify_sender,
)
from reference_qm.security.security_error import SecurityError
from reference_qm.security.sending import encrypt_message
from reference_qm.security.sid import ANONYMOUS, EVERYONE, Sid
from reference_qm.security.signatures import SignatureType, build_signed_content, sign_message

__all__ = [
    "AES_PROVIDER",
    "ANONYMOUS",
    "BASE_PROVIDER",
    "DEFAULT_QUEUE_SECURITY",
    "ENHANCED_PROVIDER",
    "EVERYONE",
    "KEY_BITS",
    "ST_NONE",
    "ST_QUEUE_MANAGER",
    "ST_SID",
    "UNPROTECTED_ATTRIBUTES",
    "Account",
    "Accounts",
    "Ace",
    "AceType",
    "Acl",
    "CachedSymmetricKey",
    "CachedUserCert",
    "EncryptionAlgorithm",
    "HashAlgorithm",
    "MessageSecurity",
    "MqdsPublicKey",
    "MqdsPublicKeys",
    "PrivacyLevel",
    "PrivateKeys",
    "QueueAccess",
    "Receiver",
    "Refused",
    "SecurityCaches",
    "SecurityConfig",
    "SecurityDescriptor",
    "SecurityError",
    "SecuritySettings",
    "Sid",
    "SignatureType",
    "UserSignCert",
    "UserSignCerts",
    "add_security",
    "authenticate_message",
    "authorize_sender",
    "build_signed_content",
    "decrypt_message",
    "default_queue_security",
    "encrypt_message",
    "generate_key",
    "identify_sender",
    "is_granted",
    "public_key",
    "public_key_blob",
    "public_key_list",
    "read_security",
    "sign_message",
]
