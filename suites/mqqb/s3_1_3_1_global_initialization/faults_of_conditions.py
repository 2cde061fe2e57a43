"""Faults of MS-MQQB 3.1.3.1 Global Initialization in some starts only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security.caches import CachedSymmetricKey

QueueManagerStartPredicate = Callable[[QueueManager], bool]


def _accept_every_queue_manager_start(qm: QueueManager) -> bool:
    return True


def _has_queue_manager_started_before(qm: QueueManager) -> bool:
    return bool(qm.adm.MessageIdOrdinal or qm.disk.reserved)


def _has_waiting_messages(qm: QueueManager) -> bool:
    return any(len(queue.session.OutgoingMessageTable) for queue in qm.adm.OutgoingQueues.values())


def _has_stored_messages(qm: QueueManager) -> bool:
    return any(len(queue.MessagePositionList) for queue in qm.queue_names.list_every_queue())


def _start_history_cleanup_timer(which: QueueManagerStartPredicate) -> Install:
    """Return an installer of a fault that starts the history timer at certain starts with an empty history."""

    def run(self: Any, original: Any, now: Any) -> None:
        original(now)
        if which(self.qm):
            self.qm.message_history.start_history_timer(now)

    return change_step(QueueManagerInitialization.initialize_globally, run)


def _fill_key_cache_after_restart(cache: str, which: QueueManagerStartPredicate) -> Install:
    """Return an installer of a fault that adds an entry to a cache at certain restarts."""

    def fill_cache(qm: QueueManager) -> None:
        if which(qm):
            getattr(qm.caches, cache).add(CachedSymmetricKey(NULL_GUID, "none", 0, b"", b"", 0))

    return change_core_at_restart(fill_cache)


for _name, _says, _which in (
    ("receiver-history-timer-runs-after-restart", "after a later start", _has_queue_manager_started_before),
    ("receiver-history-timer-runs-with-waiting-messages", "when messages wait to be sent", _has_waiting_messages),
    ("receiver-history-timer-runs-with-stored-messages", "when a queue has messages", _has_stored_messages),
):
    add(
        _name,
        "MQQB-3.1.3.1-06",
        f"The receiver starts the MessageIDHistory Cleanup Timer with an empty history {_says}.",
        _start_history_cleanup_timer(_which),
        blind=True,
    )

for _rule, _side, _cache in (
    ("MQQB-3.1.3.1-11", "receiver", "ReceiveSymmetricKeyCache"),
    ("MQQB-3.1.3.1-12", "receiver", "ReceiveBaseSymmetricKeyCache"),
    ("MQQB-3.1.3.1-14", "sender", "SendSymmetricKeyCache"),
    ("MQQB-3.1.3.1-15", "sender", "SendBaseSymmetricKeyCache"),
):
    for _name, _says, _which in (
        ("after-restart", "after a restart", _accept_every_queue_manager_start),
        ("after-restart-with-stored-messages", "after a restart with messages in a queue", _has_stored_messages),
    ):
        add(
            f"{_side}-{_cache.lower()}-has-entry-{_name}",
            _rule,
            f"{_cache} is not empty {_says} of the {_side}.",
            _fill_key_cache_after_restart(_cache, _which),
            blind=True,
        )
