"""Faults in the direct names of QUEUE_FORMATs: MQMQ-2.2.7-D01."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.calls import GivenStepArguments, change_step_arguments
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.names.queue_formats import QueueFormats, QueueFormatType, SuffixType
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening


def _refuse_direct_names(is_refused: Callable[[str, SuffixType], bool]) -> Install:
    """Let the server refuse a direct name of a QUEUE_FORMAT for which a condition is true."""

    class DirectNameRefused(QueueFormats):
        def _format_direct(self, value: Any, suffix: SuffixType) -> str | None:
            return None if is_refused(value or "", suffix) else super()._format_direct(value, suffix)

    return replace_part(DirectNameRefused)


for _name, _says, _condition in (
    ("os", "a direct name with the protocol OS", lambda name, suffix: name.upper().startswith("OS:")),
    ("lower-case", "a direct name with a protocol in lower case", lambda name, suffix: name[:1].islower()),
    (
        "dead-letter",
        "a direct name of a dead-letter queue without the prefix DIRECT=",
        lambda name, suffix: suffix in (SuffixType.DEADLETTER, SuffixType.DEADXACT),
    ),
):
    add(
        f"server-queue-format-direct-name-{_name}-refused",
        "MQMQ-2.2.7-D01",
        f"The server refuses a QUEUE_FORMAT with {_says}.",
        _refuse_direct_names(_condition),
    )


def _add_direct_prefix_to_system_queue_name(given: GivenStepArguments) -> dict[str, Any]:
    """Return the QUEUE_FORMAT with the prefix DIRECT= before the direct name of a journal or a dead-letter queue."""
    wanted: dict[str, Any] = given.queue_format
    if wanted["m_qft"] != QueueFormatType.DIRECT or not wanted["m_SuffixAndFlags"]:
        return wanted
    return wanted | {"union": f"DIRECT={wanted['union']}"}


add(
    "client-queue-format-direct-name-of-system-queue-with-prefix",
    "MQMQ-2.2.7-D01",
    "The client sends the prefix DIRECT= in m_pDirectID of a journal or a dead-letter queue.",
    change_step_arguments(
        ClientQueueOpening.open_for_application, queue_format=_add_direct_prefix_to_system_queue_name
    ),
)
