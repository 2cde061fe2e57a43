"""Passes test users to pyspnego's NTLM acceptor while the acceptor handles a token.

Spec: MS-NLMP 2.2.1.3, 3.2.5.1.2, 3.3.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import spnego._ntlm as acceptor
from Cryptodome.Hash import MD4

from reference_qm.shell.rpc_user import User

_CREDENTIALS_VARIABLE = "NTLM_USER_FILE"
"""The environment variable that names the acceptor's file of users."""
_NTLM_RESPONSE_FUNCTION_NAME = "compute_response_v2"
_AUTHENTICATE_MESSAGE_PREFIX = b"NTLMSSP\0\x03\0\0\0"
_RESPONSE_FIELDS_OFFSET, _DOMAIN_FIELDS_OFFSET, _FLAGS_OFFSET, _MIN_AUTHENTICATE_MESSAGE_BYTES = 20, 28, 60, 64
"""The offsets of fields in an AUTHENTICATE_MESSAGE, and the minimum size of the message in bytes."""
_UNICODE_FLAG = 0x01
_NT_HASH_BYTES = _NT_PROOF_BYTES = 16
_announcement_lock = threading.Lock()


@contextlib.contextmanager
def announce_users_to_ntlm_acceptor(users: tuple[User, ...], token: bytes) -> Iterator[None]:
    """Pass the users to the acceptor while it handles one token. An environment variable names a file that lists
    the users.

    The file is readable only by this process's user, and is deleted after the token is handled.
    """
    message = _find_authenticate_message(token)
    domain = _read_domain(message)
    none = os.urandom(_NT_HASH_BYTES).hex()  # a random LM hash, because there is no LM response
    lines = (f"{user.domain or domain}\\{user.name}:0:{none}:{_compute_nt_hash(user)}:[U]:LCT-0\n" for user in users)
    with _announcement_lock, tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.writelines(lines)
        file.flush()
        before, computed = os.environ.get(_CREDENTIALS_VARIABLE), getattr(acceptor, _NTLM_RESPONSE_FUNCTION_NAME)
        os.environ[_CREDENTIALS_VARIABLE] = file.name
        setattr(acceptor, _NTLM_RESPONSE_FUNCTION_NAME, _compute_over_client_octets(message, computed))
        try:
            yield
        finally:
            setattr(acceptor, _NTLM_RESPONSE_FUNCTION_NAME, computed)
            if before is None:
                del os.environ[_CREDENTIALS_VARIABLE]
            else:
                os.environ[_CREDENTIALS_VARIABLE] = before


def _compute_over_client_octets(message: bytes, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes the NTLMv2 response from the octets that the client sent (MS-NLMP 3.3.2).

    Other servers also use these octets. pyspnego builds the octets again from the parsed fields, and therefore
    refuses clients with a different layout; for example, impacket omits the four zeros after the AV pairs.
    """
    temp = _read_field(message, _RESPONSE_FIELDS_OFFSET)[_NT_PROOF_BYTES:]

    def compute_responses(nt_hash: bytes, server_challenge: bytes, *others: Any) -> tuple[bytes, bytes, bytes]:
        _, lm_response, _ = otherwise(nt_hash, server_challenge, *others)
        proof = hmac.digest(nt_hash, server_challenge + temp, "md5")
        return proof + temp, lm_response, hmac.digest(nt_hash, proof, "md5")

    return compute_responses if temp else otherwise


def _compute_nt_hash(user: User) -> str:
    """Return NTOWFv1 in hexadecimal (MS-NLMP 3.3.1)."""
    return MD4.new(user.password.encode("utf-16-le")).hexdigest()  # noqa: S303 - NTLM requires MD4


def _find_authenticate_message(token: bytes) -> bytes:
    """Return the AUTHENTICATE_MESSAGE that a token contains, or empty bytes if the token contains none."""
    place = token.find(_AUTHENTICATE_MESSAGE_PREFIX)
    return token[place:] if 0 <= place <= len(token) - _MIN_AUTHENTICATE_MESSAGE_BYTES else b""


def _read_domain(message: bytes) -> str:
    """Return the domain of an AUTHENTICATE_MESSAGE, or an empty domain if a line of pyspnego's user file cannot contain
    it.
    """
    if not message:
        return ""
    (flags,) = struct.unpack_from("<I", message, _FLAGS_OFFSET)
    found = _read_field(message, _DOMAIN_FIELDS_OFFSET).decode(
        "utf-16-le" if flags & _UNICODE_FLAG else "ascii", "replace"
    )
    return found if found.isprintable() and not set(found) & set(":\\") else ""


def _read_field(message: bytes, place: int) -> bytes:
    """Return the available bytes of a field that is described by a length and an offset."""
    if not message:
        return b""
    size, _, offset = struct.unpack_from("<HHI", message, place)
    return message[offset : offset + size]
