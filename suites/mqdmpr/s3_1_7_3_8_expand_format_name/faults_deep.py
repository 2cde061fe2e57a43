"""Faults of MS-MQDMPR 3.1.7.3.8 Expand Format Name that only special cases reveal: several lists, nested lists, and
names in several lists.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError, FormatName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, SingleName
from reference_qm.core.names.queue_names import QueueNames


@fault("queue-manager-second-distribution-list-ignored", breaks="MQDMPR-3.1.7.3.8-08")
class QueueManagerSecondDistributionListIgnored(QueueNames):
    """The queue manager resolves only the first distribution list of a multiple-element format name."""

    def expand_format_name(self, text: str) -> FormatName | None:
        try:
            name = parse_format_name(text)
        except FormatError:
            return None
        if isinstance(name, MultipleElementName):
            lists = [one for one in name.Elements if isinstance(one, DistributionListName)]
            kept = tuple(one for one in name.Elements if one not in lists[1:])
            text = str(kept[0]) if len(kept) == 1 else str(MultipleElementName(kept))
        return super().expand_format_name(text)


@fault("queue-manager-unresolved-list-beside-names-ignored", breaks="MQDMPR-3.1.7.3.8-15")
class QueueManagerUnresolvedListBesideNamesIgnored(QueueNames):
    """If a format name has other elements, the queue manager ignores a distribution list that it cannot resolve."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if found is not None:
            return found
        try:
            name = parse_format_name(text)
        except FormatError:
            return None
        if not isinstance(name, MultipleElementName):
            return None
        kept = tuple(one for one in name.Elements if not isinstance(one, DistributionListName))
        return (kept[0] if len(kept) == 1 else MultipleElementName(kept)) if kept else None


@fault("queue-manager-list-in-list-not-resolved", breaks="MQDMPR-3.1.7.3.8-16")
class QueueManagerListInListNotResolved(QueueNames):
    """The queue manager ignores a distribution list that is a member of a distribution list."""

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleName] | None:
        listed = super().resolve_distribution_list(name)
        return None if listed is None else [one for one in listed if not isinstance(one, DistributionListName)]


@fault("queue-manager-third-element-of-format-name-ignored", breaks="MQDMPR-3.1.7.3.8-10")
class QueueManagerThirdElementOfFormatNameIgnored(QueueNames):
    """The queue manager expands a multiple-element format name to at most two names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        return MultipleElementName(found.Elements[:2]) if isinstance(found, MultipleElementName) else found


@fault("queue-manager-names-sorted-with-regard-to-case", breaks="MQDMPR-3.1.7.3.8-17")
class QueueManagerNamesSortedWithRegardToCase(QueueNames):
    """The queue manager sorts the names of an expanded format name by their bytes, so capital letters precede small
    letters.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if not isinstance(found, MultipleElementName):
            return found
        return MultipleElementName(tuple(sorted(found.Elements, key=str)))


@fault("queue-manager-element-twice-in-different-case-kept", breaks="MQDMPR-3.1.7.3.8-18", blind=True)
class QueueManagerElementTwiceInDifferentCaseKept(QueueNames):
    """When a format name contains three identical names, the queue manager keeps two of them."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        try:
            name = parse_format_name(text)
        except FormatError:
            return found
        if isinstance(name, MultipleElementName) and isinstance(found, MultipleElementName):
            folded = [str(one).lower() for one in name.Elements]
            triple = [one for one in found.Elements if folded.count(str(one).lower()) > 2]
            return MultipleElementName((*found.Elements, *triple))
        return found


@fault("queue-manager-list-in-list-in-list-not-resolved", breaks="MQDMPR-3.1.7.3.8-16", blind=True)
class QueueManagerListInListInListNotResolved(QueueNames):
    """When a format name contains a distribution list, the expansion drops its private and direct names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if "DL=" in text.upper() and isinstance(found, MultipleElementName):
            kept = tuple(one for one in found.Elements if not str(one).upper().startswith("PRIVATE"))
            if len(kept) > 1:
                return MultipleElementName(kept)
        return found


@fault("nested-distribution-list-dropped", breaks=("MQDMPR-3.1.7.3.8-08", "MQDMPR-3.1.7.3.8-16"))
class NestedDistributionListDropped(QueueNames):
    """The queue manager ignores a distribution list that is a member of another distribution list."""

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleName] | None:
        members = super().resolve_distribution_list(name)
        return members and [one for one in members if not isinstance(one, DistributionListName)]


@fault("second-distribution-list-of-name-not-expanded", breaks="MQDMPR-3.1.7.3.8-08")
class SecondDistributionListOfNameNotExpanded(QueueNames):
    """The queue manager expands only the first of several distribution lists in a multiple-element format name."""

    def expand_format_name(self, text: str) -> FormatName | None:
        self.lists = 0
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleName] | None:
        self.lists = getattr(self, "lists", 0) + 1
        return super().resolve_distribution_list(name) if self.lists == 1 else []


@fault("unresolvable-distribution-list-beside-queues-ignored", breaks="MQDMPR-3.1.7.3.8-15")
class UnresolvableDistributionListBesideQueuesIgnored(QueueNames):
    """The queue manager ignores a distribution list that it cannot resolve if the format name contains further
    elements.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        self.alone = "," not in text
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleName] | None:
        members = super().resolve_distribution_list(name)
        return [] if members is None and not getattr(self, "alone", True) else members


@fault("duplicate-of-list-member-and-element-kept", breaks="MQDMPR-3.1.7.3.8-02")
class DuplicateOfListMemberAndElementKept(QueueNames):
    """The queue manager keeps an element of a format name twice if the element is also a member of a distribution list
    of this format name.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if isinstance(found, MultipleElementName) and "DL=" in text.upper():
            listed = {one.strip().lower() for one in text.split(",")}
            again = tuple(one for one in found.Elements if str(one).lower() in listed)
            return MultipleElementName((*found.Elements, *again))
        return found


@fault("members-of-distribution-list-cached", breaks="MQDMPR-3.1.7.3.8-13")
class MembersOfDistributionListCached(QueueNames):
    """The queue manager does not read a distribution list again: it keeps the members that the first read returned."""

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleName] | None:
        known = getattr(self, "known", {})
        if name not in known:
            self.known = known | {name: super().resolve_distribution_list(name)}
        return self.known[name]
