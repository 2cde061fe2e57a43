"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.registry import FaultyCore, Install
from reference_qm.surface.commands import SendMessage
from reference_qm.surface.inputs import Command, Input

_REDIRECTED_COMMAND_TOKEN = 1_000_000


def redirect_sent_messages(meant: Callable[[FaultyCore, SendMessage], bool], *, as_well: bool = False) -> Install:
    """Return an installer of a fault: the sender sends selected messages to a wrong queue manager and, if ``as_well``
    is true, also to the correct destination.
    """

    def install_redirection(faulty: FaultyCore) -> None:
        def filter_send_command(event: Input) -> Iterable[Input]:
            if not isinstance(event, Command) or not isinstance(event.request, SendMessage):
                return [event]
            if not meant(faulty, event.request):
                return [event]
            host = next(iter(faulty.core.config.routes.values()))
            out = replace(event.request, to=f"DIRECT=TCP:{host}\\private$\\elsewhere")
            if not as_well:
                return [replace(event, request=out)]
            return [event, Command(event.token + _REDIRECTED_COMMAND_TOKEN, out)]

        faulty.input_filters.append(filter_send_command)

    return install_redirection
