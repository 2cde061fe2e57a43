"""Faults that break the rules MQDMPR-3.1.7.3.8-10 to MQDMPR-3.1.7.3.8-20 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName, PrivateName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, SingleElementName
from reference_qm.core.names.queue_names import QueueNames


class _ExpansionChanger(QueueNames):
    """Change the names of an expanded format name."""

    def change_expanded_names(
        self, given: FormatName, names: tuple[SingleElementName, ...]
    ) -> tuple[SingleElementName, ...]:
        """Return the names of the expanded format name."""
        return names

    def expand_format_name(self, text: str) -> FormatName | None:
        expanded = super().expand_format_name(text)
        if not isinstance(expanded, MultipleElementName):
            return expanded
        return MultipleElementName(self.change_expanded_names(parse_format_name(text), expanded.Elements))


@fault("queue-manager-expansion-with-list-omits-private-names", breaks="MQDMPR-3.1.7.3.8-10", blind=True)
class QueueManagerExpansionWithListOmitsPrivateNames(_ExpansionChanger):
    """If a multiple-element format name contains a distribution list, the expansion omits private format names."""

    def change_expanded_names(
        self, given: FormatName, names: tuple[SingleElementName, ...]
    ) -> tuple[SingleElementName, ...]:
        listed = isinstance(given, MultipleElementName) and any(
            isinstance(one, DistributionListName) for one in given.Elements
        )
        kept = tuple(one for one in names if not isinstance(one, PrivateName))
        return kept if listed and kept else names


@fault("queue-manager-expansion-omits-third-name", breaks="MQDMPR-3.1.7.3.8-10", blind=True)
class QueueManagerExpansionOmitsThirdName(_ExpansionChanger):
    """The expansion of a format name with more than two names has only the first two names."""

    def change_expanded_names(
        self, given: FormatName, names: tuple[SingleElementName, ...]
    ) -> tuple[SingleElementName, ...]:
        return names[:2]


@fault("queue-manager-expansion-omits-names-of-own-computer", breaks="MQDMPR-3.1.7.3.8-10", blind=True)
class QueueManagerExpansionOmitsNamesOfOwnComputer(_ExpansionChanger):
    """If a format name also contains the names of remote queues, its expansion omits the names of local queues."""

    def change_expanded_names(
        self, given: FormatName, names: tuple[SingleElementName, ...]
    ) -> tuple[SingleElementName, ...]:
        return tuple(one for one in names if not self.is_queue_on_this_computer(one)) or names


@fault("queue-manager-sorts-expanded-names-case-sensitively", breaks="MQDMPR-3.1.7.3.8-17", blind=True)
class QueueManagerSortsExpandedNamesCaseSensitively(_ExpansionChanger):
    """The names of an expanded format name are sorted in a case-sensitive order."""

    def change_expanded_names(
        self, given: FormatName, names: tuple[SingleElementName, ...]
    ) -> tuple[SingleElementName, ...]:
        return tuple(sorted(names, key=str))


@fault("queue-manager-sorts-expanded-distribution-list-backwards", breaks="MQDMPR-3.1.7.3.8-17", blind=True)
class QueueManagerSortsExpandedDistributionListBackwards(_ExpansionChanger):
    """The expanded names of a distribution list are sorted backwards."""

    def change_expanded_names(
        self, given: FormatName, names: tuple[SingleElementName, ...]
    ) -> tuple[SingleElementName, ...]:
        return names[::-1] if isinstance(given, DistributionListName) else names


@fault("queue-manager-expansion-puts-direct-names-last", breaks="MQDMPR-3.1.7.3.8-17", blind=True)
class QueueManagerExpansionPutsDirectNamesLast(_ExpansionChanger):
    """The direct names of an expanded format name follow all other names."""

    def change_expanded_names(
        self, given: FormatName, names: tuple[SingleElementName, ...]
    ) -> tuple[SingleElementName, ...]:
        return tuple(sorted(names, key=lambda one: str(one).upper().startswith("DIRECT=")))


class _SingleNameListKeeper(QueueNames):
    """If only a single name remains after an expansion, keep it in the form of a multiple-element format name."""

    def is_name_list_kept(self, given: FormatName) -> bool:
        """Return whether the expansion of a format name to a single name stays a list."""
        return False

    def expand_format_name(self, text: str) -> FormatName | None:
        expanded, given = super().expand_format_name(text), parse_format_name(text)
        if expanded is None or isinstance(expanded, MultipleElementName) or not self.is_name_list_kept(given):
            return expanded
        return MultipleElementName((expanded,))


@fault("queue-manager-expansion-of-one-member-list-stays-multiple-element", breaks="MQDMPR-3.1.7.3.8-20", blind=True)
class QueueManagerExpansionOfOneMemberListStaysMultipleElement(_SingleNameListKeeper):
    """The expansion of a distribution list with a single queue stays a multiple-element format name."""

    def is_name_list_kept(self, given: FormatName) -> bool:
        return isinstance(given, DistributionListName)


@fault("queue-manager-three-equal-names-expanded-to-list", breaks="MQDMPR-3.1.7.3.8-20", blind=True)
class QueueManagerThreeEqualNamesExpandedToList(_SingleNameListKeeper):
    """The expansion of three identical names stays a multiple-element format name."""

    def is_name_list_kept(self, given: FormatName) -> bool:
        return isinstance(given, MultipleElementName) and len(given.Elements) > 2


@fault("queue-manager-expansion-of-case-variants-stays-multiple-element", breaks="MQDMPR-3.1.7.3.8-20", blind=True)
class QueueManagerExpansionOfCaseVariantsStaysMultipleElement(_SingleNameListKeeper):
    """The expansion of names that differ only in the case of their letters stays a multiple-element format name."""

    def is_name_list_kept(self, given: FormatName) -> bool:
        return isinstance(given, MultipleElementName) and len({str(one) for one in given.Elements}) > 1
