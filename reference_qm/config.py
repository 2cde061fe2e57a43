"""Defines the configuration of a queue manager. Its defaults are those of MS-MQQB 3.1.2 and 3.1.3 and of their
product notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from reference_qm.directory.enums import OperatingSystemType, PrivacyLevel
from reference_qm.directory.intervals import (
    DIRECTORY_ONLINE_MS,
    DIRECTORY_SITE_GATES_UPDATE_INTERVAL_MS,
    DIRECTORY_SITES_UPDATE_INTERVAL_MS,
)
from reference_qm.routing import QUEUE_MANAGER_QUERY_INTERVAL_MS
from reference_qm.rpc.authentication import NO_SECURITY, ClientSecurity, ServerSecurity
from reference_qm.security import DEFAULT_QUEUE_SECURITY, HashAlgorithm, SecurityConfig, SecurityDescriptor

DEFAULT_QUOTA_KB = 0x00100000
"""The default of QueueManagerQuota (MS-MQDMPR 3.1.1.1, note <3>)."""


@dataclass(frozen=True, slots=True)
class TimerSettings:
    """Durations in ms that the specification leaves to the system configuration.

    The defaults are the values of Windows: notes <43>, <44>, <45>, <46>, <47>, <51>. ``scale`` divides every duration.
    """

    session_initialization_ms: int = 60_000
    session_cleanup_ms: int = 300_000
    session_retry_connect_ms: int = 5_000
    ack_wait_timeout_ms: int = 20_000
    ack_wait_multiplier: int = 1
    ack_wait_multiplier_direct: int = 2
    ping_response_ms: int = 1_000
    message_id_history_cleanup_ms: int = 1_800_000
    directory_sites_update_ms: int = DIRECTORY_SITES_UPDATE_INTERVAL_MS
    directory_site_gates_update_ms: int = DIRECTORY_SITE_GATES_UPDATE_INTERVAL_MS
    directory_online_ms: int = DIRECTORY_ONLINE_MS
    queue_manager_query_ms: int = QUEUE_MANAGER_QUERY_INTERVAL_MS
    remote_call_ms: int = 300_000
    outgoing_queue_idle_ms: int = 3_600_000
    """The lifetime of an unused outgoing queue, which MS-MQSO 5.1.1.2 leaves to the implementation."""
    public_key_cache_ms: int = 1_200
    """The lifetime of cached public keys, which MS-MQSO note <10> specifies."""
    scale: int = 1


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """A queue that exists when the queue manager starts; ``name`` is its path name without the computer."""

    name: str
    transactional: bool = False
    authenticated: bool = False
    privacy: PrivacyLevel = PrivacyLevel.OPTIONAL
    quota_kb: int | None = None
    """The quota in KB. With None, the queue has the default quota, or the quota that a command has set."""
    journaling: bool | None = None
    """Whether received messages are journaled. With None, the queue has the default, or the value that a command has
    set.
    """
    journal_quota_kb: int | None = None
    """The quota of the journal in KB. With None, the journal has the default quota, or the quota that a command has
    set.
    """
    security: SecurityDescriptor = DEFAULT_QUEUE_SECURITY

    @property
    def is_private(self) -> bool:
        """Return whether the queue is private. A public queue needs a directory."""
        return self.name.lower().startswith("private$\\")

    def attributes(self) -> dict[str, object]:
        """Return the configured attributes of the queue, under the specification's names."""
        found = {
            "Transactional": self.transactional,
            "Authentication": self.authenticated,
            "PrivacyLevel": self.privacy,
            "Quota": self.quota_kb,
            "Journaling": self.journaling,
            "JournalQuota": self.journal_quota_kb,
            "Security": self.security,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class QueueManagerConfig:
    """The settings of one queue manager, such as its identifier and its host name."""

    identifier: UUID
    host_name: str = "localhost.localdomain"
    addresses: tuple[str, ...] = ("127.0.0.1",)
    """The local addresses under which direct format names reach this queue manager."""
    validate_host_names: bool = False
    """Whether the queue manager drops a message whose direct format name contains the name of a different host (erratum
    E220). On Windows, the registry key IgnoreOSNameValidation disables this check.
    """
    operating_system: OperatingSystemType = OperatingSystemType.WIN_SERVER
    remote_tcp_port: int = 1801
    """The port that an initiator connects to (MS-MQQB 2.1.1: 1801)."""
    remote_ping_port: int = 3527
    """The port that Ping Requests are sent to (MS-MQQB 2.1.2, note <9>)."""
    remote_rpc_port: int = 2103
    """The port of a remote queue manager to which this queue manager sends its requests for the numbers of other ports
    (MS-MQMP 3.1.4.24, MS-MQQP 3.1.4.8).
    """
    send_ping: bool = False
    """Whether the queue manager sends a ping before it opens a session (MS-MQQB 3.1.5.2.2; note <56>: only in old
    releases).
    """
    window_size: int = 64
    max_sessions: int = 4096
    """The maximum number of incoming sessions (notes <12>, <70>)."""
    max_outgoing_messages: int = 1_000_000
    send_insecure_nacks: bool = False
    """The initial value of SendInsecureNacks (MS-MQQB 3.1.1.3; note <28>: registry key PermitInsecureNacks)."""
    answer_pings: bool = True
    """Whether Ping Requests are answered (MS-MQQB 2.1.2, note <10>: registry key EnablePingService)."""
    report_messages: bool = True
    """Whether traced messages are reported (MS-MQMQ 2.2.20.8, note <23>: registry key EnableReportMessages)."""
    long_live_time_s: int = 345_600
    """The TimeToReachQueue of a message whose request sets none (MS-MQDMPR 3.1.1.12, note <12>: LongLiveTime)."""
    default_hash_algorithm: HashAlgorithm = HashAlgorithm.SHA512
    """The hash algorithm of signatures, unless the request for a message sets another algorithm (MS-MQMQ 2.2.19.3, note
    <7>).
    """
    queue_manager_quota_kb: int = DEFAULT_QUOTA_KB
    """The initial value of QueueManagerQuota (MS-MQDMPR 3.1.1.1, note <3>)."""
    supporting_server: bool = False
    """The initial value of SupportingServer (MS-MQDMPR 3.1.1.1, note <6>)."""
    connected_networks: tuple[UUID, ...] = ()
    """The initial value of ConnectedNetworkIdentifierList (MS-MQDMPR 3.1.1.1, note <5>)."""
    change_notifications: bool = True
    """Whether the queue manager raises the event Send Change Notification (MS-MQDMPR 3.1.7.1.18, note <21>)."""
    version_for_remote_readers: tuple[int, int, int] = (6, 1, 6531)
    """The version that RemoteQmGetVersion returns as pMajor, pMinor and pBuildNumber. The default is the version of
    Windows 7 and Server 2008 R2 (MS-MQQP notes <22> to <24>).
    """
    checks_stub_values_strictly: bool = True
    """Whether a value in an RPC stub is refused if it is outside its range in the IDL (MS-MQQP 3.1.4, note <9>)."""
    max_transactions: int = 1_000
    """The maximum number of open transactions."""
    max_transaction_operations: int = 10_000
    """The maximum number of operations in a single transaction. An operation sends, receives or moves a message."""
    queues: tuple[QueueSettings, ...] = ()
    directory_integrated: bool = False
    """The initial value of DirectoryIntegrated: whether the host has a directory.

    A host without a directory is in workgroup mode (MS-MQSO 4.3.1.3).
    """
    routes: Mapping[UUID, str] = field(default_factory=dict)
    """The address of each queue manager, by its Identifier, for private format names in workgroup mode."""
    public_queues: Mapping[UUID, UUID] = field(default_factory=dict)
    """The queue manager that hosts each public queue, by the Identifier of the queue, for public format names in
    workgroup mode.
    """
    timers: TimerSettings = field(default_factory=TimerSettings)
    security: SecurityConfig = field(default_factory=SecurityConfig)
    rpc_server: ServerSecurity = NO_SECURITY
    """The authentication that the RPC server of this queue manager offers, and the authentication level that it
    requires.
    """
    rpc_client: ClientSecurity | None = None
    """The security of this queue manager as an RPC client, or None for the authentication level none."""
    vendor: str = "mqconform"
    version: str = "0.1.0"
