"""Fault of REGRESSIONS 5071546 that only transactional messages reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.commands import Commands
from reference_qm.core.errors import CommandError
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("regression-5071546-transactional-message-for-administrators-only", breaks="REGRESSIONS-5071546-01", blind=True)
class Regression5071546TransactionalMessageForAdministratorsOnly(Commands):
    """The queue manager refuses transactional messages of users without administrative rights."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.transactional and self.qm.destinations.find_local(request.to) is None:
            raise CommandError("MQ_ERROR_INSUFFICIENT_RESOURCES (0xC00E0027): insufficient resources")
        return super().send_message(request, token, now)
