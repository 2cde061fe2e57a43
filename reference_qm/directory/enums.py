"""Defines the enumerations of the directory elements. Spec: MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.1.17."""

from __future__ import annotations

from enum import Enum


class DirectoryOperationResult(Enum):
    """The result of a directory operation. Spec: MS-MQDMPR 3.1.1.17."""

    SUCCESS = "Success"
    GENERIC_ERROR = "GenericError"
    DIRECTORY_NOT_CONNECTED = "DirectoryNotConnected"
    OBJECT_NOT_FOUND = "ObjectNotFound"
    ATTRIBUTE_NOT_FOUND = "AttributeNotFound"
    END_OF_DATA = "EndOfData"
    OBJECT_ALREADY_EXISTS = "ObjectAlreadyExists"


class OperatingSystemType(Enum):
    """The values of QueueManager.OperatingSystemType. Spec: MS-MQDMPR 3.1.1.1."""

    FOREIGN = "Foreign"
    WIN_95 = "Win95"
    WIN_CLIENT = "WinClient"
    WIN_SERVER = "WinServer"
    WIN_ENT = "WinEnt"
    OTHER = "Other"

    @property
    def is_server(self) -> bool:
        """Return whether the operating system is a server system. Spec: MS-MQQB 2.2.3.1 (OS), 2.2.7 (RC)."""
        return self in (OperatingSystemType.WIN_SERVER, OperatingSystemType.WIN_ENT)


class DirectoryServerType(Enum):
    """The values of QueueManager.DirectoryServerType. Spec: MS-MQDMPR 3.1.1.1."""

    STANDALONE = "Standalone"
    BACKUP_SITE_CONTROLLER = "BackupSiteController"
    PRIMARY_SITE_CONTROLLER = "PrimarySiteController"
    PRIMARY_ENTERPRISE_CONTROLLER = "PrimaryEnterpriseController"


class PrivacyLevel(Enum):
    """The values of Queue.PrivacyLevel. Spec: MS-MQDMPR 3.1.1.2."""

    NONE = "None"
    OPTIONAL = "Optional"
    BODY = "Body"


class Scope(Enum):
    """The values of Queue.Scope. Spec: MS-MQDMPR 3.1.1.2."""

    SITE = "Site"
    ENTERPRISE = "Enterprise"


class QueueType(Enum):
    """The values of Queue.QueueType. Spec: MS-MQDMPR 3.1.1.2."""

    PRIVATE = "Private"
    PUBLIC = "Public"
    SYSTEM = "System"
    CONNECTOR = "Connector"
