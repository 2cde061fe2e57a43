"""Faults that break rules of MS-MQDMPR 3.1.6 Timer Events at some expiries of the timers of sites and site gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.directory.objects import Site
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


def _leave_expired_timer_stopped(name: TimerName) -> Install:
    """Return an installer of a fault that does not start a timer of the directory again when it has expired."""

    class TimerNotRestarted(DirectoryClient):
        def on_directory_sites_update_timer(self, now: Now) -> None:
            super().on_directory_sites_update_timer(now)
            self._stop_expired_timer(TimerName.DIRECTORY_SITES_UPDATE)

        def on_directory_site_gates_update_timer(self, now: Now) -> None:
            super().on_directory_site_gates_update_timer(now)
            self._stop_expired_timer(TimerName.DIRECTORY_SITE_GATES_UPDATE)

        def _stop_expired_timer(self, expired: TimerName) -> None:
            if expired is name:
                self.qm.timers.stop(TimerKey(name, 0))

    return replace_part(TimerNotRestarted)


add(
    "sites-update-timer-expires-once",
    "MQDMPR-3.1.6.1-04",
    "The queue manager updates its sites only at the first expiry of the Directory Sites Update Timer.",
    _leave_expired_timer_stopped(TimerName.DIRECTORY_SITES_UPDATE),
    blind=True,
)
add(
    "gates-update-timer-expires-once",
    "MQDMPR-3.1.6.2-05",
    "The queue manager updates its gates only at the first expiry of the Directory Site Gates Update Timer.",
    _leave_expired_timer_stopped(TimerName.DIRECTORY_SITE_GATES_UPDATE),
    blind=True,
)


def _change_sites_after_expiry(timer: str, change: Callable[[DirectoryClient, Site], Site]) -> Install:
    """Return an installer of a fault that changes each site after the expiry of a timer."""

    class SitesChanged(DirectoryClient):
        def on_directory_sites_update_timer(self, now: Now) -> None:
            super().on_directory_sites_update_timer(now)
            if timer == "sites":
                self._change_sites_after_read()

        def on_directory_site_gates_update_timer(self, now: Now) -> None:
            super().on_directory_site_gates_update_timer(now)
            if timer == "gates":
                self._change_sites_after_read()

        def _change_sites_after_read(self) -> None:
            def change_every_site(*_: Any) -> None:
                state = self.qm.enterprise.state
                state.SiteCollection = tuple(change(self, site) for site in state.SiteCollection)

            self.qm.directory_link.read(change_every_site)

    return replace_part(SitesChanged)


def _find_other_site_in_directory(client: DirectoryClient, site: Site) -> Site:
    elements = client.qm.enterprise.directory.contents()[1] or ()
    return next(one for one in elements if isinstance(one, Site) and one.Identifier != site.Identifier)


add(
    "sites-update-clears-name",
    "MQDMPR-3.1.6.1-04",
    "When the Directory Sites Update Timer expires, the queue manager clears the names of its sites.",
    _change_sites_after_expiry("sites", lambda client, site: replace(site, Name="")),
    blind=True,
)
add(
    "sites-update-uses-name-of-other-site",
    "MQDMPR-3.1.6.1-07",
    "When the Directory Sites Update Timer expires, a site of the queue manager gets the name of another site.",
    _change_sites_after_expiry(
        "sites", lambda client, site: replace(site, Name=_find_other_site_in_directory(client, site).Name)
    ),
    blind=True,
)
add(
    "sites-update-uses-identifier-of-other-site",
    "MQDMPR-3.1.6.1-07",
    "When the Directory Sites Update Timer expires, a site of the queue manager gets the Identifier of another site.",
    _change_sites_after_expiry(
        "sites", lambda client, site: replace(site, Identifier=_find_other_site_in_directory(client, site).Identifier)
    ),
    blind=True,
)


def _make_site_gate_changer(**attributes: Any) -> Callable[[DirectoryClient, Site], Site]:
    def change_gates_of_site(client: DirectoryClient, site: Site) -> Site:
        return replace(site, SiteGateCollection=tuple(replace(gate, **attributes) for gate in site.SiteGateCollection))

    return change_gates_of_site


def _set_gate_quotas_to_own_quota(client: DirectoryClient, site: Site) -> Site:
    return _make_site_gate_changer(QueueManagerQuota=client.qm.adm.QueueManagerQuota)(client, site)


def _set_gate_identifiers_to_own_identifier(client: DirectoryClient, site: Site) -> Site:
    return _make_site_gate_changer(Identifier=client.qm.adm.Identifier)(client, site)


def _repeat_first_gate_of_site(client: DirectoryClient, site: Site) -> Site:
    return replace(site, SiteGateCollection=site.SiteGateCollection[:1] * 2)


for _name, _rule, _says, _change in (
    (
        "gates-update-uses-own-quota",
        "MQDMPR-3.1.6.2-05",
        "When the Directory Site Gates Update Timer expires, a gate gets the QueueManagerQuota of the queue manager.",
        _set_gate_quotas_to_own_quota,
    ),
    (
        "gates-update-uses-own-identifier",
        "MQDMPR-3.1.6.2-08",
        "When the Directory Site Gates Update Timer expires, a gate gets the Identifier of the queue manager.",
        _set_gate_identifiers_to_own_identifier,
    ),
    (
        "gates-update-repeats-first-gate",
        "MQDMPR-3.1.6.2-08",
        "When the Directory Site Gates Update Timer expires, the queue manager adds the first gate a second time.",
        _repeat_first_gate_of_site,
    ),
):
    add(_name, _rule, _says, _change_sites_after_expiry("gates", _change), blind=True)


@fault("site-gates-updated-only-by-sites-update-timer", breaks="MQDMPR-3.1.6.2-05", blind=True)
class SiteGatesUpdatedOnlyBySitesUpdateTimer(DirectoryClient):
    """The queue manager updates its gates only when the Directory Sites Update Timer expires."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        super().on_directory_site_gates_update_timer(now)

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        self._start_timer(TimerName.DIRECTORY_SITE_GATES_UPDATE, now)


@fault("server-expired-cursor-receive-returns-message-not-found", breaks="MQDMPR-3.1.6.3-03", blind=True)
class ServerExpiredCursorReceiveReturnsMessageNotFound(WaitingReads):
    """A receive by a cursor whose timeout expires fails with MQ_ERROR_MESSAGE_NOT_FOUND, like a receive that may not
    wait, instead of MQ_ERROR_IO_TIMEOUT.
    """

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        if reader.DestructiveRead and reader.CursorReference is not None:
            self.end_wait_without_message(reader, Status.MQ_ERROR_MESSAGE_NOT_FOUND)
        else:
            super().on_waiting_message_read_timer(number)
