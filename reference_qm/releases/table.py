"""Contains the table of all differences between Windows releases and the documents.

Each difference has a name. The product notes that describe a difference refer to it by this name (``reference`` in
suites/*/notes.toml), and it applies to the releases that these notes name. A difference that no note describes names
the erratum that describes it. A difference consists of settings of the configuration, of subclasses that replace parts
of the queue manager, or of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

from reference_qm.config import QueueManagerConfig
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.releases import queueing, remote, transfer
from reference_qm.releases.names import parse_releases
from reference_qm.security import AES_PROVIDER, HashAlgorithm, SecurityConfig

SecurityConfigChange = Callable[[SecurityConfig], SecurityConfig]
"""A function that takes a security configuration and returns a copy with the settings of a Windows release."""


@dataclass(frozen=True, slots=True)
class ReleaseBehaviour:
    """A behaviour in which one or more Windows releases deviate from the specifications.

    ``releases``: the releases as the notes write them: ``from NAME``, ``until NAME``, ``all`` or names.
    ``config_presets``: other default values for fields of QueueManagerConfig. ``security``: the function that changes
    the security configuration. ``parts``: the subclasses that replace parts of the queue manager. ``erratum``: the
    entry of suites/errata.toml that describes the deviation, if no note describes it.
    """

    releases: tuple[str, ...]
    config_presets: Mapping[str, Any] = field(default_factory=dict)
    security: SecurityConfigChange | None = None
    parts: tuple[type[QueueManagerPart], ...] = ()
    erratum: str | None = None


def _remove_aes_keys(security: SecurityConfig) -> SecurityConfig:
    left = [
        {name: key for name, key in keys.items() if name != AES_PROVIDER}
        for keys in (security.encryption_keys, security.signing_keys)
    ]
    return replace(security, encryption_keys=left[0], signing_keys=left[1])


def _change_security_settings(**changes: Any) -> SecurityConfigChange:
    return lambda security: replace(security, settings=replace(security.settings, **changes))


def _make_version_behaviour(release: str, *version: int) -> ReleaseBehaviour:
    return ReleaseBehaviour((release,), config_presets={"version_for_remote_readers": version})


_RELEASES_UNTIL_SERVER_2003_R2 = "until windows-server-2003-r2"
_RELEASES_XP_TO_2003 = ("windows-xp", "windows-server-2003", "windows-server-2003-r2")
_RELEASES_2000_TO_2003 = ("windows-2000", *_RELEASES_XP_TO_2003)
NINETY_DAYS_S = 90 * 86_400
WINDOWS_NT_NETWORK_ID = UUID("6d71636f-6e66-4f72-8d00-0000000000c1")
"""The connected network that the administrator of a machine with Windows NT has configured."""

BEHAVIOUR_BY_NAME: Mapping[str, ReleaseBehaviour] = MappingProxyType(
    {
        # MS-MQQB
        "own-queues-not-journaled": ReleaseBehaviour(
            ("from windows-server-2008",), parts=(queueing.MessagesToQueuesOfQueueManagerNotJournaled,)
        ),
        "pings-first": ReleaseBehaviour((_RELEASES_UNTIL_SERVER_2003_R2,), config_presets={"send_ping": True}),
        "pings-unanswered": ReleaseBehaviour(("from windows-vista",), config_presets={"answer_pings": False}),
        "memory-in-order-acks": ReleaseBehaviour(("all",), parts=(transfer.UninitializedOrderAckBytes,)),
        "memory-in-pings": ReleaseBehaviour(("all",), parts=(transfer.UninitializedPingBits,)),
        "base-caches": ReleaseBehaviour(
            _RELEASES_2000_TO_2003, security=_change_security_settings(has_separate_base_caches=True)
        ),
        "insecure-nacks": ReleaseBehaviour(("until windows-vista",), config_presets={"send_insecure_nacks": True}),
        "sends-40-bits": ReleaseBehaviour(
            ("windows-2000", "windows-xp"), security=_change_security_settings(SendEnhancedRC2Using40BitKeys=True)
        ),
        "rejects-40-bits": ReleaseBehaviour(
            ("windows-nt",), security=_change_security_settings(RejectEnhancedRC2Using40BitKeys=True)
        ),
        "no-aes": ReleaseBehaviour(
            (_RELEASES_UNTIL_SERVER_2003_R2,), security=_remove_aes_keys, parts=(transfer.AdvancedPrivacyUnsupported,)
        ),
        "received-keys-stay": ReleaseBehaviour(
            ("until windows-server-2008",), security=_change_security_settings(keeps_received_keys_forever=True)
        ),
        "sent-keys-live-long": ReleaseBehaviour(
            _RELEASES_XP_TO_2003, security=_change_security_settings(gives_sent_keys_long_lifetime=True)
        ),
        # MS-MQMQ
        "memory-in-padding": ReleaseBehaviour(("all",), parts=(transfer.SentPacketPaddingUninitialized,)),
        "no-dead-letters": ReleaseBehaviour(
            ("windows-nt",), parts=(queueing.QueueManagerDiscardsUndeliverableMessages,)
        ),
        "signs-with-md5": ReleaseBehaviour(
            ("until windows-2000",), config_presets={"default_hash_algorithm": HashAlgorithm.MD5}
        ),
        "signs-with-sha1": ReleaseBehaviour(
            (*_RELEASES_XP_TO_2003, "windows-vista", "windows-server-2008"),
            config_presets={"default_hash_algorithm": HashAlgorithm.SHA1},
        ),
        "no-lists": ReleaseBehaviour(("until windows-2000",), parts=(transfer.MultiQueueFormatHeaderMissing,)),
        "miscounts": ReleaseBehaviour(("all",), parts=(transfer.SentUserMsgSequenceNumberDiffersFromMessageCount,)),
        "no-marks-of-transactions": ReleaseBehaviour(
            ("windows-nt",), parts=(transfer.FirstAndLastMessageFlagsMissing,)
        ),
        "no-reports": ReleaseBehaviour(("all",), config_presets={"report_messages": False}),
        # MS-MQQP
        "later-methods-missing": ReleaseBehaviour(
            ("until windows-2000",), parts=(remote.ServerLacksMethodsOfLaterReleases,)
        ),
        "stays-at-first-port": ReleaseBehaviour(
            ("from windows-vista",), parts=(remote.ClientMakesAllCallsAtPortOfFirstBind,)
        ),
        "request-ids-not-compared": ReleaseBehaviour(
            ("until windows-xp",), parts=(remote.ServerAcceptsRequestIdInUse,)
        ),
        "ranges-not-checked": ReleaseBehaviour(("windows-nt",), config_presets={"checks_stub_values_strictly": False}),
        "queue-known-by-handle": ReleaseBehaviour(
            ("until windows-2000",), parts=(remote.ServerFindsQueueOfCallByHQueueHandle,)
        ),
        "queue-opened-not-compared": ReleaseBehaviour(
            ("until windows-xp",), parts=(remote.ServerAcceptsPQueueThatDiffersFromDwpContext,)
        ),
        "nothing-to-cancel-is-no-handle": ReleaseBehaviour(
            ("until windows-2000",), parts=(remote.ServerAnswersCancelWithQueueHandleZeroWithInvalidHandle,)
        ),
        "purge-throws": ReleaseBehaviour(
            ("from windows-server-2003",), parts=(remote.ServerAnswersFailedPurgeWithFault,)
        ),
        "version-of-xp": _make_version_behaviour("windows-xp", 5, 1, 1020),
        "version-of-2003": ReleaseBehaviour(
            _RELEASES_XP_TO_2003[1:], config_presets={"version_for_remote_readers": (5, 2, 1716)}
        ),
        "version-of-vista": _make_version_behaviour("windows-vista", 6, 0, 6000),
        "version-of-2008": _make_version_behaviour("windows-server-2008", 6, 0, 6001),
        "version-never-asked": ReleaseBehaviour(("until windows-2000",), parts=(remote.ClientRequestsNoServerVersion,)),
        # MS-MQDMPR
        "quota-unlimited": ReleaseBehaviour(
            ("until windows-xp",), config_presets={"queue_manager_quota_kb": UNLIMITED_QUOTA_KB}
        ),
        "in-a-network": ReleaseBehaviour(
            ("windows-nt",), config_presets={"connected_networks": (WINDOWS_NT_NETWORK_ID,)}
        ),
        "supports-others": ReleaseBehaviour(("until windows-2000",), config_presets={"supporting_server": True}),
        "application-queue-unread": ReleaseBehaviour(
            (_RELEASES_UNTIL_SERVER_2003_R2,), parts=(queueing.ApplicationDeadletterQueueIgnored,)
        ),
        "reaches-for-90-days": ReleaseBehaviour(
            (_RELEASES_UNTIL_SERVER_2003_R2,), config_presets={"long_live_time_s": NINETY_DAYS_S}
        ),
        "cipher-preset-rc2": ReleaseBehaviour(
            (_RELEASES_UNTIL_SERVER_2003_R2,), parts=(transfer.DefaultEncryptionAlgorithmRC2,)
        ),
        "changes-not-notified": ReleaseBehaviour(_RELEASES_XP_TO_2003, config_presets={"change_notifications": False}),
        # MS-MQSO
        "memory-not-watched": ReleaseBehaviour(
            (_RELEASES_UNTIL_SERVER_2003_R2,), parts=(queueing.QueueManagerAcceptsMessagesWhenMemoryIsShort,)
        ),
        "domain-not-watched": ReleaseBehaviour(("windows-nt",), parts=(queueing.QueueManagerIgnoresDomainChange,)),
        # Articles of the knowledge base
        "host-names-validated": ReleaseBehaviour(
            ("all",), config_presets={"validate_host_names": True}, erratum="E220"
        ),
    }
)


@cache
def get_release_behaviours(release: str) -> Mapping[str, ReleaseBehaviour]:
    """Return the differences of a release by their names. The release ``none`` has no differences."""
    found = {name: one for name, one in BEHAVIOUR_BY_NAME.items() if release in parse_releases(one.releases)}
    return MappingProxyType(found)


def get_config_presets(release: str) -> dict[str, Any]:
    """Return those default values of a release that differ from the defaults of QueueManagerConfig, by the names of the
    fields.
    """
    return {
        name: value for one in get_release_behaviours(release).values() for name, value in one.config_presets.items()
    }


def adapt_security_to_release(release: str, security: SecurityConfig) -> SecurityConfig:
    """Return a security configuration with the changes that a release makes to it."""
    for one in get_release_behaviours(release).values():
        security = one.security(security) if one.security is not None else security
    return security


def adapt_config_to_release(release: str, config: QueueManagerConfig) -> QueueManagerConfig:
    """Return the configuration that a queue manager of a release has. The release changes only settings that still have
    their default values.
    """
    return replace(config, **get_config_presets(release), security=adapt_security_to_release(release, config.security))


def get_parts_that_imitate_release(release: str) -> tuple[type[QueueManagerPart], ...]:
    """Return the subclasses that replace parts of the queue manager to imitate a release of Windows."""
    return tuple(part for one in get_release_behaviours(release).values() for part in one.parts)
