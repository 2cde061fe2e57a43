"""Faults that break rules of MS-MQDMPR 3.1.3 Initialization at a later start, or while the directory is offline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.entries import build_message_relocation, build_removal_change
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.transactions import Transaction
from reference_qm.security import MqdsPublicKeys
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DomainReported


@fault("queue-manager-machine-domain-id-kept-after-machine-left-domain", breaks="MQDMPR-3.1.3-06", blind=True)
class QueueManagerMachineDomainIdKeptAfterMachineLeftDomain(DomainMembership):
    """At a start after the machine left its domain, the queue manager keeps the earlier domain as MachineDomainId."""

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if event.identifier is None:
            self.qm.adm.MachineDomainId = self.qm.adm.LastDomain


@fault(
    "queue-manager-domain-kept-after-machine-joined-other-domain",
    breaks=("MQDMPR-3.1.3-06", "MQDMPR-3.1.3-10"),
    blind=True,
)
class QueueManagerDomainKeptAfterMachineJoinedOtherDomain(DomainMembership):
    """At a start after the machine joined another domain, the queue manager keeps the earlier domain."""

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if event.identifier is not None and self.qm.adm.LastDomain is not None:
            self.qm.adm.MachineDomainId = self.qm.adm.LastDomain


def _remove_all_keys_from_list(keys: bytes) -> bytes:
    return b""


def _remove_key_of_last_provider(keys: bytes) -> bytes:
    return MqdsPublicKeys(MqdsPublicKeys.parse(keys).aPublicKeys[:-1]).build() if keys else keys


KeyListChange = Callable[[bytes], bytes]


def _change_key_list(qm: QueueManager, name: str, change: KeyListChange) -> None:
    state = qm.enterprise.state
    changed: dict[str, Any] = {name: change(getattr(state.LocalQueueManager, name))}
    state.LocalQueueManager = replace(state.LocalQueueManager, **changed)


def _change_key_list_at_later_start(name: str, change: KeyListChange) -> Install:
    """Return an installer of a fault that changes a list of keys at each start that follows the first start with a
    directory.
    """

    def publish_changed_keys(part: DirectoryClient, original: Callable[[], None]) -> None:
        original()
        if part.qm.enterprise.last_known is not None:
            _change_key_list(part.qm, name, change)

    return change_step(DirectoryClient.publish_public_keys, publish_changed_keys)


def _change_key_list_in_directory_outage(name: str, change: KeyListChange) -> Install:
    """Return an installer of a fault that changes a list of keys when the directory is offline."""

    def change_offline_keys(part: DirectoryClient, original: Callable[[Now], None], now: Now) -> None:
        original(now)
        if part.qm.enterprise.state.DirectoryOffline:
            _change_key_list(part.qm, name, change)

    return change_step(DirectoryClient.start_online_timer_if_offline, change_offline_keys)


for _attribute, _use, _list_rule, _providers_rule in (
    ("PublicEncryptionKeyList", "encryption", "MQDMPR-3.1.3-21", "MQDMPR-3.1.3-22"),
    ("PublicSigningKeyList", "signing", "MQDMPR-3.1.3-24", "MQDMPR-3.1.3-25"),
):
    add(
        f"queue-manager-{_use}-key-list-empty-at-later-start",
        _list_rule,
        f"The {_attribute} of the queue manager is empty after a later start.",
        _change_key_list_at_later_start(_attribute, _remove_all_keys_from_list),
        blind=True,
    )
    add(
        f"queue-manager-{_use}-key-list-empty-while-directory-offline",
        _list_rule,
        f"The {_attribute} of the queue manager is empty while the directory is offline.",
        _change_key_list_in_directory_outage(_attribute, _remove_all_keys_from_list),
        blind=True,
    )
    add(
        f"queue-manager-{_use}-key-of-last-provider-missing-at-later-start",
        _providers_rule,
        f"After a later start, the {_attribute} does not contain the key of the last provider.",
        _change_key_list_at_later_start(_attribute, _remove_key_of_last_provider),
        blind=True,
    )
    add(
        f"queue-manager-{_use}-key-of-last-provider-missing-in-outage",
        _providers_rule,
        f"While the directory is offline, the {_attribute} does not contain the key of the last provider.",
        _change_key_list_in_directory_outage(_attribute, _remove_key_of_last_provider),
        blind=True,
    )


def _lengthen_initialization_retry_duration(qm: QueueManager) -> None:
    qm.adm.InitializationRetryTimerDuration = 900


add(
    "queue-manager-retry-timer-duration-longer-after-restart",
    "MQDMPR-3.1.3-D04",
    "The InitializationRetryTimerDuration is 900 seconds after a restart without a failure.",
    change_core_at_restart(_lengthen_initialization_retry_duration),
    blind=True,
)


class _StateAfterDirectoryReadChanger(DirectoryClient):
    """Change the state after the queue manager has read its attributes from the directory."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        again = self.qm.begun
        status = super().synchronize_with_directory(now)
        if status is DirectoryOperationResult.SUCCESS:
            self.change_state_after_directory_read(again)
        return status

    def change_state_after_directory_read(self, again: bool) -> None:
        raise NotImplementedError


