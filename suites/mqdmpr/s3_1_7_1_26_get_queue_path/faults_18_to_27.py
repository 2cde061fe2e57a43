"""Faults that break the rules MQDMPR-3.1.7.1.26-18 to MQDMPR-3.1.7.1.26-27."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import PrivateName, PublicName, parse_format_name
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.directory import Queue as DirectoryQueue
from reference_qm.directory import QueueManager as DirectoryQueueManager
from reference_qm.model.statuses import Status
from suites.mqdmpr.s3_1_7_1_26_get_queue_path.fault_steps import (
    ILLEGAL_NAME_RESULT,
    KNOWN_PATHS_BY_QUEUE_MANAGER,
    OK_STATUS,
    change_queue_path_results,
    change_requested_names,
    find_identifier_by_first_bytes,
    repeat_first_successful_result,
    return_ok_for_names_no_longer_found,
)


@fault("queue-path-of-deleted-public-queue-remembered", breaks=("MQDMPR-3.1.7.1.26-18", "MQDMPR-3.1.7.1.26-13"))
class QueuePathOfDeletedPublicQueueRemembered(QueuePaths):
    """The event Get Queue Path still returns the path name of a deleted public queue that it has returned before."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        known = KNOWN_PATHS_BY_QUEUE_MANAGER.setdefault(self.qm, {})
        found = super()._find_path_of_public_queue(name)
        if found.rStatus is Status.MQ_OK:
            known[name.QueueGuid] = found
        return known.get(name.QueueGuid, found)


@fault("path-of-unknown-public-name-empty", breaks="MQDMPR-3.1.7.1.26-18")
class PathOfUnknownPublicNameEmpty(QueuePaths):
    """The event Get Queue Path returns MQ_OK with an empty path name for a public format name that the directory does
    not contain.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        return (
            QueuePathResult(OK_STATUS)
            if isinstance(parse_format_name(format_name), PublicName) and not found[1]
            else found
        )


@fault("computer-of-each-public-name-is-own-computer", breaks="MQDMPR-3.1.7.1.26-21", blind=True)
class ComputerOfEachPublicNameIsOwnComputer(QueuePaths):
    """The event Get Queue Path returns the queue manager's own computer for every public format name."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        own = self.qm.enterprise.state.LocalQueueManager.ComputerName or ""
        return found._replace(rMachineName=own) if found.rMachineName else found


add(
    "queue-path-of-second-unknown-public-name-empty",
    "MQDMPR-3.1.7.1.26-18",
    "For the second and each later public format name, Get Queue Path returns MQ_OK and empty names if the directory "
    "does not contain the name.",
    change_queue_path_results(
        lambda asked: asked.is_public_format_name and asked.count_path_requests() > 1,
        lambda asked, found: found if found.rStatus is OK_STATUS else QueuePathResult(OK_STATUS),
    ),
    blind=True,
)


add(
    "queue-path-of-zero-public-name-empty",
    "MQDMPR-3.1.7.1.26-18",
    "For the public format name whose GUID is zero, Get Queue Path returns MQ_OK and empty names.",
    change_queue_path_results(
        lambda asked: asked.is_public_format_name and asked.guid.int == 0,
        lambda asked, found: QueuePathResult(OK_STATUS),
    ),
    blind=True,
)


add(
    "queue-path-of-unknown-own-public-queue-not-found",
    "MQDMPR-3.1.7.1.26-18",
    "For a public queue of this computer that the directory no longer contains, Get Queue Path returns "
    "MQ_ERROR_QUEUE_NOT_FOUND.",
    change_queue_path_results(
        lambda asked: asked.is_local_public_queue,
        lambda asked, found: found if found.rStatus is OK_STATUS else QueuePathResult(Status.MQ_ERROR_QUEUE_NOT_FOUND),
    ),
    blind=True,
)


add(
    "queue-path-of-deleted-public-queue-empty",
    "MQDMPR-3.1.7.1.26-18",
    "For a public format name that was found before, Get Queue Path returns MQ_OK and empty names when the directory "
    "no longer contains the queue.",
    return_ok_for_names_no_longer_found(),
    blind=True,
)


add(
    "queue-path-of-each-public-name-is-first-found",
    "MQDMPR-3.1.7.1.26-20",
    "For every public format name, Get Queue Path returns the queue that it found first.",
    repeat_first_successful_result(lambda asked: "public" if asked.is_public_format_name else None),
    blind=True,
)


