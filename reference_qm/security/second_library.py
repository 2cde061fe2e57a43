"""Loads pycryptodomex, for algorithms that ``cryptography`` does not have, and converts RSA keys for it.

The library is loaded when it is first used, because few systems need it, and loading it would take a sixth of the start
time of a queue manager. Functions that other packages call take and return keys as objects of ``cryptography``.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa


@cache
def import_second_library_module(name: str) -> Any:
    """Import and return a module of the library pycryptodomex, such as ``Hash.MD2``."""
    return importlib.import_module(f"Cryptodome.{name}")


def convert_private_key(key: rsa.RSAPrivateKey) -> Any:
    """Return a private key, converted to an object of pycryptodomex."""
    numbers = key.private_numbers()
    public = numbers.public_numbers
    parts = (public.n, public.e, numbers.d, numbers.p, numbers.q)
    return import_second_library_module("PublicKey.RSA").construct(
        parts, consistency_check=False
    )  # cryptography has checked the key


def convert_public_key(key: rsa.RSAPublicKey) -> Any:
    """Return a public key, converted to an object of pycryptodomex. Raise ValueError for invalid numbers."""
    numbers = key.public_numbers()
    return import_second_library_module("PublicKey.RSA").construct((numbers.n, numbers.e))
