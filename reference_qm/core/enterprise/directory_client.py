from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_qm import routing
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.enterprise import build_public_key_list
from reference_qm.directory import DirectoryReplica, QueueManager, events
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.directory.objects import list_directory_attributes
from reference_qm.directory.updating import (
    synchronize_with_directory,
    update_directory_site_gates,
    update_directory_sites,
)
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered, DirectoryChanged


class DirectoryClient(QueueManagerPart):
    """Keeps the attributes of the queue manager consistent with the directory.

    Spec: MS-MQDMPR 3.1.1.1, 3.1.2, 3.1.3, 3.1.6, MS-MQBR 3.1.1.2, 3.1.2, 3.1.3, MS-MQSO 5.5.4 to 5.5.6, 6.6.2. The
    whole directory is read at the start, when a timer of the documents expires, after each change that this queue
    manager makes, and after a change by another program.
    """

    __slots__ = ()

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        """Store the content that the directory returned, and continue the operation that waited for this content. Spec:
        MS-MQDMPR 3.1.7.1.20.

        If the directory is unavailable, the queue manager waits for it. After any other read error, the previous
        content is kept.
        """
        enterprise = self.qm.enterprise
        answered = enterprise.awaited.pop(event.token, None)
        if answered is None:
            return
        if event.elements is not None:
            enterprise.directory = DirectoryReplica(event.elements)
        elif event.status is Result.DIRECTORY_NOT_CONNECTED:
            enterprise.directory = DirectoryReplica(connected=False)
            enterprise.state.go_offline()
        answered(event, now)
        if not (self.qm.begun or enterprise.awaited):
            self._begin_initialization_without_directory(now)

    def on_directory_changed(self, event: DirectoryChanged, now: Now) -> None:
        """Read the directory, because its content or its availability has changed. In workgroup mode, the directory is
        not read until the next start.

        Spec: MS-MQSO 5.5.4.
        """
        if self.qm.enterprise.state.DirectoryIntegrated:
            self.qm.directory_link.read(lambda answer, now: None)

    def initialize_from_directory(self, now: Now) -> None:
        """Copy attributes from the directory at the start. The initialization continues when the directory has
        answered. Spec: MS-MQDMPR 3.1.3.
        """
        if self.qm.enterprise.state.DirectoryIntegrated:
            self.qm.directory_link.read(self._on_first_read)
        else:
            self._begin_initialization_without_directory(now)

    def _begin_initialization_without_directory(self, now: Now) -> None:
        self.qm.begun = True
        self.qm.queue_manager_initialization.begin(now)

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        """Copy this queue manager's attributes from the directory at the first read.

        If there is no directory or no domain, the queue manager is in workgroup mode until the next start (MS-MQSO
        5.5.4). If the directory has no object for this queue manager, MS-MQDMPR 3.1.3 only raises an error. Here
        the queue manager then waits for the object, as MS-MQSO 5.5.6 describes for a mismatch, unless the domain
        has changed (6.6.2.1).
        """
        state = self.qm.enterprise.state
        if answer.status is Result.DIRECTORY_NOT_CONNECTED:
            state.DirectoryIntegrated = state.DirectoryOffline = False
            if self.qm.domain_membership.has_left_domain:
                self.qm.domain_membership.save_last_domain()
        elif answer.status is not Result.SUCCESS:
            state.go_offline()
        elif self._find_own_object() is None and self.qm.domain_membership.has_joined_domain:
            self.qm.domain_membership.process_domain_change(self._join_domain, now)
        else:
            self._join_domain(now)

    def _join_domain(self, now: Now) -> None:
        """Copy this queue manager's attributes from the directory, and become a member of the domain.

        Spec: MS-MQDMPR 3.1.3, MS-MQSO 6.6.2.
        """
        self._copy_computer_name_from_directory()
        self.qm.surviving_queues.adopt_published_queues()
        if self.synchronize_with_directory(now) is Result.SUCCESS:
            self.qm.domain_membership.save_last_domain()
        else:
            self.qm.enterprise.state.go_offline()

    def _find_own_object(self) -> QueueManager | None:
        return self.qm.enterprise.find_queue_manager("Identifier", self.qm.adm.Identifier)

    def _copy_computer_name_from_directory(self) -> None:
        """Copy the computer name from the directory. This must happen before the queue manager publishes its first
        object.
        """
        state = self.qm.enterprise.state
        known = self._find_own_object()
        if known is not None:
            state.LocalQueueManager = replace(state.LocalQueueManager, ComputerName=known.ComputerName)

    def synchronize_with_directory(self, now: Now) -> Result:
        """Copy this queue manager's attributes, sites, gates and routes from the directory, and start the timers.

        Spec: MS-MQDMPR 3.1.3. The directory does not publish the gates of a site. The gates are determined as
        MS-MQBR describes.
        """
        state = self.qm.enterprise.state
        self.qm.public_queue_publishing.store_public_queue_attributes()
        status = synchronize_with_directory(self.qm.enterprise.directory, state, provisioning=False)
        if status is not Result.SUCCESS:
            return status
        self.publish_public_keys()
        self._copy_attributes_of_own_object()
        self.qm.domain_membership.save_known_attributes()
        topology = self.qm.next_hops.read_topology()
        state.SiteCollection = tuple(
            replace(site, SiteGateCollection=topology.list_site_gates(site.Identifier)) for site in state.SiteCollection
        )
        self.initialize_routing_table()
        for name in (
            TimerName.DIRECTORY_SITES_UPDATE,
            TimerName.DIRECTORY_SITE_GATES_UPDATE,
            TimerName.QUEUE_MANAGER_QUERY,
        ):
            self._start_timer(name, now)
        return status

    def publish_public_keys(self) -> None:
        """Write this queue manager's public keys to the directory if the directory does not have them.

        Spec: MS-MQDMPR 3.1.3, 3.1.7.1.24. The document replaces the keys that were just initialized by the keys in the
        directory. After this step, senders would encrypt messages with public keys whose private keys are lost.
        """
        state, security = self.qm.enterprise.state, self.qm.config.security
        own = {
            "PublicEncryptionKeyList": build_public_key_list(security.encryption_keys),
            "PublicSigningKeyList": build_public_key_list(security.signing_keys, signing=True),
        }
        changed: dict[str, Any] = {
            name: keys for name, keys in own.items() if keys and keys != getattr(state.LocalQueueManager, name)
        }
        if changed:
            state.LocalQueueManager = replace(state.LocalQueueManager, **changed)
            self.qm.directory_link.write(
                DirectoryWriteRequest(state.LocalQueueManager, tuple(changed)), lambda answer: None
            )

    def _copy_attributes_of_own_object(self) -> None:
        """Copy the attributes of this queue manager from the directory. The lists of public keys are not copied; they
        keep their local values.
        """
        local = self.qm.enterprise.state.LocalQueueManager
        for name in list_directory_attributes(QueueManager):
            value = getattr(local, name)
            if value is not None and name not in _IDENTIFIER_AND_KEY_ATTRIBUTES:
                setattr(self.qm.adm, name, value)

    def initialize_routing_table(self) -> None:
        """Build the RoutingTable, which is empty unless this queue manager is a site gate. Spec: MS-MQBR 3.1.3.1."""
        self.qm.enterprise.table = routing.initialize_routing_table(
            self.qm.next_hops.read_topology(), self.qm.enterprise.state.LocalQueueManager
        )

    def start_online_timer_if_offline(self, now: Now) -> None:
        """Start the Directory Online Timer if the directory is unavailable.

        Spec: MS-MQDMPR 3.1.2.5, 3.1.7.1.18, 3.1.7.1.25.
        """
        if self.qm.enterprise.state.DirectoryOffline and not self.qm.timers.is_running(
            TimerKey(TimerName.DIRECTORY_ONLINE, 0)
        ):
            self._start_timer(TimerName.DIRECTORY_ONLINE, now)

    def on_directory_online_timer(self, now: Now) -> None:
        """Read the directory to find out whether it is available again, and restart the timer.

        Spec: MS-MQDMPR 3.1.7.1.25.
        """
        self.start_online_timer_if_offline(now)
        self.qm.directory_link.read(self._check_directory_online)

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        """Handle the event Check Directory Online: synchronize if the directory is online. Spec: MS-MQDMPR
        3.1.7.1.25, MS-MQSO 5.5.4.
        """
        events.check_directory_online(self.qm.enterprise.directory, self.qm.enterprise.state)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_ONLINE, 0))
            self.qm.public_queue_publishing.update_public_queues()
            self.qm.surviving_queues.adopt_published_queues()
            self.synchronize_with_directory(now)

    def on_directory_sites_update_timer(self, now: Now) -> None:
        """Read a new list of this queue manager's sites from the directory. Spec: MS-MQDMPR 3.1.6.1."""
        enterprise = self.qm.enterprise
        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)
        self.qm.directory_link.read(lambda answer, now: update_directory_sites(enterprise.directory, enterprise.state))

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        """Read from the directory a new list of the gates in this queue manager's sites. Spec: MS-MQDMPR 3.1.6.2."""
        enterprise = self.qm.enterprise
        self._start_timer(TimerName.DIRECTORY_SITE_GATES_UPDATE, now)
        self.qm.directory_link.read(
            lambda answer, now: update_directory_site_gates(enterprise.directory, enterprise.state)
        )

    def on_queue_manager_query_timer(self, now: Now) -> None:
        """Rebuild the RoutingTable from the content of the directory. Spec: MS-MQBR 3.1.6.1."""
        self._start_timer(TimerName.QUEUE_MANAGER_QUERY, now)
        self.qm.directory_link.read(lambda answer, now: self.initialize_routing_table())

    def _start_timer(self, name: TimerName, now: Now) -> None:
        settings = self.qm.settings
        duration_ms = {
            TimerName.DIRECTORY_ONLINE: settings.directory_online_ms,
            TimerName.DIRECTORY_SITES_UPDATE: settings.directory_sites_update_ms,
            TimerName.DIRECTORY_SITE_GATES_UPDATE: settings.directory_site_gates_update_ms,
            TimerName.QUEUE_MANAGER_QUERY: settings.queue_manager_query_ms,
        }[name]
        self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, duration_ms // settings.scale)


_IDENTIFIER_AND_KEY_ATTRIBUTES = ("Identifier", "PublicEncryptionKeyList", "PublicSigningKeyList")
