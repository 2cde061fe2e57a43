"""Faults that break rules of MS-MQDMPR 3.1.1.1 QueueManager after a restart or after a change of the configuration."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, add
from reference_qm.core.commands.settings_changing import SettingsChanging
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import DirectoryServerType
from reference_qm.directory.objects import Site
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

LIMITED_JOURNAL_QUOTA_KB = 8_192


def _set_directory_server_type(qm: QueueManager) -> None:
    qm.adm.DirectoryServerType = next(iter(DirectoryServerType))


def _lower_journal_quota(qm: QueueManager) -> None:
    qm.adm.JournalQuota = LIMITED_JOURNAL_QUOTA_KB


def _set_directory_server_type_after_restart(faulty: FaultyCore) -> None:
    faulty.actions_at_restart.append(lambda again: again.actions_after_each_input.append(_set_directory_server_type))


def _lower_journal_quota_after_restart(faulty: FaultyCore) -> None:
    faulty.actions_at_restart.append(lambda again: again.actions_after_each_input.append(_lower_journal_quota))


add(
    "queue-manager-directory-server-type-after-restart",
    "MQDMPR-3.1.1.1-11",
    "After a restart, a queue manager that is not a directory server has a DirectoryServerType.",
    _set_directory_server_type_after_restart,
    blind=True,
)
add(
    "queue-manager-journal-quota-limited-after-restart",
    "MQDMPR-3.1.1.1-D01",
    "After a restart, the JournalQuota of a queue manager is 8,192 KB although no administrator has set it.",
    _lower_journal_quota_after_restart,
    blind=True,
)


@fault("queue-manager-journal-quota-set-to-changed-queue-manager-quota", breaks="MQDMPR-3.1.1.1-D01", blind=True)
class QueueManagerJournalQuotaSetToChangedQueueManagerQuota(SettingsChanging):
    """When an administrator sets the QueueManagerQuota, the JournalQuota gets the same value."""

    def configure(self, request: commands.Configure, token: int, now: Now) -> Result:
        answer = super().configure(request, token, now)
        if request.quota_kb is not None:
            self.qm.adm.JournalQuota = request.quota_kb
        return answer


@fault("queue-manager-sites-update-adds-all-sites-to-site-collection", breaks="MQDMPR-3.1.1.1-27", blind=True)
class QueueManagerSitesUpdateAddsAllSitesToSiteCollection(DirectoryClient):
    """When the Directory Sites Update Timer expires, SiteCollection gets every site of the directory."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        state = self.qm.enterprise.state
        known = {site.Identifier for site in state.SiteCollection}
        elements = self.qm.enterprise.directory.contents()[1] or ()
        others = tuple(one for one in elements if isinstance(one, Site) and one.Identifier not in known)
        state.SiteCollection = (*state.SiteCollection, *others)
