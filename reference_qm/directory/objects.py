"""Defines the elements of a directory. Spec: MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.1.6 to 3.1.1.9, 3.1.1.15.

An element is a snapshot of a directory object. Its fields have the attribute names that the specification prints. None
means that an attribute is not set; an attribute for which the specification defines a default has this default if it
was not set or not requested. All attributes are directory attributes, except those marked UNPUBLISHED. An element
refers to other elements by their Identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Final, TypeVar
from uuid import UUID

from reference_qm.directory import enums

UNPUBLISHED_FIELD_METADATA: Final = {"published": False}
NULL_GUID: Final = UUID(int=0)
UNLIMITED_QUOTA_KB: Final = 0xFFFFFFFF
MIN_LINK_COST: Final = 1
MAX_LINK_COST: Final = 999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryObject:
    """The attributes of all elements of a directory. Spec: MS-MQDMPR 3.1.1. Identifier: 16-byte GUID."""

    Identifier: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueManager(DirectoryObject):
    """A queue manager. Spec: MS-MQDMPR 3.1.1.1, note <3>. Times are in s UTC. QueueManagerQuota is in bytes, as
    MS-MQDMPR 3.1.1.1 states.
    """

    ComputerName: str | None = None
    QueueManagerVersion: str = ""
    OperatingSystemVersion: str | None = None
    OperatingSystemType: enums.OperatingSystemType | None = None
    QualifiedComputerName: str | None = None
    CreateTime: int | None = None
    ModifyTime: int | None = None
    QueueManagerQuota: int = 0x00100000
    JournalQuota: int = UNLIMITED_QUOTA_KB
    ForeignSystem: bool = False
    FullPath: str | None = None
    SiteIdentifierList: tuple[UUID, ...] = ()
    ConnectedNetworkIdentifierList: tuple[UUID, ...] = ()
    OutRoutingServerIdentifierList: tuple[UUID, ...] = ()
    InRoutingServerIdentifierList: tuple[UUID, ...] = ()
    DirectoryServer: bool = False
    RemoteAccessServer: bool = False
    RoutingServer: bool = False
    SupportingServer: bool = False
    DirectoryServerType: enums.DirectoryServerType | None = None
    PublicEncryptionKeyList: bytes = b""
    PublicSigningKeyList: bytes = b""
    Security: bytes | None = None
    Clustered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(DirectoryObject):
    """The attributes of a public queue. Spec: MS-MQDMPR 3.1.1.2; defaults: 3.1.7.1.33. Times are in s UTC, and
    quotas are in KB.
    """

    Label: str = ""
    CreateTime: int | None = None
    ModifyTime: int | None = None
    Type: UUID = NULL_GUID
    Pathname: str | None = None
    QualifiedPathname: str | None = None
    PrivateQueueNumber: int | None = None
    Journaling: bool = False
    Quota: int = UNLIMITED_QUOTA_KB
    JournalQuota: int = UNLIMITED_QUOTA_KB
    Authentication: bool = False
    PrivacyLevel: enums.PrivacyLevel = enums.PrivacyLevel.OPTIONAL
    Transactional: bool = False
    MulticastAddress: str | None = None
    Security: bytes | None = None
    BasePriority: int = 0
    FullPath: str | None = None
    DirectoryPath: str | None = None
    Scope: enums.Scope = field(default=enums.Scope.ENTERPRISE, metadata=UNPUBLISHED_FIELD_METADATA)
    QueueType: enums.QueueType = field(default=enums.QueueType.PUBLIC, metadata=UNPUBLISHED_FIELD_METADATA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enterprise(DirectoryObject):
    """The enterprise. Spec: MS-MQDMPR 3.1.1.6. DefaultTimeToLive is in s."""

    Name: str | None = None
    WeakenedSecurity: bool = False
    NonLDAPCapableQueueManagerNotification: bool | None = None
    DefaultTimeToLive: int | None = None
    OldDirectory: bool = False
    Security: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Site(DirectoryObject):
    """A site. Spec: MS-MQDMPR 3.1.1.7; MS-MQDSSM calls the attribute ForeignSite "Foreign". Intervals are in s."""

    Name: str | None = None
    PrimarySiteController: str | None = None
    IntraSiteReplicationInterval: int | None = None
    InterSiteReplicationInterval: int | None = None
    FullPath: str | None = None
    ForeignSite: bool = False
    PublicSigningKeyList: bytes = b""
    MigratedFromMsmq10: bool = False
    Security: bytes | None = None
    SiteGateCollection: tuple[QueueManager, ...] = field(default=(), metadata=UNPUBLISHED_FIELD_METADATA)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingLink(DirectoryObject):
    """A link between two sites. Spec: MS-MQDMPR 3.1.1.8. ActualCost is a number from 1 to 999,999."""

    Description: str = ""
    FullPath: str | None = None
    ActualCost: int | None = None
    Site1Identifier: UUID | None = None
    Site2Identifier: UUID | None = None
    SiteGateIdentifierList: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedNetwork(DirectoryObject):
    """A connected network. Only MS-MQDS directories contain such objects (notes <4>, <8>). Spec: MS-MQDMPR 3.1.1.9."""

    Name: str | None = None
    Security: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class User(DirectoryObject):
    """A user with certificates. Spec: MS-MQDMPR 3.1.1.15; FullPath: MS-MQDSSM 3.1.1.4. Digests are 16-byte MD5
    hashes.
    """

    SecurityIdentifier: bytes | None = None
    CertificateDigestList: tuple[bytes, ...] = ()
    Certificates: bytes = b""
    FullPath: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer(DirectoryObject):
    """The computer that a queue manager runs on. Spec: MS-MQDSSM 2.2.1, MS-ADA3 2.45 (objectSid, here
    SecurityIdentifier).
    """

    Name: str | None = None
    SecurityIdentifier: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionList(DirectoryObject):
    """A group of public queues and of other distribution lists. The Identifier of the group is its format name.
    Spec: MS-MQDSSM 3.1.6.9.
    """

    Name: str | None = None
    Members: tuple[UUID, ...] = ()


OBJECT_TYPE_BY_NAME: Final[dict[str, type[DirectoryObject]]] = {
    one.__name__: one for one in (QueueManager, Queue, Enterprise, Site, RoutingLink, ConnectedNetwork, User)
}
"""The types of directory objects that events can read, by the values of the argument iDirectoryObjectType."""
STORED_TYPE_BY_NAME: Final[dict[str, type[DirectoryObject]]] = OBJECT_TYPE_BY_NAME | {
    one.__name__: one for one in (Computer, DistributionList)
}
"""All types of directory objects, by name. No event reads a Computer or a DistributionList: both are read only over
LDAP (MS-MQDSSM 3.1.6.14).
"""

Element = TypeVar("Element", bound=DirectoryObject)


_ATTRIBUTE_NAMES_BY_TYPE: Final = {
    kind: tuple(one.name for one in fields(kind) if one.metadata.get("published", True))
    for kind in STORED_TYPE_BY_NAME.values()
}


def list_directory_attributes(kind: type[DirectoryObject]) -> tuple[str, ...]:
    """Return the names of the directory attributes of a type, spelled as in the specification."""
    return _ATTRIBUTE_NAMES_BY_TYPE[kind]


def copy_with_attributes(element: Element, names: Iterable[str] | None) -> Element:
    """Return a copy of an element that has only the named directory attributes, or all of them if the list is None."""
    wanted = set(list_directory_attributes(type(element)) if names is None else names)
    known = list_directory_attributes(type(element))
    return type(element)(**{name: getattr(element, name) for name in known if name in wanted})


def copy_with_published_attributes(local: Element, published: Element) -> Element:
    """Return a copy of a local element in which each directory attribute has the value from the published object of the
    element.
    """
    return replace(local, **{name: getattr(published, name) for name in list_directory_attributes(type(local))})
