"""Faults that break the rules MQDMPR-3.1.7.1.26-03 to MQDMPR-3.1.7.1.26-16."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, PublicName, parse_format_name
from reference_qm.codec.format_names import DirectName, MulticastName, MultipleElementName
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.directory import Queue
from reference_qm.directory import Queue as DirectoryQueue
from reference_qm.model.statuses import Status
from suites.mqdmpr.s3_1_7_1_26_get_queue_path.fault_steps import (
    ILLEGAL_NAME_RESULT,
    ILLEGAL_NAME_STATUS,
    KNOWN_PATHS_BY_QUEUE_MANAGER,
    OK_STATUS,
    change_queue_path_results,
    change_requested_names,
    find_identifier_by_first_bytes,
    repeat_first_successful_result,
)


@fault("get-queue-path-of-multiple-element-name-returns-first-path", breaks="MQDMPR-3.1.7.1.26-03")
class GetQueuePathOfMultipleElementNameReturnsFirstPath(QueuePaths):
    """For a multiple-element format name, Get Queue Path returns the path name and the computer of the
    first element.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        try:
            name = parse_format_name(format_name)
        except FormatError:
            return super().get_queue_path(format_name)
        if isinstance(name, MultipleElementName):
            return super().get_queue_path(str(name.Elements[0]))
        return super().get_queue_path(format_name)


@fault("queue-path-of-multicast-name-is-address", breaks="MQDMPR-3.1.7.1.26-03")
class QueuePathOfMulticastNameIsAddress(QueuePaths):
    """For a multicast format name, Get Queue Path returns the multicast address as the computer."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        try:
            name = parse_format_name(format_name)
        except FormatError:
            return found
        return found._replace(rMachineName=format_name.partition("=")[2]) if isinstance(name, MulticastName) else found


_ILLEGAL_NAME_RESULT = QueuePathResult(ILLEGAL_NAME_STATUS)


def _change_paths_of_format_names_with_prefix(
    begins: str, change: Callable[[QueuePathResult], QueuePathResult]
) -> Install:
    """Build a fault that changes the result of Get Queue Path for format names with a given prefix."""

    class PrefixedPathChanger(QueuePaths):
        def get_queue_path(self, format_name: str) -> QueuePathResult:
            found = super().get_queue_path(format_name)
            return change(found) if format_name.upper().startswith(begins) else found

    return replace_part(PrefixedPathChanger)


def _clear_path_of_legal_format_name(found: QueuePathResult) -> QueuePathResult:
    return found if found.rStatus is ILLEGAL_NAME_STATUS else QueuePathResult(OK_STATUS)


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
        lambda found: _ILLEGAL_NAME_RESULT,
    ),
    (
        "private-not-queried",
        ("MQDMPR-3.1.7.1.26-23", "MQDMPR-3.1.7.1.26-24", "MQDMPR-3.1.7.1.26-27"),
        "The queue manager does not query the directory for the computer of a private format name.",
        "PRIVATE=",
        lambda found: _ILLEGAL_NAME_RESULT,
    ),
    (
        "private-without-computer",
        ("MQDMPR-3.1.7.1.26-31", "MQDMPR-3.1.7.1.26-32"),
        "The event Get Queue Path returns no computer for a private format name.",
        "PRIVATE=",
        _clear_path_of_legal_format_name,
    ),
    (
        "success-returns-error",
        "MQDMPR-3.1.7.1.26-35",
        "The event Get Queue Path returns MQ_ERROR although it succeeds.",
        "",
        lambda found: found._replace(rStatus=Status.MQ_ERROR) if found.rStatus is OK_STATUS else found,
    ),
):
    add(f"get-queue-path-{_name}", _rules, _says, _change_paths_of_format_names_with_prefix(_begins, _change))


@fault("computer-of-http-name-contains-port", breaks="MQDMPR-3.1.7.1.26-07")
class ComputerOfHttpNameContainsPort(QueuePaths):
    """For an HTTP format name with a port, the event Get Queue Path returns the host together with the port as the
    computer.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        _, separator, rest = format_name.partition("://")
        return found._replace(rMachineName=rest.partition("/")[0]) if separator else found


