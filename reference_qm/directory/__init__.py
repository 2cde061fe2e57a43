"""Implements the directory of an enterprise and the events that use the directory. Spec: MS-MQDMPR 3.1.1,
3.1.7.1.18 to 3.1.7.1.25.
"""

from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.filters import (
    AttributeFilter,
    AttributeSortOrder,
    ComparisonOperator,
    build_equality_filter,
)
from reference_qm.directory.interface import (
    Change,
    DirectoryChangeResult,
    DirectoryReadBeginResult,
    DirectoryReadResult,
)
from reference_qm.directory.memory import DirectoryStorageError, MemoryDirectory
from reference_qm.directory.objects import (
    Computer,
    ConnectedNetwork,
    DirectoryObject,
    DistributionList,
    Enterprise,
    Queue,
    QueueManager,
    RoutingLink,
    Site,
    User,
)
from reference_qm.directory.replica import DirectoryReplica
from reference_qm.directory.state import DirectoryState

__all__ = [
    "AttributeFilter",
    "AttributeSortOrder",
    "Change",
    "ComparisonOperator",
    "Computer",
    "ConnectedNetwork",
    "DirectoryChangeResult",
    "DirectoryObject",
    "DirectoryOperationResult",
    "DirectoryReadBeginResult",
    "DirectoryReadResult",
    "DirectoryReplica",
    "DirectoryState",
    "DirectoryStorageError",
    "DistributionList",
    "Enterprise",
    "MemoryDirectory",
    "Queue",
    "QueueManager",
    "RoutingLink",
    "Site",
    "User",
    "build_equality_filter",
]
