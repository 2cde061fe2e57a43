"""Faults that break rules of MS-MQDMPR 3.1.3 Initialization for some queues, keys, sites, attributes or starts."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.primitives import change_core_after_every_input, omit_step
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import DirectQueueFormatName, PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.dispatch import HANDLER_BY_INPUT_TYPE
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.queue_manager_initialization import (
    LATER_INITIALIZATION_RETRY_INTERVAL_S,
    QueueManagerInitialization,
)
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue, Session
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import BytesReceived, Input, QueueManagerStarted, TransportAccepted
from suites.mqdmpr.s3_1_3_initialization.fault_steps import (
    change_blob_of_key,
    change_state_after_restart,
    change_state_at_later_synchronization,
    replace_attribute_in_own_directory_object,
)


def _clear_computer_name(qm: QueueManager) -> None:
    qm.adm.ComputerName = ""


add(
    "queue-manager-computer-name-empty-after-restart",
    "MQDMPR-3.1.3-05",
    "After a restart the ComputerName of the queue manager is empty.",
    change_state_after_restart(_clear_computer_name),
    blind=True,
)


def _make_system_journal_private(qm: QueueManager) -> None:
    qm.adm.SystemJournalQueue.QueueType = QueueType.PRIVATE


add(
    "queue-manager-system-journal-is-private-queue",
    "MQDMPR-3.1.3-05",
    "The initialization creates the system journal with the QueueType Private.",
    change_core_after_every_input(_make_system_journal_private),
    blind=True,
)


@fault("queue-manager-initialization-creates-transaction", breaks="MQDMPR-3.1.3-05", blind=True)
class QueueManagerInitializationCreatesTransaction(QueueManagerInitialization):
    """The initialization creates a transaction that no application has begun."""

    def begin(self, now: Now) -> None:
        self.qm.adm.TransactionCollection[MADE_UP_GUID] = Transaction(MADE_UP_GUID)
        super().begin(now)


def _clear_encryption_keys(qm: QueueManager) -> None:
    replace_attribute_in_own_directory_object(qm, PublicEncryptionKeyList=b"")


add(
    "queue-manager-encryption-key-list-empty-after-restart",
    "MQDMPR-3.1.3-21",
    "After a restart the PublicEncryptionKeyList of the queue manager is empty.",
    change_state_after_restart(_clear_encryption_keys),
    blind=True,
)


def _clear_lowest_bit_of_modulus(blob: bytes) -> bytes:
    return blob[:20] + bytes([blob[20] & 0xFE]) + blob[21:]


def _make_modulus_divisible_by_3(blob: bytes) -> bytes:
    modulus = int.from_bytes(blob[20:], "little")
    multiple = modulus - modulus % 3
    return blob[:20] + (multiple if multiple & 1 else multiple - 3).to_bytes(len(blob) - 20, "little")


def _change_byte_of_modulus(blob: bytes) -> bytes:
    return blob[:40] + bytes([blob[40] ^ 0x55]) + blob[41:]


def _clear_highest_byte_of_modulus(blob: bytes) -> bytes:
    return blob[:-1] + bytes([0])


def _reverse_modulus_bytes(blob: bytes) -> bytes:
    return blob[:20] + blob[:19:-1]


for _place, _provider in enumerate(("base", "enhanced", "aes")):
    add(
        f"queue-manager-{_provider}-encryption-key-of-other-private-key",
        "MQDMPR-3.1.3-23",
        f"The queue manager cannot decrypt data that was encrypted with the public key of its {_provider} provider.",
        change_blob_of_key("PublicEncryptionKeyList", _place, _change_byte_of_modulus),
        blind=True,
    )
    add(
        f"queue-manager-{_provider}-signing-key-modulus-even",
        "MQDMPR-3.1.3-26",
        f"The modulus of the signing key of the queue manager's {_provider} provider is even.",
        change_blob_of_key("PublicSigningKeyList", _place, _clear_lowest_bit_of_modulus),
        blind=True,
    )
add(
    "queue-manager-signing-key-modulus-has-factor-3",
    "MQDMPR-3.1.3-26",
    "The modulus of a signing key of the queue manager is a multiple of 3.",
    change_blob_of_key("PublicSigningKeyList", 1, _make_modulus_divisible_by_3),
    blind=True,
)
add(
    "queue-manager-signing-key-modulus-not-of-full-length",
    "MQDMPR-3.1.3-26",
    "The highest byte of the modulus of a signing key of the queue manager is zero.",
    change_blob_of_key("PublicSigningKeyList", 2, _clear_highest_byte_of_modulus),
    blind=True,
)
add(
    "queue-manager-encryption-key-modulus-big-endian",
    "MQDMPR-3.1.3-23",
    "The modulus of the last public encryption key of the queue manager is written with the highest byte first.",
    change_blob_of_key("PublicEncryptionKeyList", 2, _reverse_modulus_bytes),
    blind=True,
)


def _clear_signing_keys(qm: QueueManager) -> None:
    replace_attribute_in_own_directory_object(qm, PublicSigningKeyList=b"")


add(
    "queue-manager-signing-key-list-empty-after-restart",
    "MQDMPR-3.1.3-24",
    "After a restart the PublicSigningKeyList of the queue manager is empty.",
    change_state_after_restart(_clear_signing_keys),
    blind=True,
)


@fault("receiver-order-ack-by-queue-number-ignored", breaks="MQDMPR-3.1.3-28", blind=True)
class ReceiverOrderAckByQueueNumberIgnored(OrderAcks):
    """The receiver ignores an OrderAck that is addressed to the order queue by its private format name, which contains
    the queue number 4.
    """

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId):
            super().receive(session, packet, now)


@fault("receiver-order-ack-by-direct-name-ignored", breaks="MQDMPR-3.1.3-28", blind=True)
class ReceiverOrderAckByDirectNameIgnored(OrderAcks):
    """The receiver ignores an OrderAck that is addressed to the order queue by a direct format name."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName):
            super().receive(session, packet, now)


