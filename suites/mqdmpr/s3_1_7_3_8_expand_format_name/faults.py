"""Faults that break rules of MS-MQDMPR 3.1.7.3.8 Expand Format Name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, FormatName, PublicName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, SingleElementName
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import parse_format_name_of_command
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def _expand_without_sorting(text: str, key: Callable[[FormatName], str]) -> FormatName:
    """Expand a list of names without sorting it; keep only one of several names with the same key."""
    name = parse_format_name(text)
    if not isinstance(name, MultipleElementName):
        return name
    left = {key(one): one for one in name.Elements}
    elements = tuple(left[one] for one in sorted(left, key=str.lower))
    return elements[0] if len(elements) == 1 else MultipleElementName(elements)


@fault(
    "expanded-names-compared-with-regard-to-case",
    breaks=(
        *("MQDMPR-3.1.7.3.8-02", "MQDMPR-3.1.7.3.8-18"),
        *("MQDMPR-3.1.7.1.5-03", "MQDMPR-3.1.7.1.5-06"),
    ),
)
class ExpandedNamesComparedWithRegardToCase(QueueNames):
    """The queue manager treats names that differ only in case as different names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        return _expand_without_sorting(text, str)


@fault(
    "descriptor-of-several-queues-has-unexpanded-name",
    breaks=(
        *("MQDMPR-3.1.7.3.8-02", "MQDMPR-3.1.7.3.8-18"),
        *("MQDMPR-3.1.7.1.5-03", "MQDMPR-3.1.7.1.5-06"),
    ),
)
class DescriptorOfSeveralQueuesHasUnexpandedName(QueueOpening):
    """The descriptor for several queues has the original format name instead of the expanded format name."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if descriptor is not None and descriptor.Multiple:
            descriptor.FormatName = format_name
        return status, descriptor


@fault("name-that-is-element-and-list-member-expanded-twice", breaks="MQDMPR-3.1.7.3.8-02")
class NameThatIsElementAndListMemberExpandedTwice(QueueNames):
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


@fault("expanded-single-name-without-last-letter", breaks="MQDMPR-3.1.7.3.8-05")
class ExpandedSingleNameWithoutLastLetter(HigherLayerCommands):
    """The queue manager drops the last letter of a format name of a single queue."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        several = isinstance(parse_format_name_of_command(request.to), MultipleElementName)
        return super().send_message(request if several else replace(request, to=request.to[:-1]), token, now)


@fault("expansion-of-single-queue-fails", breaks="MQDMPR-3.1.7.3.8-06")
class ExpansionOfSingleQueueFails(HigherLayerCommands):
    """The queue manager fails to expand a format name of a single queue."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if not isinstance(parse_format_name_of_command(request.to), MultipleElementName):
            raise CommandError(f"{request.to!a} is not a distribution list")
        return super().send_message(request, token, now)


@fault("distribution-list-replaces-other-names", breaks="MQDMPR-3.1.7.3.8-08")
class DistributionListReplacesOtherNames(QueueNames):
    """When the queue manager expands a distribution list, the members of the list replace all names that were collected
    before.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        name = parse_format_name(text)
        elements = name.Elements if isinstance(name, MultipleElementName) else ()
        lists = [one for one in elements if isinstance(one, DistributionListName)]
        return super().expand_format_name(str(lists[-1]) if lists else text)


@fault("nested-distribution-list-not-expanded", breaks="MQDMPR-3.1.7.3.8-08")
class NestedDistributionListNotExpanded(QueueNames):
    """The queue manager ignores a distribution list that is an element of another distribution list."""

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        elements: list[SingleElementName] | None = super().resolve_distribution_list(name)
        return None if elements is None else [one for one in elements if not isinstance(one, DistributionListName)]


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


@fault("nested-distribution-list-dropped", breaks=("MQDMPR-3.1.7.3.8-08", "MQDMPR-3.1.7.3.8-16"))
class NestedDistributionListDropped(QueueNames):
    """The queue manager ignores a distribution list that is a member of another distribution list."""

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        members = super().resolve_distribution_list(name)
        return members and [one for one in members if not isinstance(one, DistributionListName)]


@fault("second-distribution-list-of-name-not-expanded", breaks="MQDMPR-3.1.7.3.8-08")
class SecondDistributionListOfNameNotExpanded(QueueNames):
    """The queue manager expands only the first of several distribution lists in a multiple-element format name."""

    def expand_format_name(self, text: str) -> FormatName | None:
        self.lists = 0
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        self.lists = getattr(self, "lists", 0) + 1
        return super().resolve_distribution_list(name) if self.lists == 1 else []


