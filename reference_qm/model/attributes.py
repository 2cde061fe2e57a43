"""Defines those attributes of queues and of the queue manager whose values are not other objects, under the names that
the specification gives them.

Spec: MS-MQDMPR 3.1.1.1, 3.1.1.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from reference_qm.directory import enums
from reference_qm.security import DEFAULT_QUEUE_SECURITY, SecurityDescriptor

UNLIMITED_QUOTA_KB = 0xFFFFFFFF
"""The value of a quota that means "no limit"."""
NULL_GUID = UUID(int=0)
INITIALIZATION_RETRY_S = 120
"""The initial value of InitializationRetryTimerDuration, in s."""

U32 = {"width": 32}
U64 = {"width": 64}


class ServiceState(Enum):
    """The values of QueueManager.QueueManagerState. Spec: MS-MQDMPR 3.1.1.1."""

    STOPPED = "Stopped"
    INITIALIZING = "Initializing"
    READY = "Ready"
    STOPPING = "Stopping"


@dataclass(slots=True, eq=False, kw_only=True)
class QueueAttributes:
    """The attributes that are set when a queue is created, or later by the owner of the queue.

    Spec: MS-MQDMPR 3.1.1.2; 3.1.7.1.33 for the defaults. Times are in s UTC, and quotas in KB. Pathname is stored
    without the name of the computer, which is always LocalQueueManager.ComputerName.
    """

    Pathname: str
    Identifier: UUID = NULL_GUID
    Label: str = ""
    CreateTime: int = field(default=0, metadata=U32)
    ModifyTime: int = field(default=0, metadata=U32)
    Type: UUID = NULL_GUID
    QualifiedPathname: str = ""
    PrivateQueueNumber: int | None = field(default=None, metadata=U32)
    """The number of a private queue, or None for any other queue."""
    Journaling: bool = False
    Quota: int = field(default=UNLIMITED_QUOTA_KB, metadata=U32)
    JournalQuota: int = field(default=UNLIMITED_QUOTA_KB, metadata=U32)
    Authentication: bool = False
    PrivacyLevel: enums.PrivacyLevel = enums.PrivacyLevel.OPTIONAL
    Transactional: bool = False
    MulticastAddress: str | None = None
    Security: SecurityDescriptor = DEFAULT_QUEUE_SECURITY
    BasePriority: int = field(default=0, metadata={"width": 16})
    FullPath: str = ""
    DirectoryPath: str = ""
    Scope: enums.Scope = enums.Scope.ENTERPRISE
    QueueType: enums.QueueType = enums.QueueType.PRIVATE


@dataclass(slots=True, eq=False, kw_only=True)
class QueueManagerAttributes:
    """The attributes of the local queue manager. Spec: MS-MQDMPR 3.1.1.1. Times are in s UTC, and quotas in KB.

    According to the document, QueueManagerQuota is in bytes, which would make its default 1 MB for all queues together.
    According to MS-MQMQ 2.3.2.14, the journal quota is in KB. Here both quotas are in KB, so that the default
    0x00100000 means 1 GB, as in Windows.
    """

    Identifier: UUID
    ComputerName: str = ""
    QueueManagerVersion: str = ""
    OperatingSystemVersion: str = ""
    OperatingSystemType: enums.OperatingSystemType = enums.OperatingSystemType.OTHER
    QualifiedComputerName: str = ""
    CreateTime: int = field(default=0, metadata=U32)
    ModifyTime: int = field(default=0, metadata=U32)
    QueueManagerQuota: int = field(default=0x00100000, metadata=U32)
    JournalQuota: int = field(default=UNLIMITED_QUOTA_KB, metadata=U32)
    ForeignSystem: bool = False
    FullPath: str = ""
    SiteIdentifierList: tuple[UUID, ...] = ()
    ConnectedNetworkIdentifierList: tuple[UUID, ...] = ()
    OutRoutingServerIdentifierList: tuple[UUID, ...] = ()
    InRoutingServerIdentifierList: tuple[UUID, ...] = ()
    DirectoryServer: bool = False
    RemoteAccessServer: bool = False
    RoutingServer: bool = False
    SupportingServer: bool = False
    DirectoryServerType: enums.DirectoryServerType | None = None
    Security: bytes | None = None
    Clustered: bool = False
    SrmpHttpSupport: bool = False
    SrmpPgmSupport: bool = False
    InitializationRetryTimerDuration: int = INITIALIZATION_RETRY_S
    Throttled: bool = False
    ConnectionActive: bool = True
    HardenedSecurity: bool = False
    QueueManagerState: ServiceState = ServiceState.STOPPED
    MachineDomainId: UUID | None = None
    LastDomain: UUID | None = None
    SequentialID: int = field(default=0, metadata=U64)