@fault("computer-of-https-name-is-whole-address", breaks="MQDMPR-3.1.7.1.26-07")
class ComputerOfHttpsNameIsWholeAddress(QueuePaths):
    """For an HTTPS format name, the event Get Queue Path returns the complete address as the computer."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        protocol, separator, rest = format_name.partition(":")
        if separator and protocol.upper().endswith("=HTTPS"):
            return found._replace(rMachineName=rest.partition("\\")[0])
        return found


@fault("computer-of-http-name-ends-at-first-period", breaks="MQDMPR-3.1.7.1.26-07", blind=True)
class ComputerOfHttpNameEndsAtFirstPeriod(QueuePaths):
    """The computer of an HTTP direct format name is its address up to the first period."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        _, separator, _ = format_name.partition("://")
        return found._replace(rMachineName=found.rMachineName.partition(".")[0]) if separator else found


@fault("get-queue-path-returns-whole-https-address-as-computer", breaks="MQDMPR-3.1.7.1.26-07")
class GetQueuePathReturnsWholeHttpsAddressAsComputer(QueuePaths):
    """For a direct format name with the protocol HTTPS, Get Queue Path returns the whole address as the computer."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        try:
            name = parse_format_name(format_name)
        except FormatError:
            return found
        if isinstance(name, DirectName) and name.Protocol == "HTTPS":
            return found._replace(rMachineName=name.ProtocolAddressSpecification)
        return found


@fault("queue-path-of-http-name-contains-port", breaks="MQDMPR-3.1.7.1.26-07")
class QueuePathOfHttpNameContainsPort(QueuePaths):
    """For a direct format name with the protocol HTTP, Get Queue Path returns the host and the port as the computer."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        _, separator, rest = format_name.partition(f"//{found.rMachineName}:")
        port = rest.partition("/")[0]
        return found._replace(rMachineName=f"{found.rMachineName}:{port}") if separator else found


@fault("computer-of-direct-name-ends-at-first-period", breaks="MQDMPR-3.1.7.1.26-09", blind=True)
class ComputerOfDirectNameEndsAtFirstPeriod(QueuePaths):
    """The computer of a direct format name is its address up to the first period."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        if format_name.lower().startswith("direct=os"):
            return found._replace(rMachineName=found.rMachineName.partition(".")[0])
        return found


@fault("get-queue-path-of-direct-name-omits-subqueue-and-journal", breaks="MQDMPR-3.1.7.1.26-10", blind=True)
class GetQueuePathOfDirectNameOmitsSubqueueAndJournal(QueuePaths):
    """The path name of a direct format name ends before the name of its subqueue or journal."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        direct = format_name.upper().startswith("DIRECT=")
        return found._replace(rPathName=found.rPathName.partition(";")[0]) if direct else found


@fault("path-of-direct-name-without-journal-suffix", breaks="MQDMPR-3.1.7.1.26-10", blind=True)
class PathOfDirectNameWithoutJournalSuffix(QueuePaths):
    """The path name of a direct format name ends before the suffix ;JOURNAL."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        kept, suffix, _ = found.rPathName.rpartition(";")
        if suffix and found.rPathName.lower().endswith(";journal"):
            return found._replace(rPathName=kept)
        return found


@fault("get-queue-path-of-direct-name-omits-subqueue", breaks="MQDMPR-3.1.7.1.26-10")
class GetQueuePathOfDirectNameOmitsSubqueue(QueuePaths):
    """The path name of a direct format name ends before the name of a subqueue."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        return found._replace(rPathName=found.rPathName.partition(";")[0])


