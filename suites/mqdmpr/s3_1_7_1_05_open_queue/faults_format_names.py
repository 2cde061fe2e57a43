"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue about format names."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName
from reference_qm.codec.format_names import (
    DistributionListName,
    MachineName,
    MultipleElementName,
    SingleElementName,
)
from reference_qm.core.names.destination_resolving import parse_format_name_of_command
from reference_qm.core.names.queue_formats import QueueFormatType
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import PEEK_ACCESSES, OpenQueueResult, QueueOpening
from reference_qm.core.remote.qmcomm_methods import (
    QUEUE_ACCESS_TYPE_BY_DESIRED_ACCESS,
    QUEUE_SHARE_MODE_BY_WIRE_VALUE,
    QmcommMethods,
)
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

SEND_ACCESS, RECEIVE_ACCESS = QueueAccessType.SEND, QueueAccessType.RECEIVE


class ExpandedNameChanger(QueueNames):
    """Change the queues of an expanded format name."""

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        asked = None if name is None else parse_format_name_of_command(text)
        if name is None or not isinstance(asked, MultipleElementName | DistributionListName):
            return name
        expanded = name.Elements if isinstance(name, MultipleElementName) else (name,)
        elements = self.change_opened_queues(expanded, asked)
        return elements[0] if len(elements) == 1 else MultipleElementName(tuple(elements))

    def change_opened_queues(
        self, expanded: tuple[SingleElementName, ...], asked: MultipleElementName | DistributionListName
    ) -> list[SingleElementName]:
        """Return the queues that the queue manager opens for the format name."""
        raise NotImplementedError


@fault("queue-manager-name-repeated-in-other-case-opened-twice", breaks="MQDMPR-3.1.7.1.5-03", blind=True)
class QueueManagerNameRepeatedInOtherCaseOpenedTwice(ExpandedNameChanger):
    """The queue manager opens a queue twice if a format name contains the queue in capital and in small letters."""

    def change_opened_queues(
        self, expanded: tuple[SingleElementName, ...], asked: MultipleElementName | DistributionListName
    ) -> list[SingleElementName]:
        names = {str(one): one for one in (asked.Elements if isinstance(asked, MultipleElementName) else ())}
        written = {text.lower() for text in names}
        return [*expanded, *list(names.values())[len(written) :]] if len(written) < len(names) else list(expanded)


@fault("queue-manager-name-repeated-with-others-between-opened-twice", breaks="MQDMPR-3.1.7.1.5-03", blind=True)
class QueueManagerNameRepeatedWithOthersBetweenOpenedTwice(ExpandedNameChanger):
    """The queue manager opens a queue twice if a format name contains the queue twice with another queue between."""

    def change_opened_queues(
        self, expanded: tuple[SingleElementName, ...], asked: MultipleElementName | DistributionListName
    ) -> list[SingleElementName]:
        if not isinstance(asked, MultipleElementName) or any(
            isinstance(one, DistributionListName) for one in asked.Elements
        ):
            return list(expanded)
        kept: list[SingleElementName] = []
        for one in asked.Elements:
            if not kept or str(kept[-1]).lower() != str(one).lower():
                kept.append(one)
        return kept


@fault("queue-manager-member-of-distribution-list-opened-twice", breaks="MQDMPR-3.1.7.1.5-03", blind=True)
class QueueManagerMemberOfDistributionListOpenedTwice(ExpandedNameChanger):
    """The queue manager opens a queue twice if a format name contains the queue and a distribution list with it."""

    def change_opened_queues(
        self, expanded: tuple[SingleElementName, ...], asked: MultipleElementName | DistributionListName
    ) -> list[SingleElementName]:
        asked_elements = asked.Elements if isinstance(asked, MultipleElementName) else ()
        lists = [one for one in asked_elements if isinstance(one, DistributionListName)]
        members = {str(each).lower() for one in lists for each in self.resolve_distribution_list(one) or ()}
        return [*expanded, *(one for one in asked_elements if str(one).lower() in members)]


