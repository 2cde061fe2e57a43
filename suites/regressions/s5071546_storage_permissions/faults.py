"""Faults that reproduce the bug that Microsoft article KB5071546 describes: storage permissions of December 2025."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.store.security_text import find_account
from reference_qm.security import Sid
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

ADMINISTRATORS_SID = Sid.of("S-1-5-32-544")


@fault("regression-5071546-storage-for-administrators-only", breaks="REGRESSIONS-5071546-01")
class Regression5071546StorageForAdministratorsOnly(HigherLayerCommands):
    """The queue manager stores recoverable messages only for administrators. If any other user sends a recoverable
    message, the queue manager refuses the message with an error about insufficient resources.
    """

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if (request.recoverable or request.transactional) and not self._is_administrator(request.sender):
            raise CommandError("MQ_ERROR_INSUFFICIENT_RESOURCES (0xC00E0027): insufficient resources")
        return super().send_message(request, token, now)

    def _is_administrator(self, sender: str | None) -> bool:
        if sender is None:
            return False
        return ADMINISTRATORS_SID in find_account("sender", sender, self.qm.config.security.accounts).groups


@fault("regression-5071546-transactional-message-for-administrators-only", breaks="REGRESSIONS-5071546-01", blind=True)
class Regression5071546TransactionalMessageForAdministratorsOnly(HigherLayerCommands):
    """The queue manager refuses transactional messages of users without administrative rights."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.transactional and self.qm.destination_resolving.find_local_queue(request.to) is None:
            raise CommandError("MQ_ERROR_INSUFFICIENT_RESOURCES (0xC00E0027): insufficient resources")
        return super().send_message(request, token, now)
