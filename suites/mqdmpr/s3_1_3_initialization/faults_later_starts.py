"""Faults that break rules of MS-MQDMPR 3.1.3 Initialization after a restart, in a workgroup or for some queues."""

from __future__ import annotations

from base64 import b64decode
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.codec.format_names import PrivateName
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.destination_resolving import DestinationResolving, parse_format_name_of_command
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered, DomainReported
from suites.mqdmpr.s3_1_3_initialization.fault_steps import (
    change_blob_of_key,
    change_state_at_later_synchronization,
    replace_attribute_in_own_directory_object,
)


@fault("queue-manager-machine-domain-id-missing-after-domain-change", breaks="MQDMPR-3.1.3-10", blind=True)
class QueueManagerMachineDomainIdMissingAfterDomainChange(DomainMembership):
    """After the machine has moved to another domain, the queue manager has no MachineDomainId."""

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if self.qm.adm.LastDomain not in (None, self.qm.adm.MachineDomainId):
            self.qm.adm.MachineDomainId = None


@fault("queue-manager-machine-domain-id-null-guid-after-restart", breaks="MQDMPR-3.1.3-10", blind=True)
class QueueManagerMachineDomainIdNullGuidAfterRestart(DomainMembership):
    """At a restart in the same domain, MachineDomainId is the GUID that contains only zeros."""

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if self.qm.adm.LastDomain is not None and self.qm.adm.LastDomain == self.qm.adm.MachineDomainId:
            self.qm.adm.MachineDomainId = UUID(int=0)


@fault("queue-manager-keeps-domain-in-workgroup", breaks="MQDMPR-3.1.3-D02", blind=True)
class QueueManagerKeepsDomainInWorkgroup(DomainMembership):
    """If the machine no longer belongs to a domain when the queue manager starts, MachineDomainId still identifies the
    domain of the last start.
    """

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        self.qm.adm.MachineDomainId = self.qm.adm.MachineDomainId or self.qm.adm.LastDomain


@fault("queue-manager-machine-domain-id-is-own-identifier-after-domain-change", breaks="MQDMPR-3.1.3-D02", blind=True)
class QueueManagerMachineDomainIdIsOwnIdentifierAfterDomainChange(DomainMembership):
    """After the machine has moved to another domain, MachineDomainId is the Identifier of the queue manager."""

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if self.qm.adm.MachineDomainId is not None and self.qm.adm.LastDomain not in (
            None,
            self.qm.adm.MachineDomainId,
        ):
            self.qm.adm.MachineDomainId = self.qm.adm.Identifier


def _clear_encryption_keys(qm: QueueManager) -> None:
    replace_attribute_in_own_directory_object(qm, PublicEncryptionKeyList=b"")


def _clear_signing_keys(qm: QueueManager) -> None:
    replace_attribute_in_own_directory_object(qm, PublicSigningKeyList=b"")


@fault("queue-manager-encryption-keys-lost-when-directory-returns", breaks="MQDMPR-3.1.3-21", blind=True)
class QueueManagerEncryptionKeysLostWhenDirectoryReturns(DirectoryClient):
    """When the directory is online again, the queue manager empties its PublicEncryptionKeyList."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            _clear_encryption_keys(self.qm)


@fault("queue-manager-signing-keys-lost-when-directory-returns", breaks="MQDMPR-3.1.3-24", blind=True)
class QueueManagerSigningKeysLostWhenDirectoryReturns(DirectoryClient):
    """When the directory is online again, the queue manager empties its PublicSigningKeyList."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            _clear_signing_keys(self.qm)


