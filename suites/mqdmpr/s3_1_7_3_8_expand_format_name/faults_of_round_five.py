"""Faults of the fifth round that break rules of MS-MQDMPR 3.1.7.3.8 Expand Format Name."""

from __future__ import annotations

from collections import Counter

from harness.faults.parts import fault
from reference_qm.codec import FormatName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, SingleElementName
from reference_qm.core.names.queue_names import QueueNames


@fault("sender-member-of-two-distribution-lists-twice-in-expanded-name", breaks="MQDMPR-3.1.7.3.8-02", blind=True)
class SenderMemberOfTwoDistributionListsTwiceInExpandedName(QueueNames):
    """The sender removes duplicate names only within each distribution list, so that a queue in two lists of a format
    name is in the expanded format name twice.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        expanded = super().expand_format_name(text)
        given = None if expanded is None else parse_format_name(text)
        if expanded is None or not isinstance(given, MultipleElementName):
            return expanded
        times: Counter[str] = Counter()
        for element in given.Elements:
            if isinstance(element, DistributionListName):
                times.update(_list_names(super().expand_format_name(str(element))))
        elements: list[SingleElementName] = []
        for one in expanded.Elements if isinstance(expanded, MultipleElementName) else (expanded,):
            elements += [one] * max(1, times[str(one).lower()])
        return expanded if len(elements) == 1 else MultipleElementName(tuple(elements))


def _list_names(name: FormatName | None) -> list[str]:
    if name is None:
        return []
    return [str(one).lower() for one in (name.Elements if isinstance(name, MultipleElementName) else (name,))]