@fault("distribution-list-expanded-only-beside-other-names", breaks="MQDMPR-3.1.7.3.8-09")
class DistributionListExpandedOnlyBesideOtherNames(QueueNames):
    """The queue manager expands a distribution list only as an element of a multiple-element format name."""

    def expand_format_name(self, text: str) -> FormatName | None:
        return None if isinstance(parse_format_name(text), DistributionListName) else super().expand_format_name(text)


def _change_expanded_names_of_several_queues(change: Callable[[MultipleElementName], FormatName | None]) -> Install:
    """Build a fault that changes the expansion of a format name of several queues."""

    class ExpandedListChanger(QueueNames):
        def expand_format_name(self, text: str) -> FormatName | None:
            name = super().expand_format_name(text)
            return change(name) if isinstance(name, MultipleElementName) else name

    return replace_part(ExpandedListChanger)


def _build_element_name(elements: Iterable[FormatName]) -> MultipleElementName:
    return MultipleElementName(tuple(elements))  # type: ignore[arg-type]


add(
    "expanded-name-without-last-element",
    ("MQDMPR-3.1.7.3.8-10", "MQDMPR-3.1.7.1.5-24"),
    "The queue manager drops the last element of a multiple-element format name.",
    _change_expanded_names_of_several_queues(lambda name: _build_element_name(name.Elements[:-1])),
)


@fault("queue-manager-third-element-of-format-name-ignored", breaks="MQDMPR-3.1.7.3.8-10")
class QueueManagerThirdElementOfFormatNameIgnored(QueueNames):
    """The queue manager expands a multiple-element format name to at most two names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        return MultipleElementName(found.Elements[:2]) if isinstance(found, MultipleElementName) else found


ListMemberNames = list[SingleElementName] | None


@fault(
    "distribution-list-first-member-only",
    breaks=("MQDMPR-3.1.7.3.8-13", "MQDMPR-3.1.7.3.8-16"),
)
class DistributionListFirstMemberOnly(QueueNames):
    """The queue manager expands a distribution list to its first member."""

    def resolve_distribution_list(self, name: DistributionListName) -> ListMemberNames:
        listed = super().resolve_distribution_list(name)
        return None if listed is None else listed[:1]


@fault("nested-distribution-list-ignored", breaks=("MQDMPR-3.1.7.3.8-13", "MQDMPR-3.1.7.3.8-16"))
class NestedDistributionListIgnored(QueueNames):
    """The queue manager ignores distribution lists within a distribution list."""

    def resolve_distribution_list(self, name: DistributionListName) -> ListMemberNames:
        listed = super().resolve_distribution_list(name)
        return None if listed is None else [one for one in listed if isinstance(one, PublicName)]


@fault("members-of-distribution-list-cached", breaks="MQDMPR-3.1.7.3.8-13")
class MembersOfDistributionListCached(QueueNames):
    """The queue manager reads a distribution list only once, and keeps the members that this read returned."""

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        known: dict[DistributionListName, list[SingleElementName] | None] = self.__dict__.setdefault("known", {})
        if name not in known:
            known[name] = super().resolve_distribution_list(name)
        return known[name]


@fault(
    "distribution-list-without-directory-empty", breaks=("MQDMPR-3.1.7.3.8-15", "MQDMPR-3.1.7.1.5-05", "MQMQ-2.1.7-D02")
)
class DistributionListWithoutDirectoryEmpty(QueueNames):
    """The queue manager treats a distribution list as empty when it cannot query the directory."""

    def resolve_distribution_list(self, name: DistributionListName) -> ListMemberNames:
        return super().resolve_distribution_list(name) or []


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


@fault("unresolvable-distribution-list-beside-queues-ignored", breaks="MQDMPR-3.1.7.3.8-15")
class UnresolvableDistributionListBesideQueuesIgnored(QueueNames):
    """The queue manager ignores a distribution list that it cannot resolve if the format name contains further
    elements.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        self.alone = "," not in text
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        members = super().resolve_distribution_list(name)
        return [] if members is None and not getattr(self, "alone", True) else members


@fault("queue-manager-distribution-list-in-list-ignored", breaks="MQDMPR-3.1.7.3.8-16")
class QueueManagerDistributionListInListIgnored(QueueNames):
    """The queue manager ignores a distribution list that is a member of a distribution list."""

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        listed = super().resolve_distribution_list(name)
        return None if listed is None else [one for one in listed if not isinstance(one, DistributionListName)]