def _ignore_order_acks(faulty: FaultyCore) -> None:
    faulty.actions_at_restart.append(omit_step(OrderAcks.receive))


add(
    "queue-manager-order-queue-missing-after-restart",
    "MQDMPR-3.1.3-28",
    "After a restart the receiver ignores each OrderAck.",
    _ignore_order_acks,
    blind=True,
)


@fault("queue-manager-with-damaged-store-accepts-sessions", breaks="MQDMPR-3.1.3-30", blind=True)
class QueueManagerWithDamagedStoreAcceptsSessions(InputDispatching):
    """A queue manager whose initialization ended with an error accepts sessions."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, TransportAccepted | BytesReceived):
            self.qm.queue_manager_initialization.initialize_globally(now)
            HANDLER_BY_INPUT_TYPE[type(event)](self.qm)(event, now)
        else:
            super().refuse_input_while_stopped(event, now)


@fault("queue-manager-with-damaged-store-carries-out-commands", breaks="MQDMPR-3.1.3-30", blind=True)
class QueueManagerWithDamagedStoreCarriesOutCommands(QueueManagerInitialization):
    """A queue manager whose initialization ended with an error carries out the requests of applications."""

    def fail(self, why: str) -> None:
        pass


def _put_domain_before_computer_name(qm: QueueManager) -> None:
    name, _, domain = qm.config.host_name.partition(".")
    qm.adm.QualifiedComputerName = f"{domain}.{name}"


add(
    "queue-manager-qualified-name-begins-with-domain",
    "MQDMPR-3.1.3-D03",
    "The QualifiedComputerName of the queue manager begins with the domain.",
    change_core_after_every_input(_put_domain_before_computer_name),
    blind=True,
)


def _remove_domain_from_qualified_name(qm: QueueManager) -> None:
    qm.adm.QualifiedComputerName = qm.adm.ComputerName


add(
    "queue-manager-qualified-name-without-domain-after-restart",
    "MQDMPR-3.1.3-D03",
    "After a restart the QualifiedComputerName of the queue manager is the ComputerName.",
    change_state_after_restart(_remove_domain_from_qualified_name),
    blind=True,
)


def _omit_period_of_qualified_name(qm: QueueManager) -> None:
    qm.adm.QualifiedComputerName = qm.config.host_name.replace(".", "", 1)


add(
    "queue-manager-qualified-name-without-period",
    "MQDMPR-3.1.3-D03",
    "The QualifiedComputerName of the queue manager has no period between the computer's name and the domain.",
    change_core_after_every_input(_omit_period_of_qualified_name),
    blind=True,
)


def _convert_retry_duration_to_ms(qm: QueueManager) -> None:
    if qm.adm.InitializationRetryTimerDuration == 120:
        qm.adm.InitializationRetryTimerDuration = 120_000


add(
    "queue-manager-initialization-retry-duration-in-ms",
    "MQDMPR-3.1.3-D04",
    "The InitializationRetryTimerDuration is 120,000 after provisioning.",
    change_core_after_every_input(_convert_retry_duration_to_ms),
    blind=True,
)


def _clear_site_identifiers(qm: QueueManager) -> None:
    replace_attribute_in_own_directory_object(qm, SiteIdentifierList=())


add(
    "queue-manager-without-site-after-restart",
    "MQDMPR-3.1.3-D05",
    "After a restart the queue manager belongs to no site.",
    change_state_at_later_synchronization(_clear_site_identifiers),
    blind=True,
)


def _set_site_identifier_to_unassigned_site(qm: QueueManager) -> None:
    if qm.enterprise.state.DirectoryIntegrated:
        replace_attribute_in_own_directory_object(qm, SiteIdentifierList=(MADE_UP_GUID,))


add(
    "queue-manager-belongs-to-other-site",
    "MQDMPR-3.1.3-D05",
    "The queue manager belongs to a site that was not assigned to the queue manager.",
    change_core_after_every_input(_set_site_identifier_to_unassigned_site),
    blind=True,
)


@fault("queue-manager-ignores-its-quota-in-directory-at-start", breaks="MQDMPR-3.1.3-D08", blind=True)
class QueueManagerIgnoresItsQuotaInDirectoryAtStart(DirectoryClient):
    """At its start the queue manager ignores the QueueManagerQuota in its directory object."""

    def _copy_attributes_of_own_object(self) -> None:
        before = self.qm.adm.QueueManagerQuota
        super()._copy_attributes_of_own_object()
        self.qm.adm.QueueManagerQuota = before


def _ignore_directory_after_restart(faulty: FaultyCore) -> None:
    faulty.actions_at_restart.append(omit_step(DirectoryClient._copy_attributes_of_own_object))


add(
    "queue-manager-attributes-of-directory-ignored-after-restart",
    "MQDMPR-3.1.3-D08",
    "At a later start the queue manager ignores the attributes in its directory object.",
    _ignore_directory_after_restart,
    blind=True,
)


@fault("queue-manager-reads-empty-site-names-at-start", breaks="MQDMPR-3.1.3-D09", blind=True)
class QueueManagerReadsEmptySiteNamesAtStart(DirectoryClient):
    """At its start, the queue manager reads the names of its sites as empty strings."""

    def synchronize_with_directory(self, now: Now) -> Result:
        status = super().synchronize_with_directory(now)
        state = self.qm.enterprise.state
        state.SiteCollection = tuple(replace(site, Name="") for site in state.SiteCollection)
        return status


@fault("queue-manager-sites-without-replication-interval", breaks="MQDMPR-3.1.3-D09", blind=True)
class QueueManagerSitesWithoutReplicationInterval(DirectoryClient):
    """At its start the queue manager does not read the IntraSiteReplicationInterval of its sites."""

    def synchronize_with_directory(self, now: Now) -> Result:
        status = super().synchronize_with_directory(now)
        state = self.qm.enterprise.state
        state.SiteCollection = tuple(replace(site, IntraSiteReplicationInterval=None) for site in state.SiteCollection)
        return status


def _clear_enterprise_reference(qm: QueueManager) -> None:
    qm.enterprise.state.EnterpriseReference = None


add(
    "queue-manager-enterprise-not-read-after-restart",
    "MQDMPR-3.1.3-D10",
    "After a restart the queue manager does not read the enterprise from the directory.",
    change_state_at_later_synchronization(_clear_enterprise_reference),
    blind=True,
)


@fault("queue-manager-system-journal-missing", breaks="MQDMPR-3.1.3-D12", blind=True)
class QueueManagerSystemJournalMissing(QueueNames):
    """Applications cannot open the system journal."""

    def find_queue_by_path(self, name: str) -> Queue | None:
        return None if name.lower() == "system$;journal" else super().find_queue_by_path(name)


@fault("queue-manager-system-dead-letter-queue-missing", breaks="MQDMPR-3.1.3-D12", blind=True)
class QueueManagerSystemDeadLetterQueueMissing(QueueNames):
    """Applications cannot open the system dead-letter queue."""

    def find_queue_by_path(self, name: str) -> Queue | None:
        return None if name.lower() == "system$;deadletter" else super().find_queue_by_path(name)


def _make_dead_letter_queue_nontransactional(qm: QueueManager) -> None:
    qm.adm.SystemTransactionalDeadletterQueue.Transactional = False


add(
    "queue-manager-transactional-dead-letter-queue-nontransactional-after-restart",
    "MQDMPR-3.1.3-D12",
    "After a restart the transactional dead-letter queue is not transactional.",
    change_state_after_restart(_make_dead_letter_queue_nontransactional),
    blind=True,
)


@fault("second-failed-initialization-starts-with-empty-store", breaks="MQDMPR-3.1.3-30", blind=True)
class SecondFailedInitializationStartsWithEmptyStore(InputDispatching):
    """When the repeated initialization also fails to read the store, the queue manager ignores the error and starts
    without the stored data.
    """

    def on_started(self, event: QueueManagerStarted, now: Now) -> None:
        if (
            self.qm.halted is not None
            and self.qm.adm.InitializationRetryTimerDuration == LATER_INITIALIZATION_RETRY_INTERVAL_S
        ):
            self.qm.halted = None
        super().on_started(event, now)
