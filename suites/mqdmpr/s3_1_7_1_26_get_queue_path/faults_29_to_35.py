"""Faults that break the rules MQDMPR-3.1.7.1.26-29 to MQDMPR-3.1.7.1.26-35."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import PrivateName, parse_format_name
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.model.statuses import Status
from suites.mqdmpr.s3_1_7_1_26_get_queue_path.fault_steps import (
    ILLEGAL_NAME_RESULT,
    ILLEGAL_NAME_STATUS,
    OK_STATUS,
    change_queue_path_results,
    repeat_first_successful_result,
    replace_path_by_status,
)


@fault("path-of-remote-private-name-is-local-queue", breaks=("MQDMPR-3.1.7.1.26-34", "MQDMPR-3.1.7.1.26-03"))
class PathOfRemotePrivateNameIsLocalQueue(QueuePaths):
    """For a private format name of another computer, the event Get Queue Path returns the path name of the local queue
    with that number.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        name = parse_format_name(format_name)
        if not isinstance(name, PrivateName) or found.rStatus is not OK_STATUS:
            return found
        own = str(replace(name, ComputerGuid=self.qm.adm.Identifier))
        return found._replace(rPathName=super().get_queue_path(own).rPathName)


@fault("path-of-private-name-of-unknown-computer-empty", breaks="MQDMPR-3.1.7.1.26-29")
class PathOfPrivateNameOfUnknownComputerEmpty(QueuePaths):
    """The event Get Queue Path returns MQ_OK with an empty path name for a private format name whose computer the
    directory does not contain.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        return (
            QueuePathResult(OK_STATUS)
            if isinstance(parse_format_name(format_name), PrivateName) and not found[2]
            else found
        )


@fault("path-of-unknown-private-name-with-low-number-found", breaks="MQDMPR-3.1.7.1.26-29", blind=True)
class PathOfUnknownPrivateNameWithLowNumberFound(QueuePaths):
    """Get Queue Path returns MQ_OK for a private format name with an unknown GUID and a queue number below 3."""

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        return found._replace(rStatus=Status.MQ_OK) if name.QueueIdentifier < 3 else found


@fault("path-of-private-name-ignores-number", breaks="MQDMPR-3.1.7.1.26-34")
class PathOfPrivateNameIgnoresNumber(QueuePaths):
    """For an unknown private queue number, the event Get Queue Path returns the path name of another local queue."""

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        if found.rStatus is Status.MQ_OK and not found.rPathName and name.ComputerGuid == self.qm.adm.Identifier:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return found._replace(rPathName=f"{found.rMachineName}\\{queue.Pathname}")
        return found


@fault("path-of-second-private-queue-is-that-of-first", breaks="MQDMPR-3.1.7.1.26-34", blind=True)
class PathOfSecondPrivateQueueIsThatOfFirst(QueuePaths):
    """The event Get Queue Path returns the path name of the private queue with the lowest number for every local
    private format name.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        if self.qm.queue_names.find_queue_by_format_name(name) is not None:
            numbers = [one.PrivateQueueNumber for one in self.qm.adm.QueueCollection.values()]
            lowest = min(number for number in numbers if number)
            name = PrivateName(name.ComputerGuid, lowest)
        return super()._find_computer_of_private_queue(name)


