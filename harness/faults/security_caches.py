"""Faults of the security caches. Spec: MS-MQQB 3.1.1.3, 3.1.5.8.3, 3.1.7.1.5, 3.1.6.10, 3.1.6.11, 3.1.6.13."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from harness.faults.parts import Method
from harness.faults.primitives import procedure
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.protocol.securing import Securing
from reference_qm.core.protocol.security_caches import CacheTimers
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import UserSignCert

STATE = "MQQB-3.1.1.3-"
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
MINUTE_MS = 60_000
Original = Callable[..., Any]
Change = Callable[[QueueManager, Any, list[Any]], None]
"""Takes the queue manager, the cache and its entries before the procedure ran."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A cache: by which procedure it is filled, and which rules that breaks."""

    slug: str
    cache: str
    timer: TimerName
    fills: Method
    section: str
    added: str
    time: str
    size: str
    started: str
    cleaned: str
    wrong: dict[str, tuple[str, Any]]
    state: str
    state_size: str
    state_lifetime: str


KINDS = (
    Kind(
        "certificate",
        "UserCertCache",
        TimerName.USER_CERT_CACHE_CLEANUP,
        SecurityOnReceipt.verify_sender,
        "MQQB-3.1.5.8.3-",
        "29 34",
        "32 33",
        "35",
        "36",
        "MQQB-3.1.6.13-",
        {"UserCert": ("30", UserSignCert()), "SecurityID": ("31", b"\1\1\0\0\0\0\0\1\0\0\0\0")},
        "02 03",
        "04",
        "05",
    ),
    Kind(
        "received-key",
        "ReceiveSymmetricKeyCache",
        TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP,
        SecurityOnReceipt.decrypt_body,
        "MQQB-3.1.5.8.3-",
        "57 58 67",
        "66",
        "68",
        "69",
        "MQQB-3.1.6.10-",
        {
            "RemoteQMGuid": ("59", OTHER),
            "CryptoServiceProvider": ("60", "another"),
            "CryptoAlgorithm": ("61", 0x6602),
            "EncryptedSymmetricKey": ("62", b""),
        },
        "06 07",
        "09",
        "14",
    ),
    Kind(
        "sent-key",
        "SendSymmetricKeyCache",
        TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP,
        Securing.encrypt_body,
        "MQQB-3.1.7.1.5-",
        "32",
        "31",
        "33",
        "34",
        "MQQB-3.1.6.11-",
        {
            "RemoteQMGuid": ("25", OTHER),
            "CryptoServiceProvider": ("26", "another"),
            "CryptoAlgorithm": ("27", 0x6602),
        },
        "10 11",
        "13",
        "14",
    ),
)


def ids(section: str, numbers: str) -> tuple[str, ...]:
    """Give the ids of rules."""
    return tuple(f"{section}{number}" for number in numbers.split())


def after_filling(kind: Kind, change: Change) -> Install:
    """Spoil a cache after the procedure that may have added an entry."""

    def make(original: Original) -> Original:
        def fill(qm: QueueManager, *arguments: Any) -> Any:
            cache = getattr(qm.caches, kind.cache)
            before = list(cache.entries)
            result = original(qm, *arguments)
            change(qm, cache, before)
            return result

        return fill

    return procedure(kind.fills, make)


def _empty(qm: QueueManager, cache: Any, before: list[Any]) -> None:
    cache.entries = []


def _each(**fields: Any) -> Change:
    def change(qm: QueueManager, cache: Any, before: list[Any]) -> None:
        cache.entries = [replace(entry, **fields) for entry in cache.entries]

    return change


def _at_the_epoch(qm: QueueManager, cache: Any, before: list[Any]) -> None:
    cache.entries = [entry if entry in before else replace(entry, CachedTime=0) for entry in cache.entries]


def _in_ms(qm: QueueManager, cache: Any, before: list[Any]) -> None:
    cache.entries = [
        entry if entry in before else replace(entry, CachedTime=1000 * entry.CachedTime) for entry in cache.entries
    ]


def _without_limit(qm: QueueManager, cache: Any, before: list[Any]) -> None:
    cache.entries = before + [entry for entry in cache.entries if entry not in before]


def _only_the_new(qm: QueueManager, cache: Any, before: list[Any]) -> None:
    if any(entry not in cache.entries for entry in before):
        cache.entries = cache.entries[-1:]


def _the_newest_leave(qm: QueueManager, cache: Any, before: list[Any]) -> None:
    gone = len(before) + 1 - len(cache.entries)
    if gone > 0:
        cache.entries = before[: len(before) - gone] + cache.entries[-1:]


