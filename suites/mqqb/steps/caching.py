"""Steps that checks of the security caches share: they add and read entries, and read the cleanup timers."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import Expectation, between
from harness.sut.provisioning import USERS
from harness.sut.sut import Sut
from harness.wire.protection import AES_256, RC4
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S, private_name
from suites.mqqb.steps.secured import SYMMETRIC_KEYS, SecuredMessageSender, encrypt_message, sign_message

BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 1, 3, 5
CIPHER_BY_PRIVACY_LEVEL = {
    BASE_PRIVACY_LEVEL: (RC4, 40),
    ENHANCED_PRIVACY_LEVEL: (RC4, 128),
    ADVANCED_PRIVACY_LEVEL: (AES_256, 256),
}
"""The algorithm and the number of bits of the key in the peer's messages, by privacy level."""
PRIVACY_LEVEL_NAMES = {
    BASE_PRIVACY_LEVEL: "base",
    ENHANCED_PRIVACY_LEVEL: "enhanced",
    ADVANCED_PRIVACY_LEVEL: "advanced",
}
"""The names of the privacy levels on the control channel."""
RECEIVED_KEY_CACHE_NAME, SENT_KEY_CACHE_NAME, CERTIFICATE_CACHE_NAME = (
    "ReceiveSymmetricKeyCache",
    "SendSymmetricKeyCache",
    "UserCertCache",
)


class SecurityCaches:
    """The security caches in the SUT's abstract data model."""

    RECEIVED_KEY_CACHE, SENT_KEY_CACHE, CERTIFICATE_CACHE = (
        RECEIVED_KEY_CACHE_NAME,
        SENT_KEY_CACHE_NAME,
        CERTIFICATE_CACHE_NAME,
    )

    def __init__(self, sut: Sut) -> None:
        self.sut = sut

    def entries(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of a cache."""
        entries = inspect_queue_manager(self.sut)[name]
        if not isinstance(entries, list):
            raise ConformanceFailure(f"the SUT shows no entries of {name}")
        return entries

    def users(self) -> list[str]:
        """Return the names of the users in UserCertCache, in the order of the cache."""
        known = {user.security_id.hex(): user.name for user in USERS}
        return [known.get(entry["SecurityID"], "?") for entry in self.entries(CERTIFICATE_CACHE_NAME)]

    def get_remaining_ms(self, name: str) -> int | None:
        """Return the remaining time of a cache's cleanup timer in ms, or None if the timer does not run."""
        left = inspect_queue_manager(self.sut)["timers"][f"{name}Cleanup"]
        return None if left is None else int(left)


def inspect_queue_manager(sut: Sut) -> dict[str, Any]:
    """Return the elements of MS-MQQB 3.1.1.3 that the SUT shows."""
    return sut.inspect()["QueueManager"]


def read_cache_entries(sut: Sut, name: str) -> list[dict[str, Any]]:
    """Return the entries of a cache."""
    return SecurityCaches(sut).entries(name)


def read_cached_users(sut: Sut) -> list[str]:
    """Return the names of the users in UserCertCache, in the order of the cache."""
    return SecurityCaches(sut).users()


def get_remaining_ms(sut: Sut, name: str) -> int | None:
    """Return the remaining time of a cache's cleanup timer in ms, or None if the timer does not run."""
    return SecurityCaches(sut).get_remaining_ms(name)


def expect_current_time(now_s: int) -> Expectation:
    """Return an expectation of the current time, in seconds since 1970, with a tolerance."""
    return between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)


def fill_security_caches(secured: SecuredMessageSender, user, level: int, *, early: bool = False):
    """Add an entry to each cache: the peer sends a signed and encrypted message, and the SUT sends an encrypted
    message.

    ``user``: the user of the certificate; ``level``: the privacy level of the keys; ``early``: send at the beginning of
    a second.
    """
    peer, sut = secured.peer, secured.sut
    algorithm, bits = CIPHER_BY_PRIVACY_LEVEL[level]
    clear = sign_message(secured.message(user, body=b"to be encrypted", PrivacyLevel=level), key=user.key)
    packet = encrypt_message(sut, clear, level, algorithm, SYMMETRIC_KEYS[bits])
    if early:
        peer.pass_time(1_000 - peer.environment.epoch_us() // 1_000 % 1_000)
    disposition = secured.send_and_read_dispositions({"": packet})[""]
    if disposition.answer != "ACK_REACH_QUEUE":
        raise ConformanceFailure(f"the SUT answered a signed and encrypted message with {disposition.answer}")
    return [*disposition.frames, send_encrypted_message(secured, level)]


def send_encrypted_message(secured: SecuredMessageSender, level: int):
    """Let the SUT send an encrypted message; return the packet of the message."""
    peer, sut = secured.peer, secured.sut
    tag = 7_000 + level
    sut.send(
        private_name(peer.identifier),
        body="sent encrypted",
        application_tag=tag,
        privacy_level=PRIVACY_LEVEL_NAMES[level],
    )
    came = peer.inbox.wait(lambda frame: frame["MessagePropertiesHeader"].ApplicationTag == tag)
    if not came:
        raise ConformanceFailure(f"the SUT's message with privacy level {PRIVACY_LEVEL_NAMES[level]} did not arrive")
    peer.inbox.acknowledge()
    return came[0]
