from __future__ import annotations

from collections.abc import Callable

from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CommandCompleted, CommandRejected


class CommandAnswering(QueueManagerPart):
    """Sends the answers to commands. A command is answered at once, or later when its last step is complete."""

    __slots__ = ()

    def answer(self, token: int, carry_out: Callable[[], Result | None]) -> None:
        """Carry out a command, or one step of a command, by calling ``carry_out``. If ``carry_out`` returns a result,
        send this result as the answer to the command. If ``carry_out`` returns None, a later step answers the command.
        """
        try:
            result = carry_out()
        except CommandError as error:
            self.qm.emit_effect(CommandRejected(token, str(error)))
            return
        if result is not None:
            self.qm.emit_effect(CommandCompleted(token, result))
