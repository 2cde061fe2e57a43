"""Faults in the values with which a queue manager begins again after a restart (MS-MQQB 3.1.3.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager


def _change_cache_settings_at_restart(**settings: Any) -> Install:
    """Return an installer of a fault that replaces settings of the caches when the queue manager starts again."""

    def change_settings(qm: QueueManager) -> None:
        qm.security_settings = replace(qm.security_settings, **settings)
        qm.caches.configure(qm.security_settings)

    return change_core_at_restart(change_settings)


add(
    "receiver-user-cert-cache-size-1-after-restart",
    "MQQB-3.1.3.1-09",
    "The receiver sets UserCertCacheSize to 1 when it restarts, although no value is configured.",
    _change_cache_settings_at_restart(UserCertCacheSize=1),
    blind=True,
)
add(
    "receiver-user-cert-lifetime-symmetric-key-lifetime-after-restart",
    "MQQB-3.1.3.1-10",
    "The receiver sets UserCertLifetime to 10 minutes when it restarts, although no value is configured.",
    _change_cache_settings_at_restart(UserCertLifetime=600_000),
    blind=True,
)
add(
    "receiver-receive-symmetric-key-cache-size-53-after-restart",
    "MQQB-3.1.3.1-13",
    "The receiver sets ReceiveSymmetricKeyCacheSize to 53 when it restarts, although no value is configured.",
    _change_cache_settings_at_restart(ReceiveSymmetricKeyCacheSize=53),
    blind=True,
)
add(
    "sender-send-symmetric-key-cache-size-127-after-restart",
    "MQQB-3.1.3.1-16",
    "The sender sets SendSymmetricKeyCacheSize to 127 when it restarts, although no value is configured.",
    _change_cache_settings_at_restart(SendSymmetricKeyCacheSize=127),
    blind=True,
)
add(
    "any-symmetric-key-long-lifetime-10-minutes-after-restart",
    "MQQB-3.1.3.1-18",
    "The queue manager sets SymmetricKeyLongLifetime to 10 minutes when it restarts, although no value is configured.",
    _change_cache_settings_at_restart(SymmetricKeyLongLifetime=600_000),
    blind=True,
)
add(
    "sender-send-enhanced-rc2-40-bit-keys-true-after-restart",
    "MQQB-3.1.3.1-22",
    "The sender sets SendEnhancedRC2Using40BitKeys to TRUE when it restarts, although no value is configured.",
    _change_cache_settings_at_restart(SendEnhancedRC2Using40BitKeys=True),
    blind=True,
)
add(
    "receiver-reject-enhanced-rc2-40-bit-keys-true-after-restart",
    "MQQB-3.1.3.1-23",
    "The receiver sets RejectEnhancedRC2Using40BitKeys to TRUE when it restarts, although no value is configured.",
    _change_cache_settings_at_restart(RejectEnhancedRC2Using40BitKeys=True),
    blind=True,
)
