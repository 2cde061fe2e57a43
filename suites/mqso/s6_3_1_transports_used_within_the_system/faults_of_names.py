"""Faults in the protocol for messages whose destination is a format name of one form: MQSO-6.3.1-01."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now

_HTTP_PREFIX, _TCP_PREFIX = "DIRECT=HTTP://", "DIRECT=TCP:"


@fault("sender-transactional-message-to-http-name-transferred-by-mqqb", breaks="MQSO-6.3.1-01")
class SenderTransactionalMessageToHttpNameTransferredByMqqb(HigherLayerCommands):
    """The sender transfers a transactional message for an HTTP name by MS-MQQB."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Any:
        if request.to.startswith(_HTTP_PREFIX) and request.transactional:
            queue = request.to.removeprefix(_HTTP_PREFIX).replace("/msmq/", "\\").replace("$/", "$\\")
            request = replace(request, to=f"{_TCP_PREFIX}{queue}")
        return super().send_message(request, token, now)


@fault("sender-message-to-private-name-not-transferred-by-mqqb", breaks="MQSO-6.3.1-01")
class SenderMessageToPrivateNameNotTransferredByMqqb(DestinationResolving):
    """The sender transfers no message for a private format name by MS-MQQB."""

    def get_initial_outgoing_queue_state(self, text: str) -> OutgoingQueueState:
        return (
            OutgoingQueueState.ON_HOLD
            if text.upper().startswith("PRIVATE=")
            else super().get_initial_outgoing_queue_state(text)
        )
