"""The directory of an enterprise and the events that use it. Spec: MS-MQDMPR 3.1.1, 3.1.7.1.18 to 3.1.7.1.25."""

from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.filters import AttributeFilter, AttributeSortOrder, Operator, equals
from reference_qm.directory.interface import Begun, Created, Directory, Found
from reference_qm.directory.memory import MemoryDirectory, StorageError
from reference_qm.directory.objects import (
    ConnectedNetwork,
    DirectoryObject,
    Enterprise,
    Queue,
    QueueManager,
    RoutingLink,
    Site,
    User,
)
from reference_qm.directory.state import DirectoryState
from reference_qm.directory.workgroup import WorkgroupDirectory

__all__ = [
    "AttributeFilter",
    "AttributeSortOrder",
    "Begun",
    "ConnectedNetwork",
    "Created",
    "Directory",
    "DirectoryObject",
    "DirectoryOperationResult",
    "DirectoryState",
    "Enterprise",
    "Found",
    "MemoryDirectory",
    "Operator",
    "Queue",
    "QueueManager",
    "RoutingLink",
    "Site",
    "StorageError",
    "User",
    "WorkgroupDirectory",
    "equals",
]