@fault("queue-manager-last-queue-of-expanded-name-not-opened", breaks="MQDMPR-3.1.7.1.5-06", blind=True)
class QueueManagerLastQueueOfExpandedNameNotOpened(ExpandedNameChanger):
    """The queue manager does not open the last queue of a format name that contains more than two queues."""

    def change_opened_queues(
        self, expanded: tuple[SingleElementName, ...], asked: MultipleElementName | DistributionListName
    ) -> list[SingleElementName]:
        return list(expanded[:-1] if len(expanded) > 2 else expanded)


@fault("queue-manager-second-distribution-list-of-name-not-opened", breaks="MQDMPR-3.1.7.1.5-06", blind=True)
class QueueManagerSecondDistributionListOfNameNotOpened(ExpandedNameChanger):
    """The queue manager does not open the queues of a second distribution list in a format name."""

    def change_opened_queues(
        self, expanded: tuple[SingleElementName, ...], asked: MultipleElementName | DistributionListName
    ) -> list[SingleElementName]:
        asked_elements = asked.Elements if isinstance(asked, MultipleElementName) else ()
        lists = [one for one in asked_elements if isinstance(one, DistributionListName)][1:]
        members = {str(each).lower() for one in lists for each in self.resolve_distribution_list(one) or ()}
        return [one for one in expanded if str(one).lower() not in members]


@fault("queue-manager-name-beside-distribution-list-not-opened", breaks="MQDMPR-3.1.7.1.5-06", blind=True)
class QueueManagerNameBesideDistributionListNotOpened(ExpandedNameChanger):
    """The queue manager opens only the members of a distribution list, not the other queues of the format name."""

    def change_opened_queues(
        self, expanded: tuple[SingleElementName, ...], asked: MultipleElementName | DistributionListName
    ) -> list[SingleElementName]:
        asked_elements = asked.Elements if isinstance(asked, MultipleElementName) else ()
        lists = [one for one in asked_elements if isinstance(one, DistributionListName)]
        members = {str(each).lower() for one in lists for each in self.resolve_distribution_list(one) or ()}
        return [one for one in expanded if not members or str(one).lower() in members]