@fault("get-queue-path-of-public-direct-name-contains-private", breaks="MQDMPR-3.1.7.1.26-10")
class GetQueuePathOfPublicDirectNameContainsPrivate(QueuePaths):
    """The path name of the direct format name of a public queue contains private$."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        machine, separator, rest = found.rPathName.partition("\\")
        is_direct_format_name = format_name.upper().startswith("DIRECT=") and separator and "\\" not in rest
        return found._replace(rPathName=f"{machine}\\private$\\{rest}") if is_direct_format_name else found


@fault("path-of-public-name-is-that-of-first-public-queue", breaks="MQDMPR-3.1.7.1.26-12")
class PathOfPublicNameIsThatOfFirstPublicQueue(QueuePaths):
    """For each local public queue, the event Get Queue Path returns the path name of the first local public queue."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        public = [one for one in self.qm.adm.QueueCollection.values() if one.PrivateQueueNumber is None]
        if any(one.Identifier == name.QueueGuid for one in public):
            name = PublicName(public[0].Identifier)
        return super()._find_path_of_public_queue(name)


@fault("queue-path-of-second-public-queue-is-path-of-first", breaks=("MQDMPR-3.1.7.1.26-16", "MQDMPR-3.1.7.1.26-12"))
class QueuePathOfSecondPublicQueueIsPathOfFirst(QueuePaths):
    """The event Get Queue Path returns the path name of the first known public queue of a computer for each other
    public queue of this computer.
    """

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        known = KNOWN_PATHS_BY_QUEUE_MANAGER.setdefault(self.qm, {})
        found = super()._find_path_of_public_queue(name)
        if found.rStatus is Status.MQ_OK:
            same = (one for one in known.values() if one.rMachineName == found.rMachineName)
            found = known.setdefault(name.QueueGuid, next(same, found))
        return found


