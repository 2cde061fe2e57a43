"""Faults that accept or refuse unusual spellings of names, alone and in lists (MS-MQMQ 2.1)."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import FormatName
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def _is_directory_unavailable(part: HigherLayerCommands | QueueNames) -> bool:
    state = part.qm.enterprise.state
    return state.DirectoryOffline or not state.DirectoryIntegrated


@fault("sender-accepts-braces-around-guid-of-public-name-in-list", breaks="MQMQ-2.1.3-01", blind=True)
class SenderAcceptsBracesAroundGuidOfPublicNameInList(HigherLayerCommands):
    """The sender accepts a public format name with braces around its GUID as an element of a list of names."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if "," in request.to:
            request = replace(request, to=re.sub(r"PUBLIC=\{([^}]*)\}", r"PUBLIC=\1", request.to, flags=re.IGNORECASE))
        return super().send_message(request, token, now)


@fault("sender-accepts-private-name-with-nine-digit-number", breaks="MQMQ-2.1.4-01", blind=True)
class SenderAcceptsPrivateNameWithNineDigitNumber(HigherLayerCommands):
    """The sender accepts a private format name with 0 before a number of eight digits."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        to = re.sub(r"^(PRIVATE=[^\\]*\\)0([0-9A-F]{8})$", r"\1\2", request.to, flags=re.IGNORECASE)
        return super().send_message(replace(request, to=to), token, now)


@fault("sender-accepts-0x-before-number-of-private-name-in-list", breaks="MQMQ-2.1.4-01", blind=True)
class SenderAccepts0xBeforeNumberOfPrivateNameInList(HigherLayerCommands):
    """The sender accepts a private format name with 0x before its number as an element of a list of names."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if "," in request.to:
            to = re.sub(r"(PRIVATE=[^\\,]*\\)0x", r"\1", request.to, flags=re.IGNORECASE)
            request = replace(request, to=to)
        return super().send_message(request, token, now)


@fault("sender-private-name-number-above-ffff-truncated", breaks="MQMQ-2.1.4-D01", blind=True)
class SenderPrivateNameNumberAboveFfffTruncated(HigherLayerCommands):
    """The sender sends a message for a private format name with a number above 0xFFFF to the queue whose number is
    the lower 16 bits.
    """

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        to = re.sub(r"^(PRIVATE=[^\\]*\\)[0-9A-F]+([0-9A-F]{4})$", r"\1\2", request.to, flags=re.IGNORECASE)
        return super().send_message(replace(request, to=to), token, now)


@fault(
    "sender-skips-distribution-lists-of-list-without-directory",
    breaks=("MQMQ-2.1.7-D02", "MQDMPR-3.1.7.1.5-05", "MQDMPR-3.1.7.3.8-15"),
    blind=True,
)
class SenderSkipsDistributionListsOfListWithoutDirectory(QueueNames):
    """While the directory is unavailable, the sender leaves out the distribution lists of a list of names, and sends
    to the other names.
    """

    @faulty_only_if(lambda part, text: "," in text and _is_directory_unavailable(part))
    def expand_format_name(self, text: str) -> FormatName | None:
        names = text.split(",")
        others = [one for one in names if not one.upper().startswith("DL=")]
        return super().expand_format_name(",".join(others) if others else text)


@fault("sender-refuses-transactional-list-message-without-directory", breaks="MQMQ-2.1.7-D02", blind=True)
class SenderRefusesTransactionalListMessageWithoutDirectory(HigherLayerCommands):
    """While the directory is unavailable, the sender refuses a transactional message for a list with a private
    format name.
    """

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        transactional = request.transactional or request.transaction is not None
        if "," in request.to and "PRIVATE=" in request.to.upper() and transactional and _is_directory_unavailable(self):
            raise CommandError(f"{request.to!a} cannot be resolved without the directory")
        return super().send_message(request, token, now)
