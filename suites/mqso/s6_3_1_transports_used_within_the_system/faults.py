"""Faults that break rules of MS-MQSO 6.3.1 Transports Used Within the System."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result, SendMessage

HTTP_PREFIX, TCP_PREFIX = "DIRECT=HTTP://", "DIRECT=TCP:"


@fault("http-message-sent-over-tcp", breaks="MQSO-6.3.1-01")
class HttpMessageSentOverTcp(HigherLayerCommands):
    """The sender sends a message for an HTTP name over the binary protocol on TCP."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.to.startswith(HTTP_PREFIX):
            queue = request.to.removeprefix(HTTP_PREFIX).replace("/msmq/", "\\").replace("$/", "$\\")
            request = replace(request, to=f"{TCP_PREFIX}{queue}")
        return super().send_message(request, token, now)


_HTTPS_NAME_PATTERN = re.compile(r"DIRECT=HTTPS://([^:/]+)(?::\d*)?/msmq/(.+)", re.IGNORECASE)


@fault("sender-message-to-https-name-transferred-by-mqqb", breaks="MQSO-6.3.1-01", blind=True)
class SenderMessageToHttpsNameTransferredByMqqb(HigherLayerCommands):
    """The sender transfers a message for a direct format name with the protocol HTTPS by MS-MQQB to the host in the
    name.
    """

    def send_message(self, request: SendMessage, token: int, now: Now) -> Result | None:
        found = _HTTPS_NAME_PATTERN.fullmatch(request.to)
        if found is not None:
            path = found[2].replace("/", "\\")
            request = replace(request, to=f"DIRECT=OS:{found[1]}\\{path}")
        return super().send_message(request, token, now)
