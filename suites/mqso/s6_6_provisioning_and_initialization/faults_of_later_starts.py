"""Faults in the state after the provisioning, and in later initializations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.core.store.disk import Change
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.directory.objects import QueueManager
from reference_qm.model.attributes import ServiceState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered, RpcBytesReceived

PROVISIONING_RULES = ("MQSO-6.6-06", "MQSO-6.6.1-03")


def _clear_signing_keys(element: QueueManager) -> QueueManager:
    return replace(element, PublicSigningKeyList=b"")


def _replace_quota(element: QueueManager, quota: int) -> QueueManager:
    return replace(element, QueueManagerQuota=quota)


@fault(
    "queue-manager-srmp-http-support-always-true-in-directory-mode",
    breaks=(*PROVISIONING_RULES, "MQSO-6.6.1-D03"),
    blind=True,
)
class QueueManagerSrmpHttpSupportAlwaysTrueInDirectoryMode(QueueManagerInitialization):
    """SrmpHttpSupport is TRUE in a queue manager that was provisioned in directory mode without support for SRMP."""

    def begin(self, now: Now) -> None:
        self.qm.adm.SrmpHttpSupport = self.qm.config.directory_integrated
        super().begin(now)


@fault("queue-manager-clustered-becomes-true-after-restart", breaks="MQSO-6.6.1-D03", blind=True)
class QueueManagerClusteredBecomesTrueAfterRestart(StateRestoring):
    """Clustered is TRUE in a queue manager that was provisioned without a cluster, after a restart."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        self.qm.adm.Clustered = bool(entries)


@fault("queue-manager-directory-server-becomes-true-after-restart", breaks="MQSO-6.6.1-D04")
class QueueManagerDirectoryServerBecomesTrueAfterRestart(StateRestoring):
    """DirectoryServer is TRUE in a queue manager in workgroup mode, after a restart."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        self.qm.adm.DirectoryServer = bool(entries) and not self.qm.config.directory_integrated


@fault("queue-manager-journal-quota-of-new-installation-is-one-gigabyte", breaks="MQSO-6.6.1-D05", blind=True)
class QueueManagerJournalQuotaOfNewInstallationIsOneGigabyte(QueueManagerInitialization):
    """JournalQuota of a new queue manager is 0x00100000 instead of 0xFFFFFFFF."""

    def begin(self, now: Now) -> None:
        self.qm.adm.JournalQuota = 0x00100000
        super().begin(now)


@fault("queue-manager-public-signing-key-list-empty-after-provisioning", breaks="MQSO-6.6.1-D06", blind=True)
class QueueManagerPublicSigningKeyListEmptyAfterProvisioning(DirectoryClient):
    """PublicSigningKeyList of a new queue manager is empty."""

    def initialize_from_directory(self, now: Now) -> None:
        state = self.qm.enterprise.state
        state.LocalQueueManager = _clear_signing_keys(state.LocalQueueManager)
        super().initialize_from_directory(now)

    def publish_public_keys(self) -> None:
        super().publish_public_keys()
        state = self.qm.enterprise.state
        state.LocalQueueManager = _clear_signing_keys(state.LocalQueueManager)


class RestartRecorder(StateRestoring):
    """A part of the queue manager that records whether the queue manager has started before."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        self.qm.__dict__["has_started_before"] = bool(entries)


class RpcServingOnlyAfterRestart(RpcEventDispatching):
    """A part of the queue manager that answers remote calls only after a restart."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        if self.qm.__dict__.get("has_started_before"):
            super().on_bytes(event, now)


add(
    "queue-manager-remote-calls-after-provisioning-unanswered",
    "MQSO-6.6.1-D07",
    "A new queue manager answers no remote calls before its first restart.",
    combine_installers(replace_part(RestartRecorder), replace_part(RpcServingOnlyAfterRestart)),
    blind=True,
)


@fault(
    "queue-manager-state-stays-initializing-in-directory-mode", breaks=("MQSO-6.6.1-D07", "MQSO-6.6.2-D07"), blind=True
)
class QueueManagerStateStaysInitializingInDirectoryMode(QueueManagerInitialization):
    """The state of a queue manager in directory mode is Initializing after its initialization."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        if self.qm.enterprise.state.DirectoryIntegrated:
            self.qm.adm.QueueManagerState = ServiceState.INITIALIZING


