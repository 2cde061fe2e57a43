"""Defines the keys and accounts in the configuration of a queue manager. Spec: MS-MQDMPR 3.1.3, 3.1.1.1, 3.1.1.15,
3.1.1.19.

Private keys are a part of the configuration, because the specification lets the implementation choose where it
stores them (MS-MQQB 3.1.5.8.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import rsa

from reference_qm.codec import NULL_GUID
from reference_qm.security.algorithms import AES_PROVIDER, BASE_PROVIDER, ENHANCED_PROVIDER, PRIVACY_BY_LEVEL
from reference_qm.security.caches import SecuritySettings
from reference_qm.security.directory_keys import MqdsPublicKey, MqdsPublicKeys, UserSignCert, UserSignCerts
from reference_qm.security.key_exchange import build_public_key_blob
from reference_qm.security.second_library import import_second_library_module
from reference_qm.security.sid import Sid
from reference_qm.surface.entropy import Entropy

KEY_BITS_BY_PROVIDER: Mapping[str, int] = {BASE_PROVIDER: 512, ENHANCED_PROVIDER: 1024, AES_PROVIDER: 1024}
"""The size in bits of a queue manager's RSA key for each provider. The providers are in the order in which key lists
contain their keys. Spec: MS-MQDMPR 3.1.3.
"""
_TYPE_NUMBER_BY_PROVIDER = {privacy.provider: privacy.provider_type for privacy in PRIVACY_BY_LEVEL.values()}
_PUBLIC_EXPONENT = 65537
_KEY_TYPE_OFFSET = 4
_SIGNING_KEY_TYPE = bytes.fromhex("00 24 00 00")
"""The field Key Type of an RSA key for signing. Spec: MS-MQMQ 2.2.20.6."""

PrivateKeyByProvider = Mapping[str, rsa.RSAPrivateKey]
"""The RSA private key of each provider, by the provider's name."""


@dataclass(frozen=True, slots=True)
class UserAccount:
    """A user in the configuration of this queue manager. Spec: MS-MQDMPR 3.1.1.15, MS-MQQB 3.1.5.8.3 (token).

    ``groups``: the SIDs that a domain would name in the PAC, including the primary group. ``certificates``: the
    registered certificates of the user, DER X.509. ``key``: the private key of the first certificate, for a user
    who sends messages from this queue manager.
    """

    name: str
    SecurityIdentifier: Sid
    groups: frozenset[Sid] = frozenset()
    certificates: tuple[bytes, ...] = ()
    key: rsa.RSAPrivateKey | None = field(default=None, repr=False)

    @property
    def Certificates(self) -> UserSignCerts:  # noqa: N802 - the printed name
        """The user's certificates as an MQUSERSIGNCERTS."""
        return UserSignCerts(tuple(UserSignCert.create_entry(NULL_GUID, der) for der in self.certificates))


@dataclass(frozen=True, slots=True)
class SecurityConfig:
    """The keys and users of a queue manager. A queue manager with an empty configuration neither signs nor decrypts.
    ``remote_keys``: the PublicEncryptionKeyList of each other queue manager, by its Identifier; these lists are used
    instead of the directory.
    """

    encryption_keys: PrivateKeyByProvider = field(default_factory=dict, repr=False)
    signing_keys: PrivateKeyByProvider = field(default_factory=dict, repr=False)
    accounts: tuple[UserAccount, ...] = ()
    remote_keys: Mapping[UUID, MqdsPublicKeys] = field(default_factory=dict)
    settings: SecuritySettings = field(default_factory=SecuritySettings)


def generate_rsa_key(bits: int, entropy: Entropy) -> rsa.RSAPrivateKey:
    """Generate an RSA key pair of ``bits`` bits, which is an even number. Spec: MS-MQDMPR 3.1.3, RFC 8017 3.1.

    pycryptodomex generates the primes, because it takes its entropy from the caller and supports keys of 512 bits.
    """
    while True:
        p, q = (
            int(
                import_second_library_module("Math.Primality").generate_probable_prime(
                    exact_bits=bits // 2, randfunc=entropy.token
                )
            )
            for _ in range(2)
        )
        totient = (p - 1) * (q - 1)
        if p != q and (p * q).bit_length() == bits and totient % _PUBLIC_EXPONENT:
            break
    d = pow(_PUBLIC_EXPONENT, -1, totient)
    parts = (rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q))
    return rsa.RSAPrivateNumbers(p, q, d, *parts, rsa.RSAPublicNumbers(_PUBLIC_EXPONENT, p * q)).private_key()


def build_directory_key_list(keys: PrivateKeyByProvider, *, signing: bool = False) -> MqdsPublicKeys:
    """Return the list of public keys (PublicEncryptionKeyList or PublicSigningKeyList) that belongs to a list of
    private keys. The field Key Type of a blob distinguishes keys for encryption and keys for signing. Spec: MS-MQDMPR
    3.1.3, MS-MQMQ 2.2.1, 2.2.20.6.
    """

    def build_blob(key: rsa.RSAPrivateKey) -> bytes:
        blob = build_public_key_blob(key.public_key()).build()
        return blob[:_KEY_TYPE_OFFSET] + _SIGNING_KEY_TYPE + blob[_KEY_TYPE_OFFSET + 4 :] if signing else blob

    return MqdsPublicKeys(
        tuple(
            MqdsPublicKey(_TYPE_NUMBER_BY_PROVIDER[name], name, build_blob(keys[name]))
            for name in KEY_BITS_BY_PROVIDER
            if name in keys
        )
    )
