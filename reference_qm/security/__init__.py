"""Signs, encrypts and authorizes messages without I/O; the caller passes the time and the entropy.

Spec: MS-MQQB 2.4, 3.1.5.8.3, 3.1.7.1.4, 3.1.7.1.5, MS-MQMQ 2.5. The protocol requires some weak algorithms, which are
used only in this package.
"""

from reference_qm.security.access import (
    DEFAULT_QUEUE_SECURITY,
    QueueAccess,
    build_default_queue_security,
    is_access_granted,
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
from reference_qm.security.key_exchange import build_public_key_blob, parse_public_key
from reference_qm.security.message_attributes import (
    ATTRIBUTES_OF_UNPROTECTED_MESSAGE,
    MessageSecurity,
    add_security_attributes,
    read_security_attributes,
)
from reference_qm.security.provisioning import (
    KEY_BITS_BY_PROVIDER,
    PrivateKeyByProvider,
    SecurityConfig,
    UserAccount,
    build_directory_key_list,
    generate_rsa_key,
)
from reference_qm.security.receiving import (
    SENDER_TYPE_NONE,
    SENDER_TYPE_QUEUE_MANAGER,
    SENDER_TYPE_SID,
    ReceivedMessageRefused,
    ReceiverSecurityData,
    UserAccountFinder,
    authenticate_message,
    authorize_sender,
    decrypt_message,
    identify_sender,
)
from reference_qm.security.security_error import SecurityError
from reference_qm.security.sending import encrypt_message
from reference_qm.security.sid import ANONYMOUS_SID, EVERYONE_SID, Sid
from reference_qm.security.signatures import SignatureType, build_signed_content, sign_message

__all__ = [
    "AES_PROVIDER",
    "ANONYMOUS_SID",
    "ATTRIBUTES_OF_UNPROTECTED_MESSAGE",
    "BASE_PROVIDER",
    "DEFAULT_QUEUE_SECURITY",
    "ENHANCED_PROVIDER",
    "EVERYONE_SID",
    "KEY_BITS_BY_PROVIDER",
    "SENDER_TYPE_NONE",
    "SENDER_TYPE_QUEUE_MANAGER",
    "SENDER_TYPE_SID",
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
    "PrivateKeyByProvider",
    "QueueAccess",
    "ReceivedMessageRefused",
    "ReceiverSecurityData",
    "SecurityCaches",
    "SecurityConfig",
    "SecurityDescriptor",
    "SecurityError",
    "SecuritySettings",
    "Sid",
    "SignatureType",
    "UserAccount",
    "UserAccountFinder",
    "UserSignCert",
    "UserSignCerts",
    "add_security_attributes",
    "authenticate_message",
    "authorize_sender",
    "build_default_queue_security",
    "build_directory_key_list",
    "build_public_key_blob",
    "build_signed_content",
    "decrypt_message",
    "encrypt_message",
    "generate_rsa_key",
    "identify_sender",
    "is_access_granted",
    "parse_public_key",
    "read_security_attributes",
    "sign_message",
]