@fault("queue-manager-retry-duration-zero-when-directory-returns", breaks="MQDMPR-3.1.3-D04", blind=True)
class QueueManagerRetryDurationZeroWhenDirectoryReturns(DirectoryClient):
    """When the directory is online again, the queue manager sets InitializationRetryTimerDuration to 0."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.adm.InitializationRetryTimerDuration = 0


add(
    "queue-manager-modulus-of-signing-key-of-aes-provider-cut",
    "MQDMPR-3.1.3-D07",
    "The modulus of the signing key of the provider of AES has 512 bits.",
    change_blob_of_key("PublicSigningKeyList", 2, lambda blob: blob[:-64]),
    blind=True,
)
add(
    "queue-manager-length-of-signing-key-of-base-provider-1024",
    "MQDMPR-3.1.3-D07",
    "The signing key of the base cryptographic provider states a length of 1,024 bits.",
    change_blob_of_key("PublicSigningKeyList", 0, lambda blob: blob[:12] + (1_024).to_bytes(4, "little") + blob[16:]),
    blind=True,
)
add(
    "queue-manager-length-of-encryption-key-of-aes-provider-2048",
    "MQDMPR-3.1.3-D07",
    "The encryption key of the provider of AES states a length of 2,048 bits.",
    change_blob_of_key(
        "PublicEncryptionKeyList", 2, lambda blob: blob[:12] + (2_048).to_bytes(4, "little") + blob[16:]
    ),
    blind=True,
)


def _clear_enterprise_reference(qm: QueueManager) -> None:
    qm.enterprise.state.EnterpriseReference = None


@fault("queue-manager-enterprise-lost-when-directory-returns", breaks="MQDMPR-3.1.3-D10", blind=True)
class QueueManagerEnterpriseLostWhenDirectoryReturns(DirectoryClient):
    """When the directory is online again, the queue manager removes its EnterpriseReference."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            _clear_enterprise_reference(self.qm)


def _stop_sites_update_timer(qm: QueueManager) -> None:
    qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0))


def _stop_site_gates_update_timer(qm: QueueManager) -> None:
    qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITE_GATES_UPDATE, 0))


add(
    "queue-manager-sites-timer-not-started-after-restart",
    "MQDMPR-3.1.3-D11",
    "After a restart the queue manager does not start the Directory Sites Update Timer.",
    change_state_at_later_synchronization(_stop_sites_update_timer),
    blind=True,
)
add(
    "queue-manager-gates-timer-not-started-after-restart",
    "MQDMPR-3.1.3-D11",
    "After a restart the queue manager does not start the Directory Site Gates Update Timer.",
    change_state_at_later_synchronization(_stop_site_gates_update_timer),
    blind=True,
)


class _OutgoingQueueLockKeeper(DestinationResolving):
    """Keep outgoing queues locked after the queue manager has restarted without hardened security mode."""

    def is_queue_kept_locked(self, text: str) -> bool:
        """Return whether the outgoing queue for a format name stays locked."""
        return False

    def get_initial_outgoing_queue_state(self, text: str) -> OutgoingQueueState:
        restored = not self.qm.begun
        return (
            OutgoingQueueState.LOCKED
            if restored and self.is_queue_kept_locked(text)
            else super().get_initial_outgoing_queue_state(text)
        )


@fault("sender-queue-for-private-format-name-stays-locked-after-restart", breaks="MQDMPR-3.1.3-D13", blind=True)
class SenderQueueForPrivateFormatNameStaysLockedAfterRestart(_OutgoingQueueLockKeeper):
    """When the queue manager starts without hardened security mode, the outgoing queue for a private format name stays
    locked.
    """

    def is_queue_kept_locked(self, text: str) -> bool:
        return isinstance(parse_format_name_of_command(text), PrivateName)


@fault("queue-manager-machine-domain-id-missing-without-directory", breaks=("MQDMPR-3.1.3-10", "MQDMPR-3.1.3-D02"))
class QueueManagerMachineDomainIdMissingWithoutDirectory(DirectoryClient):
    """A queue manager whose directory is unavailable when it starts has no MachineDomainId."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        if answer.elements is None:
            self.qm.adm.MachineDomainId = None


@fault("sender-second-message-of-unlocked-queue-lost", breaks="MQDMPR-3.1.3-D13")
class SenderSecondMessageOfUnlockedQueueLost(StateRestoring):
    """When the queue manager starts without hardened security mode, it restores only the first nontransactional message
    of each outgoing queue.
    """

    def _restore_message(self, key_suffix: str, value: dict[str, Any]) -> None:
        restored: set[str] = getattr(self, "restored", set())
        place = value["in"]
        packet = parse_packet(b64decode(value["packet"]))
        assert isinstance(packet, UserMessagePacket)
        if place.startswith("outgoing:") and not self.qm.adm.HardenedSecurity and not packet.UserHeader.TH:
            if place in restored:
                return
            self.restored = restored | {place}
        super()._restore_message(key_suffix, value)
