"""Faults in the reports about traced messages. Spec: MS-MQQB 3.1.5.8.9, 3.1.7.1.7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import PartMethod
from harness.faults.primitives import replace_method_during, set_fields
from harness.faults.registry import Install
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now

FOREIGN_QUEUE_NAME = "DIRECT=TCP:127.0.0.2\\private$\\mqc-elsewhere"
"""A queue that is not the report queue."""


def change_reports(trace: PartMethod, change: Callable[[QueueManager, Message], Message]) -> Install:
    """Return an installer of a fault that changes the trace reports that one step of the class Tracing sends."""

    def make_changed_sending(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def send_changed_report(qm: QueueManager, report: Message, now: Now) -> None:
            original(qm, change(qm, report), now)

        return send_changed_report

    return replace_method_during(trace, OwnMessageSending.send, make_changed_sending)


def change_report_element(trace: PartMethod, element: str, value: Any) -> Install:
    """Return an installer of a fault that changes one element of the trace reports that one step of the class Tracing
    sends. A value that is a callable computes the new value from the old value.
    """

    def change_report(qm: QueueManager, report: Message) -> Message:
        changed: Message = set_fields(report, {element: value})
        return changed

    return change_reports(trace, change_report)
