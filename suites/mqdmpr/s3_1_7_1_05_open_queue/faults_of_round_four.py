"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import FormatError, FormatName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, PrivateName, SingleElementName
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


def _parse_multiple_element_format_name(text: str) -> MultipleElementName | None:
    try:
        name = parse_format_name(text)
    except FormatError:
        return None
    return name if isinstance(name, MultipleElementName) else None


@fault(
    "queue-manager-list-opened-despite-unknown-distribution-list",
    breaks="MQDMPR-3.1.7.1.5-05",
    blind=True,
)
class QueueManagerListOpenedDespiteUnknownDistributionList(QueueNames):
    """The queue manager opens the other queues of a multiple-element format name that contains a distribution list
    with unknown members.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        vars(self)["has_several_elements"] = _parse_multiple_element_format_name(text) is not None
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        listed = super().resolve_distribution_list(name)
        return [] if listed is None and vars(self).get("has_several_elements") else listed


@fault("queue-manager-queue-repeated-in-list-opened-twice", breaks="MQDMPR-3.1.7.1.5-06", blind=True)
class QueueManagerQueueRepeatedInListOpenedTwice(QueueOpening):
    """If a multiple-element format name contains the name of a queue several times, the queue manager opens the queue
    several times.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        given = _parse_multiple_element_format_name(format_name)
        expanded = self.qm.queue_names.expand_format_name(format_name)
        if given is None or not isinstance(expanded, MultipleElementName):
            return super().open_queue(format_name, required_access, shared_mode, now)
        if any(isinstance(element, DistributionListName) for element in given.Elements):
            return super().open_queue(format_name, required_access, shared_mode, now)
        return self._open_queues_of_multiple_element_name(given, required_access, shared_mode, now)


@fault(
    "queue-manager-opened-private-journal-name-refers-to-queue-of-journal",
    breaks=("MQDMPR-3.1.7.1.5-118", "MQDMPR-3.1.7.1.5-48"),
    blind=True,
)
class QueueManagerOpenedPrivateJournalNameRefersToQueueOfJournal(QueueNames):
    """When a reader opens the private format name of a journal, the queue manager opens the queue to which the journal
    belongs.
    """

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        if isinstance(name, PrivateName) and name.Journal:
            name = replace(name, Journal=False)
        return super().find_queue_by_format_name(name)


@fault("queue-manager-open-public-format-name-directory-queried-once", breaks="MQDMPR-3.1.7.1.5-68", blind=True)
class QueueManagerOpenPublicFormatNameDirectoryQueriedOnce(QueueNames):
    """The queue manager queries the directory for each public format name only once, and uses the first answer whenever
    the queue is opened later.
    """

    def _is_published_here(self, guid: UUID) -> bool:
        answers: dict[UUID, bool] = vars(self).setdefault("first_answers", {})
        if guid not in answers:
            answers[guid] = super()._is_published_here(guid)
        return answers[guid]
