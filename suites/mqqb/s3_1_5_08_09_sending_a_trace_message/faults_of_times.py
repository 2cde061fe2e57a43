"""Faults in the time in the label of a report: MQQB-3.1.5.8.9-06."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


def _replace_time_in_label(hour: str, wrong: str) -> Install:
    """Replace a time in the labels of reports. ``hour``: the hour and the half of the day, such as "11 PM"."""
    digits, half = hour.split()
    wrong_digits, wrong_half = wrong.split()

    class TimeOfLabelReplacer(MessageTracing):
        def build_report_label(self, message: Message, now: Now) -> str:
            label = super().build_report_label(message, now)
            begins, at, time = label.rpartition(" at ")
            if not time.startswith(digits) or f" {half} " not in time:
                return label
            return f"{begins}{at}{wrong_digits}{time[2:].replace(f' {half} ', f' {wrong_half} ')}"

    return replace_part(TimeOfLabelReplacer)


for _name, _says, _hour, _wrong in (
    ("noon-is-am", "AM instead of PM between 12:00 and 13:00", "12 PM", "12 AM"),
    ("midnight-is-pm", "PM instead of AM between 00:00 and 01:00", "12 AM", "12 PM"),
    ("afternoon-is-am", "AM instead of PM between 23:00 and 24:00", "11 PM", "11 AM"),
    ("hour-0-after-midnight", "the hour 00 instead of 12 between 00:00 and 01:00", "12 AM", "00 AM"),
):
    add(
        f"receiver-report-label-{_name}",
        "MQQB-3.1.5.8.9-06",
        f"The receiver writes {_says} into the label of a report.",
        _replace_time_in_label(_hour, _wrong),
    )
