"""Faults that break rules of MS-MQDMPR 3.1.7.3.8 Expand Format Name, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FormatName, PrivateQueuePath
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.names.queue_names import OWN_COMPUTER_NAMES, QueueNames


@fault("queue-manager-expansion-replaces-localhost-with-host-name", breaks="MQDMPR-3.1.7.3.8-05", blind=True)
class QueueManagerExpansionReplacesLocalhostWithHostName(QueueNames):
    """The queue manager expands the direct format name of a single private queue on the computer . or localhost to
    a format name with its host name.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        if isinstance(name, PrivateQueuePath) and name.ProtocolAddressSpecification.lower() in OWN_COMPUTER_NAMES:
            return replace(name, ProtocolAddressSpecification=self.qm.config.host_name)
        return name


@fault("queue-manager-sorts-expanded-names-by-character-number", breaks="MQDMPR-3.1.7.3.8-17", blind=True)
class QueueManagerSortsExpandedNamesByCharacterNumber(QueueNames):
    """The queue manager sorts the elements of an expanded format name by their character codes, so that capital letters
    precede small letters.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        if isinstance(name, MultipleElementName):
            return MultipleElementName(tuple(sorted(name.Elements, key=str)))
        return name
