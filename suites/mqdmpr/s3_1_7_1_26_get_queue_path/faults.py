"""Faults of MS-MQDMPR 3.1.7.1.26 Get Queue Path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import PrivateName, PublicName, parse_format_name
from reference_qm.core.names.queue_paths import QueuePathOf, QueuePaths
from reference_qm.model.statuses import Status

OK, ILLEGAL = Status.MQ_OK, Status.MQ_ERROR_ILLEGAL_FORMATNAME
_ILLEGAL_PATH = QueuePathOf(ILLEGAL)


def _change_path_of_prefix(begins: str, change: Callable[[QueuePathOf], QueuePathOf]) -> Install:
    """Build a fault that changes the result of Get Queue Path for format names with a given prefix."""

    class Gives(QueuePaths):
        def get_queue_path(self, format_name: str) -> QueuePathOf:
            found = super().get_queue_path(format_name)
            return change(found) if format_name.upper().startswith(begins) else found

    return replace_part(Gives)


def _clear_path_unless_illegal(found: QueuePathOf) -> QueuePathOf:
    return found if found.rStatus is ILLEGAL else QueuePathOf(OK)


for _name, _rules, _says, _begins, _change in (
    (
        "direct-with-protocol",
        "MQDMPR-3.1.7.1.26-05",
        "The path name of a direct format name contains its protocol.",
        "DIRECT=TCP",
        lambda found: found._replace(rPathName=f"TCP:{found.rPathName}"),
    ),
    (
        "http-host-with-slashes",
        "MQDMPR-3.1.7.1.26-07",
        "The computer of an HTTP direct format name is the address including its slashes.",
        "DIRECT=HTTP",
        lambda found: found._replace(rMachineName=f"//{found.rMachineName}"),
    ),
    (
        "direct-computer-cut-at-dot",
        "MQDMPR-3.1.7.1.26-09",
        "The computer of a direct format name is its address up to the first period.",
        "DIRECT=",
        lambda found: found._replace(rMachineName=found.rMachineName.partition(".")[0]),
    ),
    (
        "direct-without-computer",
        "MQDMPR-3.1.7.1.26-10",
        "The path name of a direct format name does not contain the computer.",
        "DIRECT=",
        lambda found: found._replace(rPathName=found.rPathName.partition("\\")[2]),
    ),
    (
        "public-without-computer",
        ("MQDMPR-3.1.7.1.26-20", "MQDMPR-3.1.7.1.26-21"),
        "The event Get Queue Path returns no computer for a public format name.",
        "PUBLIC=",
        lambda found: found._replace(rMachineName=""),
    ),
    (
        "public-not-queried",
        ("MQDMPR-3.1.7.1.26-12", "MQDMPR-3.1.7.1.26-13", "MQDMPR-3.1.7.1.26-16"),
        "The queue manager does not query the directory for a public format name.",
        "PUBLIC=",
        lambda found: _ILLEGAL_PATH,
    ),
    (
        "private-not-queried",
        ("MQDMPR-3.1.7.1.26-23", "MQDMPR-3.1.7.1.26-24", "MQDMPR-3.1.7.1.26-27"),
        "The queue manager does not query the directory for the computer of a private format name.",
        "PRIVATE=",
        lambda found: _ILLEGAL_PATH,
    ),
    (
        "private-without-computer",
        ("MQDMPR-3.1.7.1.26-31", "MQDMPR-3.1.7.1.26-32"),
        "The event Get Queue Path returns no computer for a private format name.",
        "PRIVATE=",
        _clear_path_unless_illegal,
    ),
    (
        "success-returns-error",
        "MQDMPR-3.1.7.1.26-35",
        "The event Get Queue Path returns MQ_ERROR although it succeeds.",
        "",
        lambda found: found._replace(rStatus=Status.MQ_ERROR) if found.rStatus is OK else found,
    ),
):
    add(f"get-queue-path-{_name}", _rules, _says, _change_path_of_prefix(_begins, _change))


@fault("path-of-unknown-public-name-empty", breaks="MQDMPR-3.1.7.1.26-18")
class PathOfUnknownPublicNameEmpty(QueuePaths):
    """The event Get Queue Path returns MQ_OK with an empty path name for a public format name that the directory does
    not contain.
    """

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        return QueuePathOf(OK) if isinstance(parse_format_name(format_name), PublicName) and not found[1] else found


@fault("path-of-unknown-computer-empty", breaks="MQDMPR-3.1.7.1.26-29")
class PathOfUnknownComputerEmpty(QueuePaths):
    """The event Get Queue Path returns MQ_OK with an empty path name for a private format name whose computer the
    directory does not contain.
    """

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        return QueuePathOf(OK) if isinstance(parse_format_name(format_name), PrivateName) and not found[2] else found


@fault("path-of-remote-private-name-is-local-queue", breaks=("MQDMPR-3.1.7.1.26-34", "MQDMPR-3.1.7.1.26-03"))
class RemoteNumberTakenForLocal(QueuePaths):
    """For a private format name of another computer, the event Get Queue Path returns the path name of the local queue
    with that number.
    """

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        name = parse_format_name(format_name)
        if not isinstance(name, PrivateName) or found.rStatus is not OK:
            return found
        own = str(replace(name, ComputerGuid=self.qm.adm.Identifier))
        return found._replace(rPathName=super().get_queue_path(own).rPathName)