class RefusedNameOpener(QueueOpening):
    """When an application opens a format name that must be refused, open the first local queue instead."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        name = self.qm.queue_names.expand_format_name(format_name)
        if name is not None and self.is_name_opened(name, required_access, shared_mode):
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)

    def is_name_opened(self, name: FormatName, access: QueueAccessType, share: QueueShareMode) -> bool:
        """Return whether the queue manager opens the format name."""
        raise NotImplementedError


@fault("queue-manager-https-name-opened-to-read", breaks="MQDMPR-3.1.7.1.5-38", blind=True)
class QueueManagerHttpsNameOpenedToRead(RefusedNameOpener):
    """The queue manager opens a direct format name with HTTPS to receive."""

    def is_name_opened(self, name: FormatName, access: QueueAccessType, share: QueueShareMode) -> bool:
        return access is RECEIVE_ACCESS and getattr(name, "Protocol", "") == "HTTPS"


@fault("queue-manager-http-name-of-this-computer-opened-to-read", breaks="MQDMPR-3.1.7.1.5-38", blind=True)
class QueueManagerHttpNameOfThisComputerOpenedToRead(RefusedNameOpener):
    """The queue manager opens a direct format name with HTTP to read if the host is the local computer."""

    def is_name_opened(self, name: FormatName, access: QueueAccessType, share: QueueShareMode) -> bool:
        by_http = getattr(name, "Protocol", "") in ("HTTP", "HTTPS")
        return by_http and access is not SEND_ACCESS and self.qm.queue_names.is_queue_on_this_computer(name)


@fault("queue-manager-http-name-opened-to-read-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-38", blind=True)
class QueueManagerHttpNameOpenedToReadWithDenyReceive(RefusedNameOpener):
    """The queue manager opens a direct format name with HTTP to read with DenyReceive."""

    def is_name_opened(self, name: FormatName, access: QueueAccessType, share: QueueShareMode) -> bool:
        by_http = getattr(name, "Protocol", "") in ("HTTP", "HTTPS")
        return by_http and access is not SEND_ACCESS and share is QueueShareMode.DENY_RECEIVE


@fault("queue-manager-machine-name-of-other-computer-opened-to-send", breaks="MQDMPR-3.1.7.1.5-42", blind=True)
class QueueManagerMachineNameOfOtherComputerOpenedToSend(RefusedNameOpener):
    """The queue manager opens the machine format name of another queue manager for sending."""

    def is_name_opened(self, name: FormatName, access: QueueAccessType, share: QueueShareMode) -> bool:
        return (
            isinstance(name, MachineName)
            and access is SEND_ACCESS
            and not self.qm.queue_names.is_queue_on_this_computer(name)
        )


@fault("queue-manager-machine-name-opened-to-send-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-42", blind=True)
class QueueManagerMachineNameOpenedToSendWithDenyReceive(RefusedNameOpener):
    """The queue manager opens a machine format name for sending if the sharing mode is DenyReceive."""

    def is_name_opened(self, name: FormatName, access: QueueAccessType, share: QueueShareMode) -> bool:
        return isinstance(name, MachineName) and access is SEND_ACCESS and share is QueueShareMode.DENY_RECEIVE


class MulticastNameOpener(QmcommMethods):
    """When a reader opens a multicast format name, which the queue manager must refuse, open the first local queue
    instead.
    """

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        status, descriptor = super().open_remote_queue(call, now)
        value = call.arguments["pQueueFormat"]
        if descriptor is None and value is not None and value["m_qft"] == QueueFormatType.MULTICAST:
            given = call.arguments
            access, share = (
                QUEUE_ACCESS_TYPE_BY_DESIRED_ACCESS[given["dwDesiredAccess"]],
                QUEUE_SHARE_MODE_BY_WIRE_VALUE[given["dwShareMode"]],
            )
            if self.is_multicast_name_opened(value["union"], access, share):
                queue = next(iter(self.qm.adm.QueueCollection.values()))
                return self.qm.queue_opening.open_found_queue(queue, "MULTICAST", access, share)
        return status, descriptor

    def is_multicast_name_opened(
        self, multicast: dict[str, int], access: QueueAccessType, share: QueueShareMode
    ) -> bool:
        """Return whether the queue manager opens a multicast address."""
        raise NotImplementedError


@fault("queue-manager-multicast-name-opened-to-receive-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-46", blind=True)
class QueueManagerMulticastNameOpenedToReceiveWithDenyReceive(MulticastNameOpener):
    """The server opens a multicast format name to receive with DenyReceive."""

    def is_multicast_name_opened(
        self, multicast: dict[str, int], access: QueueAccessType, share: QueueShareMode
    ) -> bool:
        return access is RECEIVE_ACCESS and share is QueueShareMode.DENY_RECEIVE


@fault("queue-manager-multicast-name-with-high-port-opened-to-peek", breaks="MQDMPR-3.1.7.1.5-46", blind=True)
class QueueManagerMulticastNameWithHighPortOpenedToPeek(MulticastNameOpener):
    """The server opens a multicast format name with a port above 32767 to peek."""

    def is_multicast_name_opened(
        self, multicast: dict[str, int], access: QueueAccessType, share: QueueShareMode
    ) -> bool:
        return access in PEEK_ACCESSES and multicast["m_port"] > 0x7FFF


@fault("queue-manager-multicast-name-of-high-address-opened-to-read", breaks="MQDMPR-3.1.7.1.5-46", blind=True)
class QueueManagerMulticastNameOfHighAddressOpenedToRead(MulticastNameOpener):
    """The server opens a multicast format name to read if its address begins with 239."""

    def is_multicast_name_opened(
        self, multicast: dict[str, int], access: QueueAccessType, share: QueueShareMode
    ) -> bool:
        return 239 in (multicast["m_address"] & 0xFF, multicast["m_address"] >> 24)
