"""What checks of the security caches share: reading them, filling all three with one exchange."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.sut.provisioning import USERS, User
from harness.sut.sut import Sut
from harness.wire.protection import AES_256, LEVELS, RC4
from suites.mqqb.steps.opening import CLOCK_S, pass_time, private_name
from suites.mqqb.steps.secured import KEY, Secured, secret, signed

RECEIVE, SEND, CERTIFICATES = "ReceiveSymmetricKeyCache", "SendSymmetricKeyCache", "UserCertCache"
ALL = (RECEIVE, SEND, CERTIFICATES)
TIMERS = {name: f"{name}Cleanup" for name in ALL}
ADVANCED, ENHANCED = 5, 3
ALGORITHMS = {ADVANCED: (AES_256, 256), ENHANCED: (RC4, 128)}
NAMES = {ADVANCED: "advanced", ENHANCED: "enhanced"}


def manager(sut: Sut) -> dict[str, Any]:
    """Give the SUT's elements of MS-MQQB 3.1.1.3."""
    return dict(sut.inspect()["QueueManager"])


def cached(sut: Sut, name: str) -> list[dict[str, Any]]:
    """Give the entries of a cache."""
    entries = manager(sut)[name]
    if not isinstance(entries, list):
        raise ConformanceFailure(f"the SUT shows no entries of {name}")
    return entries


def users(sut: Sut) -> str:
    """Name the users in UserCertCache, in its order."""
    known = {user.security_id.hex(): user.name for user in USERS}
    return ", ".join(known.get(entry["SecurityID"], "?") for entry in cached(sut, CERTIFICATES)) or "nobody"


def remaining_ms(sut: Sut, name: str) -> int | None:
    """Say what is left of the cleanup timer of a cache."""
    left = manager(sut)["timers"][TIMERS[name]]
    return None if left is None else int(left)


def moment(entry: dict[str, Any], now_s: int) -> str:
    """Say whether CachedTime is of now, in seconds since 1970."""
    value = entry["CachedTime"]
    return "now" if abs(value - now_s) <= CLOCK_S else f"at {value}, not {now_s}"


class Filled:
    """Both sides of the SUT at once: a message to it that is signed and encrypted, one of its own that is encrypted."""

    def __init__(self, secured: Secured) -> None:
        self.secured = secured
        self.peer, self.sut = secured.peer, secured.sut
        self.sent = 0

    def fill(self, user: User, level: int, *, early: bool = False) -> list[Frame]:
        """Let each cache have an entry: of the user; of the level, on both sides. ``early``: when a second begins."""
        algorithm, bits = ALGORITHMS[level]
        packet = secret(self.sut, signed_in_clear(self.secured, user, level), level, algorithm, KEY[bits])
        if early:
            pass_time(self.peer, 1_000 - self.peer.environment.epoch_us() // 1_000 % 1_000)
        fate = self.secured.fates({"": packet})[""]
        if fate.answer != "ACK_REACH_QUEUE":
            raise ConformanceFailure(f"a message that is signed and encrypted is answered with {fate.answer}")
        return [*fate.frames, self.send(NAMES[level])]

    def send(self, level: str, guid: UUID | None = None) -> Frame:
        """Let the SUT send an encrypted message; give it."""
        self.sent += 1
        tag = 7_000 + self.sent
        to = private_name(guid or self.peer.identifier)
        self.sut.send(to, body="sent encrypted", application_tag=tag, privacy_level=level)

        def come() -> list[Frame]:
            frames = [frame for frame in self.peer.recorder.frames if frame.from_sut and frame.kind == "UserMessage"]
            return [frame for frame in frames if frame["MessagePropertiesHeader"].ApplicationTag == tag]

        self.peer.environment.run_until(lambda: bool(come()), self.sut.response_timeout_ms)
        if not come():
            raise ConformanceFailure(f"the SUT's message with privacy level {level} did not come")
        return come()[0]


def signed_in_clear(secured: Secured, user: User, level: int) -> Any:
    """Make a signed message that is still to be encrypted."""
    return signed(secured.message(user, body=b"to be encrypted", PrivacyLevel=level), key=user.key)


def provider(level: int) -> str:
    """Name the provider of a PrivacyLevel."""
    return LEVELS[level]
