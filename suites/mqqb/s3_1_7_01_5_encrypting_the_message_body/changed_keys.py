"""Public keys of the peer that change in the directory, for the checks of MS-MQQB 3.1.7.1.5."""

from __future__ import annotations

from dataclasses import replace

from harness.wire.protection import RsaKey
from suites.mqmq.steps.outgoing import MessagesSentBySut

PUBLIC_KEY_CACHE_MS = 60_000
"""The time in ms for which the SUT caches public keys."""
LARGE_EXPONENT = 16_777_259
"""A public exponent of more than 24 bits that differs from the exponent of the provisioned keys."""


def await_published_keys(outgoing: MessagesSentBySut) -> None:
    """Close the session, and wait until the SUT reads the public keys again."""
    outgoing.start_new_session()
    sut = outgoing.sut
    outgoing.peer.pass_time(sut.duration_ms(PUBLIC_KEY_CACHE_MS) + sut.slack_ms(PUBLIC_KEY_CACHE_MS))


def change_public_exponent_of_key(key: RsaKey) -> RsaKey:
    """Return a key with the same modulus and a different public exponent."""
    assert key.primes is not None
    p, q = key.primes
    return replace(key, public_exponent=LARGE_EXPONENT, private_exponent=pow(LARGE_EXPONENT, -1, (p - 1) * (q - 1)))