@fault("queue-manager-site-identifiers-dropped-after-outage", breaks="MQDMPR-3.1.3-D05", blind=True)
class QueueManagerSiteIdentifiersDroppedAfterOutage(_StateAfterDirectoryReadChanger):
    """The queue manager belongs to no site after the directory was offline."""

    def change_state_after_directory_read(self, again: bool) -> None:
        state = self.qm.enterprise.state
        if again:
            state.LocalQueueManager = replace(state.LocalQueueManager, SiteIdentifierList=())


@fault("queue-manager-attributes-of-directory-not-used-at-later-start", breaks="MQDMPR-3.1.3-D08", blind=True)
class QueueManagerAttributesOfDirectoryNotUsedAtLaterStart(DirectoryClient):
    """At each start except the first, the queue manager keeps its previous QueueManagerQuota instead of the attributes
    in the directory.
    """

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        known, quota, supporting = (
            self.qm.enterprise.last_known,
            self.qm.adm.QueueManagerQuota,
            self.qm.adm.SupportingServer,
        )
        status = super().synchronize_with_directory(now)
        if known is not None:
            self.qm.adm.QueueManagerQuota, self.qm.adm.SupportingServer = quota, supporting
        return status


@fault("queue-manager-attributes-of-sites-not-read-at-start", breaks="MQDMPR-3.1.3-D09", blind=True)
class QueueManagerAttributesOfSitesNotReadAtStart(_StateAfterDirectoryReadChanger):
    """At its start the queue manager reads its sites without their IntraSiteReplicationInterval."""

    def change_state_after_directory_read(self, again: bool) -> None:
        state = self.qm.enterprise.state
        state.SiteCollection = tuple(replace(one, IntraSiteReplicationInterval=None) for one in state.SiteCollection)


@fault("queue-manager-enterprise-not-read-at-later-start", breaks="MQDMPR-3.1.3-D10", blind=True)
class QueueManagerEnterpriseNotReadAtLaterStart(DirectoryClient):
    """At a later start the queue manager does not read whether queue managers without LDAP are notified."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        known = self.qm.enterprise.last_known
        status = super().synchronize_with_directory(now)
        if known is not None:
            self.qm.enterprise.state.EnterpriseReference = None
        return status


def _unlock_all_outgoing_queues_but_first(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        queue.State = OutgoingQueueState.INACTIVE


def _unlock_empty_outgoing_queues(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        if not len(queue.session.OutgoingMessageTable):
            queue.State = OutgoingQueueState.INACTIVE


add(
    "queue-manager-second-outgoing-queue-not-locked-at-hardened-start",
    "MQDMPR-3.1.3-D14",
    "A queue manager that starts in hardened security mode locks only the first of its outgoing queues.",
    change_core_at_restart(_unlock_all_outgoing_queues_but_first),
    blind=True,
)
add(
    "queue-manager-empty-outgoing-queue-not-locked-at-hardened-start",
    "MQDMPR-3.1.3-D14",
    "A queue manager that starts in hardened security mode does not lock an outgoing queue without messages.",
    change_core_at_restart(_unlock_empty_outgoing_queues),
    blind=True,
)


@fault("queue-manager-message-received-in-aborted-transaction-lost-at-restart", breaks="MQDMPR-3.1.3-D16", blind=True)
class QueueManagerMessageReceivedInAbortedTransactionLostAtRestart(TransactionOperations):
    """A message that an open transaction without a coordinator has received is lost at a restart."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if transaction.SinglePhase:
            self.qm.disk.save(build_removal_change([position]))


@fault("queue-manager-message-moved-in-aborted-transaction-moved-at-restart", breaks="MQDMPR-3.1.3-D16", blind=True)
class QueueManagerMessageMovedInAbortedTransactionMovedAtRestart(TransactionOperations):
    """A message that an open transaction without a coordinator has moved is in the target queue after a restart."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        if transaction.SinglePhase:
            source, position.QueueReference = position.QueueReference, target
            self.qm.disk.save(build_message_relocation(position))
            position.QueueReference = source