def _timer(kind: Kind, *, again: bool) -> Install:
    """Do not start a cleanup timer, or start it again and again."""
    key = TimerKey(kind.timer, 0)

    def make(original: Original) -> Original:
        def start(qm: QueueManager, now: Any) -> None:
            original(qm, now)
            cache = getattr(qm.caches, kind.cache)
            if not again:
                qm.timers.stop(key)
            elif len(cache):
                qm.timers.start(key, now.monotonic_ms, cache.lifetime_ms // qm.settings.scale)

        return start

    return procedure(CacheTimers.start, make)


def _cleanup(kind: Kind, spoil: Callable[[Original, QueueManager, Any, Any], None]) -> Install:
    """Replace what happens when the timer of one cache expires."""

    def make(original: Original) -> Original:
        def expire(qm: QueueManager, name: TimerName, now: Any) -> None:
            if name is kind.timer:
                spoil(lambda: original(qm, name, now), qm, getattr(qm.caches, kind.cache), now)
            else:
                original(qm, name, now)

        return expire

    return procedure(CacheTimers.on_cleanup_timer, make)


def _nothing(original: Original, qm: QueueManager, cache: Any, now: Any) -> None:
    """Let the timer expire for nothing."""


def _keep_all(original: Original, qm: QueueManager, cache: Any, now: Any) -> None:
    kept = list(cache.entries)
    original()
    cache.entries = kept


def _drop_all(original: Original, qm: QueueManager, cache: Any, now: Any) -> None:
    original()
    cache.entries = []


def _restart(kind: Kind, due_ms: Callable[[Any, Any], int]) -> Install:
    def spoil(original: Original, qm: QueueManager, cache: Any, now: Any) -> None:
        original()
        if len(cache):
            qm.timers.start(TimerKey(kind.timer, 0), now.monotonic_ms, due_ms(cache, now) // qm.settings.scale)

    return _cleanup(kind, spoil)


def _by_the_youngest(cache: Any, now: Any) -> int:
    youngest = max(entry.CachedTime for entry in cache.entries)
    return int(cache.lifetime_ms + MINUTE_MS - 1000 * (now.utc_s - youngest))


def _whole_lifetime(cache: Any, now: Any) -> int:
    return int(cache.lifetime_ms + MINUTE_MS)


def _not_searched(original: Original) -> Original:
    def decrypt(qm: QueueManager, packet: UserMessagePacket, now: Any) -> UserMessagePacket:
        cache = qm.caches.ReceiveSymmetricKeyCache
        kept, cache.entries = cache.entries, []
        try:
            return original(qm, packet, now)  # type: ignore[no-any-return]
        finally:
            cache.entries = kept + cache.entries

    return decrypt


for kind in KINDS[:2]:  # those of sent keys: MS-MQQB 3.1.7.1.5
    add(
        f"{kind.slug}-not-cached",
        (*ids(kind.section, kind.added), *ids(STATE, kind.state)),
        f"Nothing is put into {kind.cache}.",
        after_filling(kind, _empty),
    )
    for name, (number, value) in kind.wrong.items():
        says = f"{name} of what is put into {kind.cache} is something else."
        add(
            f"{kind.slug}-cached-with-other-{name.lower()}",
            ids(kind.section, number),
            says,
            after_filling(kind, _each(**{name: value})),
        )
    for slug, change, says in (("at-the-epoch", _at_the_epoch, "0"), ("in-ms", _in_ms, "in ms")):
        add(
            f"{kind.slug}-cached-{slug}",
            ids(kind.section, kind.time),
            f"CachedTime in {kind.cache} is {says}.",
            after_filling(kind, change),
        )
    for slug, change, says in (
        ("cache-without-limit", _without_limit, "grows without a limit"),
        ("cache-emptied-when-full", _only_the_new, "is emptied when it is full"),
        ("cache-loses-the-newest", _the_newest_leave, "loses the newest entries when it is full"),
    ):
        add(
            f"{kind.slug}-{slug}",
            (*ids(kind.section, kind.size), *ids(STATE, kind.state_size)),
            f"{kind.cache} {says}.",
            after_filling(kind, change),
        )
    for slug, again, says in (
        ("not-started", False, "is not started"),
        ("started-again", True, "is started again with every message"),
    ):
        add(
            f"{kind.slug}-timer-{slug}",
            (*ids(kind.section, kind.started), *ids(STATE, kind.state_lifetime)),
            f"The cleanup timer of {kind.cache} {says}.",
            _timer(kind, again=again),
        )

for kind in KINDS:
    for slug, numbers, spoil, says in (
        ("does-nothing", "01 02", _nothing, "cleans nothing up"),
        ("keeps-all", "02", _keep_all, "keeps what is too old"),
        ("drops-all", "02", _drop_all, "deletes what is young enough, too"),
    ):
        add(
            f"{kind.slug}-cleanup-{slug}",
            ids(kind.cleaned, numbers),
            f"The cleanup of {kind.cache} {says}.",
            _cleanup(kind, spoil),
        )
    add(
        f"{kind.slug}-cleanup-by-the-youngest",
        ids(kind.cleaned, "03"),
        f"The next cleanup of {kind.cache} is due by its youngest entry.",
        _restart(kind, _by_the_youngest),
    )
    add(
        f"{kind.slug}-cleanup-by-nothing",
        ids(kind.cleaned, "04"),
        f"The next cleanup of {kind.cache} is due a whole lifetime later.",
        _restart(kind, _whole_lifetime),
    )

add(
    "security-received-key-not-searched",
    "MQQB-3.1.5.8.3-55",
    "Keys of received messages are cached, but not searched.",
    procedure(SecurityOnReceipt.decrypt_body, _not_searched),
)