add(
    "queue-path-of-public-name-is-first-queue-of-directory",
    "MQDMPR-3.1.7.1.26-20",
    "For a public format name in the directory, Get Queue Path returns the first queue of the directory.",
    change_requested_names(
        lambda asked: (
            asked.is_public_format_name and any(one.Identifier == asked.guid for one in asked.list_public_queues())
        ),
        lambda asked: str(PublicName(asked.list_identifiers_of_directory_objects(DirectoryQueue)[0])),
    ),
    blind=True,
)


add(
    "queue-path-of-remote-public-name-has-own-computer",
    "MQDMPR-3.1.7.1.26-20",
    "For a public queue of another computer, Get Queue Path returns the name of this computer instead of the "
    "computer of that queue.",
    change_queue_path_results(
        lambda asked: asked.is_public_format_name and not asked.is_local_public_queue,
        lambda asked, found: (
            found._replace(rMachineName=asked.qm.config.host_name) if found.rStatus is OK_STATUS else found
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-known-number-has-own-computer",
    "MQDMPR-3.1.7.1.26-23",
    "For a private format name whose number a local queue has, Get Queue Path returns the name of this computer.",
    change_requested_names(
        lambda asked: asked.has_local_private_queue_number,
        lambda asked: str(PrivateName(asked.qm.adm.Identifier, asked.number)),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-in-lower-case-illegal",
    "MQDMPR-3.1.7.1.26-23",
    "For a private format name whose GUID is in lower case, Get Queue Path returns MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and asked.text != asked.text.upper(),
        lambda asked, found: ILLEGAL_NAME_RESULT,
    ),
    blind=True,
)


add(
    "queue-path-of-private-journal-has-own-computer",
    "MQDMPR-3.1.7.1.26-23",
    "For a private format name of a journal, Get Queue Path returns the name of this computer instead of the "
    "computer of the GUID.",
    change_requested_names(
        lambda asked: asked.is_private_format_name and asked.is_journal_format_name,
        lambda asked: str(PrivateName(asked.qm.adm.Identifier, asked.number, True)),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-kept-from-first-question",
    "MQDMPR-3.1.7.1.26-24",
    "For a private format name whose path was requested before, Get Queue Path returns the first answer, "
    "without a new query of the directory.",
    repeat_first_successful_result(lambda asked: asked.name if asked.is_private_format_name else None),
    blind=True,
)


add(
    "queue-path-of-second-private-name-without-directory",
    "MQDMPR-3.1.7.1.26-24",
    "For the second and each later private format name, Get Queue Path queries no directory, and returns "
    "MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and asked.count_path_requests() > 1,
        lambda asked, found: ILLEGAL_NAME_RESULT,
    ),
    blind=True,
)


add(
    "queue-path-of-own-private-name-without-directory",
    "MQDMPR-3.1.7.1.26-24",
    "For a private format name of this computer, Get Queue Path returns the configured name of this computer, "
    "without a query of the directory.",
    change_queue_path_results(
        lambda asked: asked.is_private_name_of_own_computer,
        lambda asked, found: QueuePathResult(OK_STATUS, found.rPathName, asked.qm.config.host_name),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-found-by-first-bytes",
    "MQDMPR-3.1.7.1.26-27",
    "For a private format name, Get Queue Path finds the computer by the first eight bytes of its Identifier.",
    change_requested_names(
        lambda asked: asked.is_private_format_name,
        lambda asked: str(
            PrivateName(
                find_identifier_by_first_bytes(
                    asked.list_identifiers_of_directory_objects(DirectoryQueueManager), asked.guid, 8
                ),
                asked.number,
            )
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-found-by-first-field",
    "MQDMPR-3.1.7.1.26-27",
    "For a private format name, Get Queue Path finds the computer by the first four bytes of its Identifier.",
    change_requested_names(
        lambda asked: asked.is_private_format_name,
        lambda asked: str(
            PrivateName(
                find_identifier_by_first_bytes(
                    asked.list_identifiers_of_directory_objects(DirectoryQueueManager), asked.guid, 4
                ),
                asked.number,
            )
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-with-identifier-of-queue-found",
    "MQDMPR-3.1.7.1.26-27",
    "For a private format name with the Identifier of a public queue, Get Queue Path returns the computer of that "
    "queue.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name,
        lambda asked, found: next(
            (
                QueuePathResult(OK_STATUS, "", (one.Pathname or "").partition("\\")[0])
                for one in asked.list_public_queues()
                if one.Identifier == asked.guid
            ),
            found,
        ),
    ),
    blind=True,
)