@fault("get-queue-path-returns-path-of-same-named-remote-queue", breaks="MQDMPR-3.1.7.1.26-12", blind=True)
class GetQueuePathReturnsPathOfSameNamedRemoteQueue(QueuePaths):
    """The queue manager returns the path name of a public queue with the same name on another computer."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        tail = found.rPathName.partition("\\")[2].lower()
        for one in self.qm.enterprise.directory.contents()[1] or ():
            if not isinstance(one, Queue) or not one.Pathname or one.Pathname == found.rPathName:
                continue
            if one.Pathname.partition("\\")[2].lower() == tail:
                return QueuePathResult(found.rStatus, one.Pathname, one.Pathname.partition("\\")[0])
        return found


add(
    "queue-path-of-os-name-address-ends-at-dot",
    "MQDMPR-3.1.7.1.26-05",
    "For a direct format name of the protocol OS, Get Queue Path takes the text before the first dot as the address.",
    change_queue_path_results(
        lambda asked: asked.protocol == "OS",
        lambda asked, found: found._replace(
            rMachineName=found.rMachineName.partition(".")[0],
            rPathName=found.rMachineName.partition(".")[0] + found.rPathName[len(found.rMachineName) :],
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-direct-name-ends-before-subqueue",
    "MQDMPR-3.1.7.1.26-05",
    "For a direct format name of a subqueue, Get Queue Path takes the text before the semicolon as the rest of the "
    "name.",
    change_queue_path_results(
        lambda asked: asked.is_direct_format_name,
        lambda asked, found: found._replace(rPathName=found.rPathName.partition(";")[0]),
    ),
    blind=True,
)


add(
    "queue-path-of-direct-name-ends-at-second-backslash",
    "MQDMPR-3.1.7.1.26-05",
    "For a direct format name of a private queue, Get Queue Path takes only the text up to the second backslash as "
    "the rest of the name.",
    change_queue_path_results(
        lambda asked: asked.is_direct_format_name,
        lambda asked, found: found._replace(rPathName="\\".join(found.rPathName.split("\\")[:2])),
    ),
    blind=True,
)


add(
    "queue-path-of-direct-name-in-lower-case-illegal",
    "MQDMPR-3.1.7.1.26-05",
    "For a direct format name whose protocol is in lower case, Get Queue Path returns MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: asked.is_direct_format_name and asked.text.partition("=")[2][:2].islower(),
        lambda asked, found: ILLEGAL_NAME_RESULT,
    ),
    blind=True,
)


add(
    "queue-path-of-own-address-has-own-name",
    "MQDMPR-3.1.7.1.26-09",
    "For a direct format name with an address of this computer, Get Queue Path returns the name of this computer.",
    change_queue_path_results(
        lambda asked: asked.protocol == "TCP" and asked.is_own_address,
        lambda asked, found: found._replace(rMachineName=asked.qm.config.host_name),
    ),
    blind=True,
)


add(
    "queue-path-of-system-queue-has-no-computer",
    "MQDMPR-3.1.7.1.26-09",
    "For a direct format name of a system queue, Get Queue Path returns no computer.",
    change_queue_path_results(
        lambda asked: asked.is_direct_format_name and "SYSTEM$" in asked.text.upper(),
        lambda asked, found: found._replace(rMachineName=""),
    ),
    blind=True,
)


add(
    "queue-path-of-other-computer-has-no-computer",
    "MQDMPR-3.1.7.1.26-09",
    "For a direct format name of another computer, Get Queue Path returns no computer.",
    change_queue_path_results(
        lambda asked: asked.protocol in ("TCP", "OS") and not asked.is_own_address,
        lambda asked, found: found._replace(rMachineName=""),
    ),
    blind=True,
)


add(
    "queue-path-of-public-name-kept-from-first-question",
    "MQDMPR-3.1.7.1.26-13",
    "For a public format name whose path was requested before, Get Queue Path returns the first answer, without "
    "a new query of the directory.",
    repeat_first_successful_result(lambda asked: asked.name if asked.is_public_format_name else None),
    blind=True,
)


add(
    "queue-path-of-own-public-queue-without-directory",
    "MQDMPR-3.1.7.1.26-13",
    "For a public queue of this computer, Get Queue Path returns the local names, even if the directory does not "
    "have the queue.",
    change_queue_path_results(
        lambda asked: asked.is_local_public_queue,
        lambda asked, found: (
            QueuePathResult(
                OK_STATUS,
                asked.build_path_name_of_local_queue,
                asked.qm.config.host_name,
            )
            if found.rStatus is not OK_STATUS
            else found
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-second-public-name-without-directory",
    "MQDMPR-3.1.7.1.26-13",
    "For the second and each later public format name, Get Queue Path queries no directory, and returns "
    "MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: asked.is_public_format_name and asked.count_path_requests() > 1,
        lambda asked, found: ILLEGAL_NAME_RESULT,
    ),
    blind=True,
)


add(
    "queue-path-of-public-name-found-by-first-bytes",
    "MQDMPR-3.1.7.1.26-16",
    "For a public format name, Get Queue Path finds the queue by the first eight bytes of its Identifier.",
    change_requested_names(
        lambda asked: asked.is_public_format_name,
        lambda asked: str(
            PublicName(
                find_identifier_by_first_bytes(
                    asked.list_identifiers_of_directory_objects(DirectoryQueue), asked.guid, 8
                )
            )
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-public-name-found-by-first-field",
    "MQDMPR-3.1.7.1.26-16",
    "For a public format name, Get Queue Path finds the queue by the first four bytes of its Identifier.",
    change_requested_names(
        lambda asked: asked.is_public_format_name,
        lambda asked: str(
            PublicName(
                find_identifier_by_first_bytes(
                    asked.list_identifiers_of_directory_objects(DirectoryQueue), asked.guid, 4
                )
            )
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-public-name-of-computer-identifier-found",
    "MQDMPR-3.1.7.1.26-16",
    "For a public format name with the identifier of a computer, Get Queue Path returns that computer.",
    change_queue_path_results(
        lambda asked: asked.is_public_format_name,
        lambda asked, found: next(
            (
                QueuePathResult(OK_STATUS, one.ComputerName or "", one.ComputerName or "")
                for one in asked.list_queue_managers_in_directory()
                if one.Identifier == asked.guid
            ),
            found,
        ),
    ),
    blind=True,
)
