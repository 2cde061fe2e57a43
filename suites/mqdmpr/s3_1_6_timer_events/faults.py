"""Faults that break rules of MS-MQDMPR 3.1.6 Timer Events."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.part import QM
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.directory import Site
from reference_qm.directory.updating import update_directory_sites
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

add(
    "pending-read-outlives-timeout",
    "MQDMPR-3.1.6.3-03",
    "A read continues to wait after its timeout.",
    omit_step(WaitingReads.on_waiting_message_read_timer),
)


@fault("expired-read-fails-with-message-not-found", breaks="MQDMPR-3.1.6.3-03")
class ExpiredReadFailsWithMessageNotFound(WaitingReads):
    """A read whose timeout expires fails with MQ_ERROR_MESSAGE_NOT_FOUND."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        self.end_wait_without_message(self.qm.readers[number], Status.MQ_ERROR_MESSAGE_NOT_FOUND)


@fault("sites-updated-only-at-first-timer-expiry", breaks="MQDMPR-3.1.6.1-10", blind=True)
class SitesUpdatedOnlyAtFirstTimerExpiry(DirectoryClient):
    """The queue manager updates its sites only at the first expiration of the timer."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0))


@fault("sites-update-removes-site-gates", breaks="MQDMPR-3.1.6.1-10", blind=True)
class SitesUpdateRemovesSiteGates(DirectoryClient):
    """When the queue manager updates its sites, it removes their gates."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        state = self.qm.enterprise.state
        state.SiteCollection = tuple(replace(one, SiteGateCollection=()) for one in state.SiteCollection)


@fault("site-gates-updated-only-at-first-timer-expiry", breaks="MQDMPR-3.1.6.2-11", blind=True)
class SiteGatesUpdatedOnlyAtFirstTimerExpiry(DirectoryClient):
    """The queue manager updates its site gates only at the first expiration of the timer."""

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        super().on_directory_site_gates_update_timer(now)
        self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_SITE_GATES_UPDATE, 0))


@fault("queue-manager-site-updated-only-once", breaks="MQDMPR-3.1.6.1-10", blind=True)
class QueueManagerSiteUpdatedOnlyOnce(DirectoryClient):
    """After the first Directory Sites Update that changes a site, the queue manager stores no further changes of
    that site.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.updated: dict[UUID | None, Site] = {}

    def on_directory_sites_update_timer(self, now: Now) -> None:
        enterprise = self.qm.enterprise

        def update_each_site_once(answer: DirectoryAnswered, now: Now) -> None:
            before = enterprise.state.SiteCollection
            update_directory_sites(enterprise.directory, enterprise.state)
            sites = tuple(self.updated.get(site.Identifier, site) for site in enterprise.state.SiteCollection)
            self.updated.update({new.Identifier: new for old, new in zip(before, sites, strict=True) if old != new})
            enterprise.state.SiteCollection = sites

        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)
        self.qm.directory_link.read(update_each_site_once)
