"""pycryptodomex, for what ``cryptography`` does not have; and RSA keys as it wants them.

It is loaded when it is first needed, by few systems ever: loading takes a sixth of the time in which a queue manager
starts. Keys are those of ``cryptography`` everywhere outside this package's inner parts.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa


@cache
def second(name: str) -> Any:
    """Return a module of pycryptodomex, such as ``Hash.MD2``."""
    return importlib.import_module(f"Cryptodome.{name}")


def old_private_key(key: rsa.RSAPrivateKey) -> Any:
    """Return a private key as pycryptodomex has it."""
    numbers = key.private_numbers()
    public = numbers.public_numbers
    parts = (public.n, public.e, numbers.d, numbers.p, numbers.q)
    return second("PublicKey.RSA").construct(parts, consistency_check=False)  # cryptography has checked it


def old_public_key(key: rsa.RSAPublicKey) -> Any:
    """Return a public key as pycryptodomex has it; ValueError for numbers that are no RSA key."""
    numbers = key.public_numbers()
    return second("PublicKey.RSA").construct((numbers.n, numbers.e))
