"""Faults that break rules of MS-MQDMPR 3.1.7.3.8 Expand Format Name."""

from __future__ import annotations

from collections import defaultdict

from harness.faults.parts import fault
from reference_qm.codec import FormatName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, SingleName
from reference_qm.core.names.queue_names import QueueNames


@fault("queue-manager-third-spelling-of-name-kept", breaks="MQDMPR-3.1.7.3.8-18", blind=True)
class QueueManagerThirdSpellingOfNameKept(QueueNames):
    """Of three names that differ only in the case of their letters, the queue manager removes only one."""

    def expand_format_name(self, text: str) -> FormatName | None:
        expanded = super().expand_format_name(text)
        name = None if expanded is None else parse_format_name(text)
        if not isinstance(name, MultipleElementName):
            return expanded
        spellings: defaultdict[str, list[SingleName]] = defaultdict(list)
        for element in name.Elements:
            spellings[str(element).lower()].append(element)
        kept: list[SingleName] = []
        for one in expanded.Elements if isinstance(expanded, MultipleElementName) else (expanded,):
            if one is not None:
                kept += spellings[str(one).lower()][::2] or [one]
        return kept[0] if len(kept) == 1 else MultipleElementName(tuple(kept))


@fault("queue-manager-list-with-one-queue-stays-several", breaks="MQDMPR-3.1.7.3.8-20", blind=True)
class QueueManagerListWithOneQueueStaysSeveral(QueueNames):
    """The expansion of a distribution list with a single queue is a format name of several queues."""

    def expand_format_name(self, text: str) -> FormatName | None:
        expanded = super().expand_format_name(text)
        if expanded is None or isinstance(expanded, MultipleElementName):
            return expanded
        listed = isinstance(parse_format_name(text), DistributionListName)
        return MultipleElementName((expanded,)) if listed else expanded