@fault("get-queue-path-of-remote-private-queue-returns-local-path", breaks="MQDMPR-3.1.7.1.26-34")
class GetQueuePathOfRemotePrivateQueueReturnsLocalPath(QueuePaths):
    """For a private queue of another computer, Get Queue Path returns the path name of the local queue with the same
    number.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        queue = self.qm.adm.QueueCollection.find_private_queue(name.QueueIdentifier)
        if found.rStatus is Status.MQ_OK and queue is not None and name.ComputerGuid != self.qm.adm.Identifier:
            return found._replace(rPathName=f"{found.rMachineName}\\{queue.Pathname}")
        return found


@fault("get-queue-path-of-unknown-local-private-number-illegal-name", breaks="MQDMPR-3.1.7.1.26-35")
class GetQueuePathOfUnknownLocalPrivateNumberIllegalName(QueuePaths):
    """For an unknown private queue of the local computer, Get Queue Path returns MQ_ERROR_ILLEGAL_FORMATNAME."""

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        return (
            found
            if found.rPathName or name.ComputerGuid != self.qm.adm.Identifier
            else QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)
        )


add(
    "queue-path-of-unknown-computer-with-known-number-empty",
    "MQDMPR-3.1.7.1.26-29",
    "For a private format name of an unknown computer, Get Queue Path returns MQ_OK and empty names if a local queue "
    "has the number.",
    change_queue_path_results(
        lambda asked: asked.has_local_private_queue_number,
        lambda asked, found: found if found.rStatus is OK_STATUS else QueuePathResult(OK_STATUS),
    ),
    blind=True,
)


add(
    "queue-path-of-second-unknown-computer-empty",
    "MQDMPR-3.1.7.1.26-29",
    "For the second and each later private format name, Get Queue Path returns MQ_OK and empty names if the "
    "directory does not contain the computer.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and asked.count_path_requests() > 1,
        lambda asked, found: found if found.rStatus is OK_STATUS else QueuePathResult(OK_STATUS),
    ),
    blind=True,
)


add(
    "queue-path-of-journal-of-unknown-computer-empty",
    "MQDMPR-3.1.7.1.26-29",
    "For a private format name of a journal on an unknown computer, Get Queue Path returns MQ_OK and empty names.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and asked.is_journal_format_name,
        lambda asked, found: found if found.rStatus is OK_STATUS else QueuePathResult(OK_STATUS),
    ),
    blind=True,
)


add(
    "queue-path-of-each-private-name-has-first-found-computer",
    "MQDMPR-3.1.7.1.26-31",
    "For every private format name, Get Queue Path returns the computer that it found first.",
    repeat_first_successful_result(lambda asked: "private" if asked.is_private_format_name else None),
    blind=True,
)


add(
    "queue-path-of-private-name-has-first-computer-of-directory",
    "MQDMPR-3.1.7.1.26-31",
    "For a private format name of a known computer, Get Queue Path returns the first computer of the directory.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name,
        lambda asked, found: (
            found._replace(rMachineName=asked.list_queue_managers_in_directory()[0].ComputerName or "")
            if found.rStatus is OK_STATUS
            else found
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-has-last-computer-of-directory",
    "MQDMPR-3.1.7.1.26-31",
    "For a private format name of a known computer, Get Queue Path returns the last computer of the directory.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name,
        lambda asked, found: (
            found._replace(rMachineName=asked.list_queue_managers_in_directory()[-1].ComputerName or "")
            if found.rStatus is OK_STATUS
            else found
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-has-qualified-name",
    "MQDMPR-3.1.7.1.26-32",
    "For a private format name, Get Queue Path returns the qualified name of the computer.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name,
        lambda asked, found: found._replace(
            rMachineName=next(
                (
                    one.QualifiedComputerName or ""
                    for one in asked.list_queue_managers_in_directory()
                    if one.Identifier == asked.guid
                ),
                found.rMachineName,
            )
        ),
    ),
    blind=True,
)


add(
    "queue-path-of-private-name-has-shortened-computer",
    "MQDMPR-3.1.7.1.26-32",
    "For a private format name, Get Queue Path returns at most the first two characters of the name of the computer.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name,
        lambda asked, found: found._replace(rMachineName=found.rMachineName[:2]),
    ),
    blind=True,
)


add(
    "queue-path-of-private-journal-has-no-computer",
    "MQDMPR-3.1.7.1.26-32",
    "For a private format name of a journal, Get Queue Path returns no computer.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and asked.is_journal_format_name,
        lambda asked, found: found._replace(rMachineName=""),
    ),
    blind=True,
)


add(
    "queue-path-of-remote-private-name-is-error",
    "MQDMPR-3.1.7.1.26-35",
    "For a private format name of another computer, Get Queue Path returns MQ_ERROR_QUEUE_NOT_FOUND, because the "
    "path name is empty.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and not asked.is_private_name_of_own_computer,
        lambda asked, found: replace_path_by_status(Status.MQ_ERROR_QUEUE_NOT_FOUND, found),
    ),
    blind=True,
)


add(
    "queue-path-of-direct-subqueue-is-error",
    "MQDMPR-3.1.7.1.26-35",
    "For a direct format name of a subqueue, Get Queue Path returns MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: getattr(asked.name, "Subqueue", None) is not None,
        lambda asked, found: replace_path_by_status(ILLEGAL_NAME_STATUS, found),
    ),
    blind=True,
)


add(
    "queue-path-of-https-name-is-error",
    "MQDMPR-3.1.7.1.26-35",
    "For a direct format name of the protocol HTTPS, Get Queue Path returns MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: asked.protocol == "HTTPS", lambda asked, found: replace_path_by_status(ILLEGAL_NAME_STATUS, found)
    ),
    blind=True,
)


add(
    "queue-path-of-private-journal-is-error",
    "MQDMPR-3.1.7.1.26-35",
    "For a private format name of a journal, Get Queue Path returns MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and asked.is_journal_format_name,
        lambda asked, found: replace_path_by_status(ILLEGAL_NAME_STATUS, found),
    ),
    blind=True,
)


add(
    "queue-path-of-high-private-number-illegal",
    "MQDMPR-3.1.7.1.26-35",
    "For a private format name with a number above 0x7FFFFFFF, Get Queue Path returns MQ_ERROR_ILLEGAL_FORMATNAME.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and asked.number > 0x7FFF_FFFF,
        lambda asked, found: ILLEGAL_NAME_RESULT,
    ),
)


add(
    "queue-path-of-private-name-with-short-number-illegal",
    "MQDMPR-3.1.7.1.26-31",
    "For a private format name whose number has fewer than eight digits, Get Queue Path returns no computer.",
    change_queue_path_results(
        lambda asked: asked.is_private_format_name and len(asked.text.rpartition("\\")[2]) < 8,
        lambda asked, found: found._replace(rMachineName=""),
    ),
)
