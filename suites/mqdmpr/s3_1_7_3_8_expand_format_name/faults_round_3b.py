"""Faults that break rules of MS-MQDMPR 3.1.7.3.8 Expand Format Name."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName
from reference_qm.codec.format_names import DistributionListName, SingleName
from reference_qm.core.names.queue_names import QueueNames


@fault("queue-manager-unresolved-nested-list-skipped", breaks="MQDMPR-3.1.7.3.8-15", blind=True)
class QueueManagerUnresolvedNestedListSkipped(QueueNames):
    """The queue manager skips a distribution list that it cannot resolve if the list is a member of another list."""

    def expand_format_name(self, text: str) -> FormatName | None:
        self.__dict__["text"] = text.lower()
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleName] | None:
        listed = super().resolve_distribution_list(name)
        is_nested = str(name.DistributionListGuid) not in self.__dict__.get("text", "")
        return [] if listed is None and is_nested else listed