class InitializationThatNeverEndsAfterRestart(QueueManagerInitialization):
    """A part of the queue manager that leaves the state Initializing after a restart."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        if self.qm.__dict__.get("has_started_before"):
            self.qm.adm.QueueManagerState = ServiceState.INITIALIZING


add(
    "queue-manager-state-after-restart-initializing",
    ("MQSO-6.6.2-01", "MQSO-6.6.2-D07"),
    "The state of a queue manager after a restart is Initializing.",
    combine_installers(replace_part(RestartRecorder), replace_part(InitializationThatNeverEndsAfterRestart)),
    blind=True,
)


@fault("queue-manager-routing-table-of-restarted-routing-server-empty", breaks="MQSO-6.6.2-D05", blind=True)
class QueueManagerRoutingTableOfRestartedRoutingServerEmpty(DirectoryClient):
    """The RoutingTable of a routing server is empty after a restart."""

    def initialize_routing_table(self) -> None:
        super().initialize_routing_table()
        if self.qm.adm.LastDomain is not None:
            self.qm.enterprise.table = ()


@fault(
    "queue-manager-rewrites-public-queues-at-start-in-same-domain",
    breaks=("MQSO-6.6.2-01", "MQSO-6.6.2-D01"),
    blind=True,
)
class QueueManagerRewritesPublicQueuesAtStartInSameDomain(DirectoryClient):
    """A queue manager that starts in the domain of its last start writes its labels of public queues to the
    directory.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        if self.qm.adm.LastDomain is not None and self.qm.enterprise.state.DirectoryIntegrated:
            for element in self.qm.enterprise.state.QueueCollection:
                self.qm.directory_link.write(DirectoryWriteRequest(element, ("Label",)), lambda answer: None)


@fault("queue-manager-rewrites-quota-at-start-in-same-domain", breaks="MQSO-6.6.2-D01", blind=True)
class QueueManagerRewritesQuotaAtStartInSameDomain(DirectoryClient):
    """A queue manager that starts in the domain of its last start writes its QueueManagerQuota to the directory."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        known, quota = self.qm.adm.LastDomain, self.qm.config.queue_manager_quota_kb
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if known is not None and known == self.qm.adm.MachineDomainId and state.DirectoryIntegrated:
            changed = _replace_quota(state.LocalQueueManager, quota)
            self.qm.directory_link.write(DirectoryWriteRequest(changed, ("QueueManagerQuota",)), lambda answer: None)


@fault("queue-manager-last-domain-of-first-domain-not-stored", breaks="MQSO-6.6.2-D02", blind=True)
class QueueManagerLastDomainOfFirstDomainNotStored(DomainMembership):
    """A queue manager that joins its first domain sets LastDomain, but does not store it."""

    def _save_domain_change(self, change: Change) -> None:
        if change.get("last_domain") is None:
            super()._save_domain_change(change)


@fault("queue-manager-emptied-last-domain-not-stored", breaks="MQSO-6.6.2-D03", blind=True)
class QueueManagerEmptiedLastDomainNotStored(DomainMembership):
    """A queue manager that left its domain empties LastDomain, but does not store it."""

    def _save_domain_change(self, change: Change) -> None:
        if "last_domain" not in change or change["last_domain"] is not None:
            super()._save_domain_change(change)


@fault(
    "queue-manager-directory-integrated-true-at-second-start-off-domain",
    breaks=("MQSO-6.6.2-D03", "MQSO-6.6.2.2-01"),
    blind=True,
)
class QueueManagerDirectoryIntegratedTrueAtSecondStartOffDomain(DirectoryClient):
    """A queue manager that left its domain sets DirectoryIntegrated to TRUE at its second start without a domain."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        started_without_domain = self.qm.adm.LastDomain is None and self.qm.adm.MachineDomainId is None
        super()._on_first_read(answer, now)
        if started_without_domain:
            self.qm.enterprise.state.DirectoryIntegrated = True
            self.qm.enterprise.state.go_offline()


@fault("queue-manager-last-domain-of-second-domain-not-stored", breaks="MQSO-6.6.2-D04", blind=True)
class QueueManagerLastDomainOfSecondDomainNotStored(DomainMembership):
    """A queue manager that joins another domain sets LastDomain, but stores the first domain."""

    def _save_domain_change(self, change: Change) -> None:
        if "last_domain" in change and self.__dict__.get("is_changing"):
            return
        super()._save_domain_change(change)

    def save_last_domain(self) -> None:
        self.__dict__["is_changing"] = self.qm.adm.LastDomain is not None
        super().save_last_domain()
        self.__dict__["is_changing"] = False


@fault("queue-manager-change-of-domain-without-public-queues-ignored", breaks="MQSO-6.6.2-03", blind=True)
class QueueManagerChangeOfDomainWithoutPublicQueuesIgnored(DomainMembership):
    """A queue manager without public queues does not check whether its domain has changed."""

    @property
    def has_joined_domain(self) -> bool:
        queues = self.qm.adm.QueueCollection.values()
        return super().has_joined_domain and any(one.QueueType.value == "Public" for one in queues)
