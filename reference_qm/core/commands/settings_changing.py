from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from reference_qm.core.arguments import convert_argument_word, require_number_in_range
from reference_qm.core.part import QM, QueueManagerPart
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.security import EncryptionAlgorithm
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

SECURITY_ELEMENT_BY_SETTING: Mapping[str, str] = {
    "user_cert_cache_size": "UserCertCacheSize",
    "user_cert_lifetime_ms": "UserCertLifetime",
    "receive_symmetric_key_cache_size": "ReceiveSymmetricKeyCacheSize",
    "send_symmetric_key_cache_size": "SendSymmetricKeyCacheSize",
    "symmetric_key_short_lifetime_ms": "SymmetricKeyShortLifetime",
    "preferred_base": "PreferredBaseAlgorithm",
    "preferred_enhanced": "PreferredEnhancedAlgorithm",
    "preferred_advanced": "PreferredAdvancedAlgorithm",
    "send_enhanced_rc2_using_40_bit_keys": "SendEnhancedRC2Using40BitKeys",
    "reject_enhanced_rc2_using_40_bit_keys": "RejectEnhancedRC2Using40BitKeys",
}
"""The names of the security attributes that ``configure`` can set."""
_ALGORITHM_BY_NAME = {algorithm.name.lower(): int(algorithm) for algorithm in EncryptionAlgorithm}
_HIGHEST_SETTING_VALUE = 0x7FFFFFFF
_MAX_SESSIONS = 1_000_000


class SettingsChanging(QueueManagerPart):
    """Changes the settings of a queue manager while it is running. Spec: MS-MQQB 3.1.1.3."""

    __slots__ = ()

    def configure(self, request: commands.Configure, token: int, now: Now) -> Result:
        """Change settings of the queue manager. Its caches keep their entries. Raises CommandError for an invalid
        setting.
        """
        given = {one.name: getattr(request, one.name) for one in fields(request)}
        changes = {
            SECURITY_ELEMENT_BY_SETTING[name]: _parse_setting(name, value)
            for name, value in given.items()
            if value is not None and name in SECURITY_ELEMENT_BY_SETTING
        }
        if request.quota_kb is not None:
            self.qm.adm.QueueManagerQuota = require_number_in_range("quota_kb", request.quota_kb, 0, UNLIMITED_QUOTA_KB)
        if request.journal_quota_kb is not None:
            self.qm.adm.JournalQuota = require_number_in_range(
                "journal_quota_kb", request.journal_quota_kb, 0, UNLIMITED_QUOTA_KB
            )
        if request.max_sessions is not None:
            limit = require_number_in_range("max_sessions", request.max_sessions, 0, _MAX_SESSIONS)
            self.qm.config = replace(self.qm.config, max_sessions=limit)
        self.qm.security_settings = replace(self.qm.security_settings, **changes)
        self.qm.caches.configure(self.qm.security_settings)
        if request.send_insecure_nacks is not None:
            self.qm.adm.SendInsecureNacks = request.send_insecure_nacks
        if request.hardened_security is not None:
            self.qm.hardened_after_restart = request.hardened_security
            self.qm.disk.save({"hardened_security": request.hardened_security})
        own = {
            "hardened_security": self.qm.hardened_after_restart,
            "send_insecure_nacks": self.qm.adm.SendInsecureNacks,
            "quota_kb": self.qm.adm.QueueManagerQuota,
            "journal_quota_kb": self.qm.adm.JournalQuota,
            "max_sessions": self.qm.config.max_sessions,
        }
        return Result({**own, **self._list_settings()})

    def apply_settings(self, other: QM) -> None:
        """Apply the settings that commands changed in the previous process of this queue manager. The store does not
        contain these settings, so the caller passes them.
        """
        self.qm.config, self.qm.settings = other.config, other.settings
        self.qm.security_settings = other.security_settings
        self.qm.caches.configure(self.qm.security_settings)
        self.qm.adm.QueueManagerQuota = other.adm.QueueManagerQuota
        self.qm.adm.JournalQuota = other.adm.JournalQuota
        self.qm.adm.SendInsecureNacks = other.adm.SendInsecureNacks

    def _list_settings(self) -> dict[str, Any]:
        names = {number: name for name, number in _ALGORITHM_BY_NAME.items()}
        found = {
            name: getattr(self.qm.security_settings, element) for name, element in SECURITY_ELEMENT_BY_SETTING.items()
        }
        return {name: names[value] if name.startswith("preferred_") else value for name, value in found.items()}


def _parse_setting(name: str, value: Any) -> Any:
    if name.startswith("preferred_"):
        return convert_argument_word(name, value, _ALGORITHM_BY_NAME)
    return value if isinstance(value, bool) else require_number_in_range(name, value, 1, _HIGHEST_SETTING_VALUE)
