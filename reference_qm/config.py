"""The configuration of a queue manager (MS-MQQB 3.1.2, 3.1.3 and their product notes give the defaults)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from reference_qm.directory.enums import OperatingSystemType, PrivacyLevel
from reference_qm.directory.intervals import (
    DIRECTORY_ONLINE_MS,
    DIRECTORY_SITE_GATES_UPDATE_MS,
    DIRECTORY_SITES_UPDATE_MS,
)
from reference_qm.routing import QUEUE_MANAGER_QUERY_MS
from reference_qm.rpc.authentication import NO_SECURITY, ClientSecurity, ServerSecurity
from reference_qm.security import DEFAULT_QUEUE_SECURITY, HashAlgorithm, SecurityConfig, SecurityDescriptor


@dataclass(frozen=True, slots=True)
class TimerSettings:
    """Durations that the specification leaves to the system configuration, in ms.

    Defaults are those of Windows: notes <43>, <44>, <45>, <46>, <47>, <51>. ``scale`` divides every duration.
    """

    session_initialization_ms: int = 60_000
    session_cleanup_ms: int = 300_000
    session_retry_connect_ms: int = 5_000
    ack_wait_timeout_ms: int = 20_000
    ack_wait_multiplier: int = 1
    ack_wait_multiplier_direct: int = 2
    ping_response_ms: int = 1_000
    message_id_history_cleanup_ms: int = 1_800_000
    directory_sites_update_ms: int = DIRECTORY_SITES_UPDATE_MS
    directory_site_gates_update_ms: int = DIRECTORY_SITE_GATES_UPDATE_MS
    directory_online_ms: int = DIRECTORY_ONLINE_MS
    queue_manager_query_ms: int = QUEUE_MANAGER_QUERY_MS
    remote_call_ms: int = 300_000
    outgoing_queue_idle_ms: int = 3_600_000
    """How long an outgoing queue stays that nothing happens to, which MS-MQSO 5.1.1.2 leaves to the implementation."""
    public_key_cache_ms: int = 1_200
    """As MS-MQSO note <10> prints it."""
    scale: int = 1


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """A queue that exists from the start; ``name`` is its path name without computer: ``private$\\x``, public ``x``."""

    name: str
    transactional: bool = False
    authenticated: bool = False
    privacy: PrivacyLevel = PrivacyLevel.OPTIONAL
    security: SecurityDescriptor = DEFAULT_QUEUE_SECURITY

    @property
    def is_private(self) -> bool:
        """Return whether it is a private queue. A public one needs a directory."""
        return self.name.lower().startswith("private$\\")

    def attributes(self) -> dict[str, object]:
        """Return the attributes of the queue, under the specification's names."""
        return {
            "Transactional": self.transactional,
            "Authentication": self.authenticated,
            "PrivacyLevel": self.privacy,
            "Security": self.security,
        }


@dataclass(frozen=True, slots=True)
class QueueManagerConfig:
    """Everything that makes one queue manager differ from another."""

    identifier: UUID
    host_name: str = "localhost.localdomain"
    addresses: tuple[str, ...] = ("127.0.0.1",)
    """The local addresses under which direct format names reach this queue manager."""
    validate_host_names: bool = False
    """Whether a message is dropped whose direct name has a host that is not this one (E220; registry value
    IgnoreOSNameValidation switches it off)."""
    operating_system: OperatingSystemType = OperatingSystemType.WIN_SERVER
    remote_tcp_port: int = 1801
    """The port that an initiator connects to (MS-MQQB 2.1.1: 1801)."""
    remote_ping_port: int = 3527
    """The port that Ping Requests are sent to (MS-MQQB 2.1.2, note <9>)."""
    remote_rpc_port: int = 2103
    """The port of a remote queue manager that returns its interfaces' ports (MS-MQMP 3.1.4.24, MS-MQQP 3.1.4.8)."""
    send_ping: bool = False
    """Whether to ping before a session is established (MS-MQQB 3.1.5.2.2; note <56>: only old releases do)."""
    window_size: int = 64
    max_sessions: int = 4096
    """Incoming sessions above this are refused (notes <12>, <70>)."""
    max_outgoing_messages: int = 1_000_000
    send_insecure_nacks: bool = False
    """Initial SendInsecureNacks (MS-MQQB 3.1.1.3; note <28>: registry key PermitInsecureNacks)."""
    answer_pings: bool = True
    """Whether Ping Requests are answered (MS-MQQB 2.1.2, note <10>: registry key EnablePingService)."""
    report_messages: bool = True
    """Whether traced messages are reported (MS-MQMQ 2.2.20.8, note <23>: registry key EnableReportMessages)."""
    long_live_time_s: int = 345_600
    """TimeToReachQueue of a message for which none is given (MS-MQDMPR 3.1.1.12, note <12>: LongLiveTime)."""
    preset_hash: HashAlgorithm = HashAlgorithm.SHA512
    """What is signed with unless another is asked for (MS-MQMQ 2.2.19.3, note <7>)."""
    queue_manager_quota_kb: int = 0x00100000
    """Initial QueueManagerQuota (MS-MQDMPR 3.1.1.1, note <3>)."""
    supporting_server: bool = False
    """Initial SupportingServer (MS-MQDMPR 3.1.1.1, note <6>)."""
    connected_networks: tuple[UUID, ...] = ()
    """Initial ConnectedNetworkIdentifierList (MS-MQDMPR 3.1.1.1, note <5>)."""
    change_notifications: bool = True
    """Whether Send Change Notification is raised (MS-MQDMPR 3.1.7.1.18, note <21>)."""
    remote_version: tuple[int, int, int] = (6, 1, 6531)
    """pMajor, pMinor, pBuildNumber: those of Windows 7 and Server 2008 R2 (MS-MQQP notes <22> to <24>)."""
    strict_stubs: bool = True
    """Whether the values of RPC's stubs are held to their ranges (MS-MQQP 3.1.4, note <9>)."""
    max_transactions: int = 1_000
    """Transactions that may be open at a time."""
    max_transaction_operations: int = 10_000
    """Messages that one transaction may send, receive and move."""
    queues: tuple[QueueSettings, ...] = ()
    directory_integrated: bool = False
    """Initial DirectoryIntegrated: does its host have a directory? If not: workgroup mode (MS-MQSO 4.3.1.3)."""
    routes: Mapping[UUID, str] = field(default_factory=dict)
    """Addresses of queue managers by Identifier: what private format names resolve to in workgroup mode."""
    public_queues: Mapping[UUID, UUID] = field(default_factory=dict)
    """Queue managers by the Identifiers of their public queues: what public format names lead to in workgroup mode."""
    timers: TimerSettings = field(default_factory=TimerSettings)
    security: SecurityConfig = field(default_factory=SecurityConfig)
    rpc_server: ServerSecurity = NO_SECURITY
    """What clients of RPC are authenticated with, and the level that is demanded of them."""
    rpc_client: ClientSecurity | None = None
    """What it authenticates with to other queue managers; None: at the level none."""
    vendor: str = "mqconform"
    version: str = "0.1.0"
