"""Faults that break rules of MS-MQDMPR 3.1.7.3.8 only for some format names or some expansions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FormatName, PrivateName, PublicName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, SingleElementName
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import parse_format_name_of_command
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-expands-private-name-to-name-of-next-queue", breaks="MQDMPR-3.1.7.3.8-05")
class QueueManagerExpandsPrivateNameToNameOfNextQueue(QueueNames):
    """The queue manager expands the private format name of a single queue to the name of the next private queue."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        return replace(found, QueueIdentifier=found.QueueIdentifier + 1) if isinstance(found, PrivateName) else found


@fault("queue-manager-expands-second-name-of-host-to-first-name", breaks="MQDMPR-3.1.7.3.8-05")
class QueueManagerExpandsSecondNameOfHostToFirstName(HigherLayerCommands):
    """When the queue manager expands the format name of a second queue on a host, it returns the format name of the
    first queue.
    """

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        host, separator, _ = request.to.partition("\\")
        if not separator or "," in request.to:
            return super().send_message(request, token, now)
        first: dict[str, str] = self.__dict__.setdefault("first", {})
        return super().send_message(replace(request, to=first.setdefault(host, request.to)), token, now)


@fault("queue-manager-expansion-of-single-private-name-fails", breaks="MQDMPR-3.1.7.3.8-06")
class QueueManagerExpansionOfSinglePrivateNameFails(HigherLayerCommands):
    """The queue manager fails to expand a private format name, but expands direct names."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if isinstance(parse_format_name_of_command(request.to), PrivateName):
            raise CommandError(f"{request.to!a} cannot be expanded")
        return super().send_message(request, token, now)


@fault("queue-manager-second-expansion-of-single-name-fails", breaks="MQDMPR-3.1.7.3.8-06")
class QueueManagerSecondExpansionOfSingleNameFails(HigherLayerCommands):
    """The queue manager fails to expand a format name of a single queue that was expanded before."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        known: set[str] = self.__dict__.setdefault("known", set())
        if "," not in request.to and request.to in known:
            raise CommandError(f"{request.to!a} cannot be expanded again")
        known.add(request.to)
        return super().send_message(request, token, now)


@fault("queue-manager-expansion-of-single-host-name-fails", breaks="MQDMPR-3.1.7.3.8-06")
class QueueManagerExpansionOfSingleHostNameFails(HigherLayerCommands):
    """The queue manager fails to expand a direct format name of a single queue with the protocol OS."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.to.upper().startswith("DIRECT=OS:") and "," not in request.to:
            raise CommandError(f"{request.to!a} cannot be expanded")
        return super().send_message(request, token, now)


@fault("queue-manager-expansion-of-single-nested-distribution-list-fails", breaks="MQDMPR-3.1.7.3.8-09")
class QueueManagerExpansionOfSingleNestedDistributionListFails(QueueNames):
    """The queue manager fails to expand a format name that is only a distribution list if a member is a distribution
    list.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        name = parse_format_name(text)
        if isinstance(name, DistributionListName):
            listed = self.resolve_distribution_list(name) or []
            if any(isinstance(one, DistributionListName) for one in listed):
                return None
        return super().expand_format_name(text)


@fault("queue-manager-expansion-of-single-list-omits-later-members", breaks="MQDMPR-3.1.7.3.8-09")
class QueueManagerExpansionOfSingleListOmitsLaterMembers(QueueNames):
    """The queue manager expands a format name that is only a distribution list to at most two names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        alone = isinstance(parse_format_name(text), DistributionListName)
        return MultipleElementName(found.Elements[:2]) if alone and isinstance(found, MultipleElementName) else found


@fault("queue-manager-expansion-of-single-list-with-one-member-fails", breaks="MQDMPR-3.1.7.3.8-09")
class QueueManagerExpansionOfSingleListWithOneMemberFails(QueueNames):
    """The queue manager fails to expand a format name that is only a distribution list with one member."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        alone = isinstance(parse_format_name(text), DistributionListName)
        return None if alone and not isinstance(found, MultipleElementName) else found