@fault("queue-manager-expansion-with-list-drops-private-and-direct-names", breaks="MQDMPR-3.1.7.3.8-16", blind=True)
class QueueManagerExpansionWithListDropsPrivateAndDirectNames(QueueNames):
    """When a format name contains a distribution list, the expansion drops its private and direct names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if "DL=" in text.upper() and isinstance(found, MultipleElementName):
            kept = tuple(one for one in found.Elements if not str(one).upper().startswith("PRIVATE"))
            if len(kept) > 1:
                return MultipleElementName(kept)
        return found


add(
    "expanded-name-sorted-descending",
    "MQDMPR-3.1.7.3.8-17",
    "The queue manager sorts the names of an expanded format name in descending order.",
    _change_expanded_names_of_several_queues(lambda name: _build_element_name(reversed(name.Elements))),
)


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


@fault("queue-manager-three-identical-names-expanded-to-two", breaks="MQDMPR-3.1.7.3.8-18", blind=True)
class QueueManagerThreeIdenticalNamesExpandedToTwo(QueueNames):
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


@fault("expansion-to-one-name-still-treated-as-several-queues", breaks="MQDMPR-3.1.7.3.8-20")
class ExpansionToOneNameStillTreatedAsSeveralQueues(QueueNames):
    """When the expansion of a format name leaves one name, the queue manager still treats it as a format name of
    several queues.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        listed = isinstance(parse_format_name(text), MultipleElementName)
        return MultipleElementName((name,)) if listed and not isinstance(name, MultipleElementName) else name  # type: ignore[arg-type]


@fault("expansion-to-single-name-fails", breaks="MQDMPR-3.1.7.3.8-21")
class ExpansionToSingleNameFails(QueueNames):
    """The queue manager refuses a format name if its expansion leaves only one name."""

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        listed = isinstance(parse_format_name(text), MultipleElementName)
        return name if isinstance(name, MultipleElementName) or not listed else None


add(
    "expansion-of-three-queues-fails",
    "MQDMPR-3.1.7.3.8-24",
    "The queue manager fails to expand a format name of more than two queues.",
    _change_expanded_names_of_several_queues(lambda name: name if len(name.Elements) < 3 else None),
)


@fault("queue-manager-expansion-keeps-third-case-variant-of-name", breaks="MQDMPR-3.1.7.3.8-18", blind=True)
class QueueManagerExpansionKeepsThirdCaseVariantOfName(QueueNames):
    """Of three names that differ only in the case of their letters, the queue manager removes only one."""

    def expand_format_name(self, text: str) -> FormatName | None:
        expanded = super().expand_format_name(text)
        name = None if expanded is None else parse_format_name(text)
        if not isinstance(name, MultipleElementName):
            return expanded
        spellings: defaultdict[str, list[SingleElementName]] = defaultdict(list)
        for element in name.Elements:
            spellings[str(element).lower()].append(element)
        kept: list[SingleElementName] = []
        for one in expanded.Elements if isinstance(expanded, MultipleElementName) else (expanded,):
            if one is not None:
                kept += spellings[str(one).lower()][::2] or [one]
        return kept[0] if len(kept) == 1 else MultipleElementName(tuple(kept))


@fault("queue-manager-expands-one-member-list-to-multiple-element-name", breaks="MQDMPR-3.1.7.3.8-20", blind=True)
class QueueManagerExpandsOneMemberListToMultipleElementName(QueueNames):
    """The expansion of a distribution list with a single queue is a format name of several queues."""

    def expand_format_name(self, text: str) -> FormatName | None:
        expanded = super().expand_format_name(text)
        if expanded is None or isinstance(expanded, MultipleElementName):
            return expanded
        listed = isinstance(parse_format_name(text), DistributionListName)
        return MultipleElementName((expanded,)) if listed else expanded


@fault("queue-manager-unresolved-nested-list-skipped", breaks="MQDMPR-3.1.7.3.8-15", blind=True)
class QueueManagerUnresolvedNestedListSkipped(QueueNames):
    """The queue manager skips a distribution list that it cannot resolve if the list is a member of another list."""

    def expand_format_name(self, text: str) -> FormatName | None:
        self.__dict__["text"] = text.lower()
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        listed = super().resolve_distribution_list(name)
        is_nested = str(name.DistributionListGuid) not in self.__dict__.get("text", "")
        return [] if listed is None and is_nested else listed
