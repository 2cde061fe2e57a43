"""The same RSA key for the second library. Keys are cryptography's everywhere outside this package's inner parts."""

from __future__ import annotations

from Cryptodome.PublicKey import RSA
from cryptography.hazmat.primitives.asymmetric import rsa


def old_private_key(key: rsa.RSAPrivateKey) -> RSA.RsaKey:
    """Return a private key as pycryptodomex has it."""
    numbers = key.private_numbers()
    public = numbers.public_numbers
    parts = (public.n, public.e, numbers.d, numbers.p, numbers.q)
    return RSA.construct(parts, consistency_check=False)  # cryptography has checked it


def old_public_key(key: rsa.RSAPublicKey) -> RSA.RsaKey:
    """Return a public key as pycryptodomex has it; ValueError for numbers that are no RSA key."""
    numbers = key.public_numbers()
    return RSA.construct((numbers.n, numbers.e))