@fault("queue-manager-expansion-of-three-equal-names-fails", breaks="MQDMPR-3.1.7.3.8-21")
class QueueManagerExpansionOfThreeEqualNamesFails(QueueNames):
    """The expansion of a format name fails if the name repeats a single queue three times."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        return None if text.count(",") > 1 and not isinstance(found, MultipleElementName) else found


@fault("queue-manager-expansion-of-distribution-list-to-single-name-fails", breaks="MQDMPR-3.1.7.3.8-21")
class QueueManagerExpansionOfDistributionListToSingleNameFails(QueueNames):
    """The expansion of a format name with a distribution list fails if a single name remains."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        return None if "DL=" in text.upper() and not isinstance(found, MultipleElementName) else found


@fault("queue-manager-expansion-of-equal-names-in-other-case-fails", breaks="MQDMPR-3.1.7.3.8-21")
class QueueManagerExpansionOfEqualNamesInOtherCaseFails(QueueNames):
    """The expansion of a format name fails if its elements differ only in the case of their letters."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        name = parse_format_name(text)
        if isinstance(name, MultipleElementName) and not isinstance(found, MultipleElementName):
            return found if len({str(one) for one in name.Elements}) == 1 else None
        return found


@fault("queue-manager-expansion-omits-names-between-first-and-last", breaks="MQDMPR-3.1.7.3.8-23")
class QueueManagerExpansionOmitsNamesBetweenFirstAndLast(QueueNames):
    """An expansion to more than two names contains only the first and the last of these names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if isinstance(found, MultipleElementName) and len(found.Elements) > 2:
            return MultipleElementName((found.Elements[0], found.Elements[-1]))
        return found


@fault("queue-manager-expansion-to-mixed-names-omits-direct-names", breaks="MQDMPR-3.1.7.3.8-23")
class QueueManagerExpansionToMixedNamesOmitsDirectNames(QueueNames):
    """An expansion to names of several kinds contains only the names that are not direct format names."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if isinstance(found, MultipleElementName):
            kept = tuple(one for one in found.Elements if isinstance(one, PrivateName | PublicName))
            if 0 < len(kept) < len(found.Elements):
                return kept[0] if len(kept) == 1 else MultipleElementName(kept)
        return found


@fault("queue-manager-repeated-expansion-returns-first-result", breaks="MQDMPR-3.1.7.3.8-23")
class QueueManagerRepeatedExpansionReturnsFirstResult(QueueNames):
    """If a format name of several queues begins with the same name as an earlier format name, its expansion contains
    the names of the earlier expansion.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if not isinstance(found, MultipleElementName):
            return found
        known: dict[SingleElementName, FormatName] = self.__dict__.setdefault("known", {})
        return known.setdefault(found.Elements[0], found)


@fault("queue-manager-expansion-to-three-names-fails", breaks="MQDMPR-3.1.7.3.8-24")
class QueueManagerExpansionToThreeNamesFails(QueueNames):
    """The expansion of a format name fails if more than two names remain."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        return None if isinstance(found, MultipleElementName) and len(found.Elements) > 2 else found


@fault("queue-manager-expansion-of-local-and-remote-names-fails", breaks="MQDMPR-3.1.7.3.8-24")
class QueueManagerExpansionOfLocalAndRemoteNamesFails(QueueNames):
    """The expansion of a format name fails if the queues belong to this queue manager and to another queue manager."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if isinstance(found, MultipleElementName):
            here = {self.is_queue_on_this_computer(one) for one in found.Elements}
            return None if len(here) == 2 else found
        return found


@fault("queue-manager-second-expansion-to-several-names-fails", breaks="MQDMPR-3.1.7.3.8-24")
class QueueManagerSecondExpansionToSeveralNamesFails(QueueNames):
    """The expansion of a format name to several names fails if the same name was expanded before."""

    def expand_format_name(self, text: str) -> FormatName | None:
        found = super().expand_format_name(text)
        if not isinstance(found, MultipleElementName):
            return found
        known: set[str] = self.__dict__.setdefault("known", set())
        again = text in known
        known.add(text)
        return None if again else found
