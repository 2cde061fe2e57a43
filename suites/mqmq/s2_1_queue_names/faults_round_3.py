"""Faults that break rules of MS-MQMQ 2.1.2 Direct Format Names and 2.1.4 Private Format Names."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.commands.commands import Commands
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

_SHORT_TCP_NAME = re.compile(r"(DIRECT=TCP:)([0-9]+(?:\.[0-9]+){0,2})(\\.*)", re.IGNORECASE)
_PLAIN_PRIVATE_NAME = re.compile(r"(PRIVATE=)([0-9A-F]{32})(\\.*)", re.IGNORECASE)


@fault("queue-manager-tcp-address-of-two-numbers-accepted", breaks="MQMQ-2.1.2-D01", blind=True)
class QueueManagerTcpAddressOfTwoNumbersAccepted(Commands):
    """The queue manager accepts the addresses that inet_aton accepts, such as 127.1, in a direct name with TCP."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        short = _SHORT_TCP_NAME.fullmatch(request.to)
        address = None if short is None else _fill_address(short[2])
        if short is not None and address is not None:
            request = replace(request, to=f"{short[1]}{address}{short[3]}")
        return super().send_message(request, token, now)


def _fill_address(text: str) -> str | None:
    """Return the four numbers of an address in which the last number stands for all missing bytes."""
    *first, last = map(int, text.split("."))
    missing = 4 - len(first)
    if any(one > 0xFF for one in first) or last >= 1 << 8 * missing:
        return None
    return ".".join(map(str, [*first, *last.to_bytes(missing, "big")]))


@fault("queue-manager-private-name-guid-without-hyphens-accepted", breaks="MQMQ-2.1.4-01", blind=True)
class QueueManagerPrivateNameGuidWithoutHyphensAccepted(Commands):
    """The queue manager sends to a private format name whose GUID has no hyphens."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        plain = _PLAIN_PRIVATE_NAME.fullmatch(request.to)
        if plain is not None:
            request = replace(request, to=f"{plain[1]}{UUID(plain[2])}{plain[3]}")
        return super().send_message(request, token, now)
