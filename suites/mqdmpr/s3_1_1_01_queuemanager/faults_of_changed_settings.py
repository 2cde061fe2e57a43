"""Faults that break rules of MS-MQDMPR 3.1.1.1 QueueManager when another setting or the state changes."""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.parts import fault
from harness.faults.primitives import change_core_after_every_input, change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.commands.settings_changing import SettingsChanging
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.model.states import SessionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def _set_queue_manager_quota_to_unlimited(qm: QueueManager) -> None:
    qm.adm.QueueManagerQuota = 0xFFFFFFFF


add(
    "queue-manager-quota-unlimited-after-restart",
    "MQDMPR-3.1.1.1-08",
    "The QueueManagerQuota is unlimited after a restart.",
    change_core_at_restart(_set_queue_manager_quota_to_unlimited),
    blind=True,
)


@fault("queue-manager-quota-overwritten-when-journal-quota-is-set", breaks="MQDMPR-3.1.1.1-08", blind=True)
class QueueManagerQuotaOverwrittenWhenJournalQuotaIsSet(SettingsChanging):
    """When an administrator sets the JournalQuota, the queue manager also sets its QueueManagerQuota to this value."""

    def configure(self, request: commands.Configure, token: int, now: Now) -> Result:
        result = super().configure(request, token, now)
        if request.journal_quota_kb is not None:
            self.qm.adm.QueueManagerQuota = request.journal_quota_kb
        return result


@fault("queue-manager-connected-networks-filled-with-sites", breaks="MQDMPR-3.1.1.1-09", blind=True)
class QueueManagerConnectedNetworksFilledWithSites(DirectoryClient):
    """When the queue manager reads its attributes, it adds its sites to the ConnectedNetworkIdentifierList."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        self.qm.adm.ConnectedNetworkIdentifierList = self.qm.adm.SiteIdentifierList
        return status


def _add_session_partners_to_connected_networks(qm: QueueManager) -> None:
    partners = (one.RemoteQMGuid for one in qm.sessions.values() if one.SessionState is SessionState.OPEN)
    qm.adm.ConnectedNetworkIdentifierList = tuple(dict.fromkeys((*qm.adm.ConnectedNetworkIdentifierList, *partners)))


add(
    "queue-manager-connected-networks-filled-with-session-partners",
    "MQDMPR-3.1.1.1-09",
    "The queue manager adds the queue managers of its sessions to its ConnectedNetworkIdentifierList.",
    change_core_after_every_input(_add_session_partners_to_connected_networks),
    blind=True,
)


@fault("queue-manager-supporting-server-true-if-directory-integrated", breaks="MQDMPR-3.1.1.1-10", blind=True)
class QueueManagerSupportingServerTrueIfDirectoryIntegrated(DirectoryClient):
    """A queue manager that is integrated with a directory sets its SupportingServer to True."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        self.qm.adm.SupportingServer = True
        return status


def _set_supporting_server_to_true(qm: QueueManager) -> None:
    qm.adm.SupportingServer = True


add(
    "queue-manager-supporting-server-true-after-restart",
    "MQDMPR-3.1.1.1-10",
    "The SupportingServer of a queue manager is True after a restart.",
    change_core_at_restart(_set_supporting_server_to_true),
    blind=True,
)


@fault("queue-manager-journal-quota-overwritten-when-quota-is-set", breaks="MQDMPR-3.1.1.1-D01", blind=True)
class QueueManagerJournalQuotaOverwrittenWhenQuotaIsSet(SettingsChanging):
    """When an administrator sets the QueueManagerQuota, the queue manager also sets its JournalQuota to this value."""

    def configure(self, request: commands.Configure, token: int, now: Now) -> Result:
        result = super().configure(request, token, now)
        if request.quota_kb is not None:
            self.qm.adm.JournalQuota = request.quota_kb
        return result


@fault("queue-manager-journal-quota-limited-by-directory", breaks="MQDMPR-3.1.1.1-D01", blind=True)
class QueueManagerJournalQuotaLimitedByDirectory(DirectoryClient):
    """When the queue manager reads its attributes, it sets its JournalQuota to its QueueManagerQuota."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        self.qm.adm.JournalQuota = self.qm.adm.QueueManagerQuota
        return status


@fault("queue-manager-hardened-security-lost-at-second-restart", breaks="MQDMPR-3.1.1.1-D02", blind=True)
class QueueManagerHardenedSecurityLostAtSecondRestart(StateRestoring):
    """The queue manager starts once in hardened security mode, and leaves the mode at the next restart."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        if self.qm.adm.HardenedSecurity:
            self.qm.disk.save({"hardened_security": False})


@fault("queue-manager-leaves-hardened-security-mode-when-brought-online", breaks="MQDMPR-3.1.1.1-D02", blind=True)
class QueueManagerLeavesHardenedSecurityModeWhenBroughtOnline(TransferAdministering):
    """The queue manager leaves hardened security mode when it is brought online."""

    def bring_online(self, now: Now) -> None:
        self.qm.adm.HardenedSecurity = False
        super().bring_online(now)
