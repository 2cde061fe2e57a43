"""The printed attributes of queues and of the queue manager that are plain values. Spec: MS-MQDMPR 3.1.1.1, 3.1.1.2.

Their durability is as printed: persistent and directory attributes survive the queue manager.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from reference_qm.directory import enums
from reference_qm.security import DEFAULT_QUEUE_SECURITY, SecurityDescriptor

UNLIMITED = 0xFFFFFFFF
"""A quota that is none."""
NULL_GUID = UUID(int=0)

DURABLE = {"durable": True}
U32_DURABLE = {"width": 32, "durable": True}
U64_DURABLE = {"width": 64, "durable": True}


class ServiceState(Enum):
    """QueueManager.QueueManagerState. Spec: MS-MQDMPR 3.1.1.1."""

    STOPPED = "Stopped"
    INITIALIZING = "Initializing"
    READY = "Ready"
    STOPPING = "Stopping"


@dataclass(slots=True, eq=False, kw_only=True)
class QueueAttributes:
    """The attributes set when a queue is created, or later by its owner. Spec: MS-MQDMPR 3.1.1.2, defaults 3.1.7.1.33.

    Times in s UTC, quotas in KB. Pathname is without the computer, which is LocalQueueManager.ComputerName for all.
    """

    Pathname: str = field(metadata=DURABLE)
    Identifier: UUID = field(default=NULL_GUID, metadata=DURABLE)
    Label: str = field(default="", metadata=DURABLE)
    CreateTime: int = field(default=0, metadata=U32_DURABLE)
    ModifyTime: int = field(default=0, metadata=U32_DURABLE)
    Type: UUID = field(default=NULL_GUID, metadata=DURABLE)
    QualifiedPathname: str = field(default="", metadata=DURABLE)
    PrivateQueueNumber: int | None = field(default=None, metadata=U32_DURABLE)
    """None unless QueueType is Private."""
    Journaling: bool = field(default=False, metadata=DURABLE)
    Quota: int = field(default=UNLIMITED, metadata=U32_DURABLE)
    JournalQuota: int = field(default=UNLIMITED, metadata=U32_DURABLE)
    Authentication: bool = field(default=False, metadata=DURABLE)
    PrivacyLevel: enums.PrivacyLevel = field(default=enums.PrivacyLevel.OPTIONAL, metadata=DURABLE)
    Transactional: bool = field(default=False, metadata=DURABLE)
    MulticastAddress: str | None = field(default=None, metadata=DURABLE)
    Security: SecurityDescriptor = field(default=DEFAULT_QUEUE_SECURITY, metadata=DURABLE)
    BasePriority: int = field(default=0, metadata={"width": 16, "durable": True})
    FullPath: str = field(default="", metadata=DURABLE)
    DirectoryPath: str = field(default="", metadata=DURABLE)
    Scope: enums.Scope = field(default=enums.Scope.ENTERPRISE, metadata=DURABLE)
    QueueType: enums.QueueType = field(default=enums.QueueType.PRIVATE, metadata=DURABLE)


@dataclass(slots=True, eq=False, kw_only=True)
class QueueManagerAttributes:
    """The attributes of the local queue manager. Spec: MS-MQDMPR 3.1.1.1. Times in s UTC, quotas in KB.

    QueueManagerQuota is printed in bytes, with a default that would be 1 MB for all queues together. MS-MQMQ 2.3.2.14
    counts it like the journal quota, which is in KB: so 0x00100000 is 1 GB, as Windows has it.
    """

    Identifier: UUID = field(metadata=DURABLE)
    ComputerName: str = field(default="", metadata=DURABLE)
    QueueManagerVersion: str = field(default="", metadata=DURABLE)
    OperatingSystemVersion: str = field(default="", metadata=DURABLE)
    OperatingSystemType: enums.OperatingSystemType = field(default=enums.OperatingSystemType.OTHER, metadata=DURABLE)
    QualifiedComputerName: str = field(default="", metadata=DURABLE)
    CreateTime: int = field(default=0, metadata=U32_DURABLE)
    ModifyTime: int = field(default=0, metadata=U32_DURABLE)
    QueueManagerQuota: int = field(default=0x00100000, metadata=U32_DURABLE)
    JournalQuota: int = field(default=UNLIMITED, metadata=U32_DURABLE)
    ForeignSystem: bool = field(default=False, metadata=DURABLE)
    FullPath: str = field(default="", metadata=DURABLE)
    SiteIdentifierList: tuple[UUID, ...] = field(default=(), metadata=DURABLE)
    ConnectedNetworkIdentifierList: tuple[UUID, ...] = field(default=(), metadata=DURABLE)
    OutRoutingServerIdentifierList: tuple[UUID, ...] = field(default=(), metadata=DURABLE)
    InRoutingServerIdentifierList: tuple[UUID, ...] = field(default=(), metadata=DURABLE)
    DirectoryServer: bool = field(default=False, metadata=DURABLE)
    RemoteAccessServer: bool = field(default=False, metadata=DURABLE)
    RoutingServer: bool = field(default=False, metadata=DURABLE)
    SupportingServer: bool = field(default=False, metadata=DURABLE)
    DirectoryServerType: enums.DirectoryServerType | None = field(default=None, metadata=DURABLE)
    Security: bytes | None = field(default=None, metadata=DURABLE)
    Clustered: bool = field(default=False, metadata=DURABLE)
    DirectoryIntegrated: bool = field(default=False, metadata=DURABLE)
    DirectoryOffline: bool = False
    Throttled: bool = False
    ConnectionActive: bool = True
    QueueManagerState: ServiceState = ServiceState.STOPPED
    SequentialID: int = field(default=0, metadata=U64_DURABLE)
