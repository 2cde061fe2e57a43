"""Steps that checks of traced messages share: the parts of a report. Spec: MS-MQQB 3.1.5.8.9, 3.1.7.1.7."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from suites.mqqb.steps.disposition import AckClass, QueueType

DAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TIME_PATTERN_OF_REPORT_LABEL = rf"\d\d:\d\d(:\d\d)? [AP]M ({'|'.join(DAY_NAMES)}),({'|'.join(MONTH_NAMES)}) \d\d \d\d"
EXAMPLE_OF_REPORT_DATE = "Sun,Jan 01 26"
"""The form of the date at the end of the label of a report."""


def read_label_text_without_null(label: bytes | str) -> str:
    """Return the text of a label, without its terminating null."""
    return (label.decode("utf-16-le", "replace") if isinstance(label, bytes) else str(label)).rstrip("\0")


def read_time_in_report_label_s(label: str) -> int | None:
    """Return the time of day in the label of a report, in seconds after midnight, or None if the label has no valid
    time.
    """
    found = re.search(rf" at ({TIME_PATTERN_OF_REPORT_LABEL})$", label)
    if found is None:
        return None
    hour, minute, second, half = re.match(r"(\d\d):(\d\d)(?::(\d\d))? ([AP]M)", found[1]).groups()  # type: ignore[union-attr]
    if not 1 <= int(hour) <= 12:
        return None
    return (int(hour) % 12 + 12 * (half == "PM")) * 3_600 + int(minute) * 60 + int(second or 0)


class TraceReportMessage:
    """A report on a traced message."""

    def __init__(self, frame: Frame) -> None:
        self.user = frame["UserHeader"]
        self.properties = frame["MessagePropertiesHeader"]

    @staticmethod
    def build_expected_label(message: Frame) -> str:
        """Return the part of a report's label that precedes the time. Erratum E35 allows two forms of the label, which
        are the same in this part.
        """
        user = message["UserHeader"]
        source = str(user.SourceQueueManager).upper()
        return f"{source[:4]}:{user.MessageID:08X}:{user.RC:02X}"

    @staticmethod
    def build_expected_values(queue: UUID) -> dict[str, Any]:
        """Return the expected ``values`` of a report to a public queue."""
        return {"MessageClass": AckClass.REPORT, "destination": (QueueType.PUBLIC, str(queue)), "DM": 0}

    @property
    def identifier(self) -> tuple[str, int]:
        """Return the source and the MessageID of the report itself."""
        return str(self.user.SourceQueueManager), int(self.user.MessageID)

    def is_about_message(self, message: Frame) -> bool:
        """Return whether the label or the body contains the MessageID of a message. The name of the target queue, which
        can contain the number of a private queue, is not searched.
        """
        text = re.sub("<TARGET QUEUE>.*?</TARGET QUEUE>", "", self.text)
        return f"{message['UserHeader'].MessageID:08X}" in f"{self.label} {text}".upper()

    @property
    def text(self) -> str:
        """Return the body as a string."""
        return bytes(self.properties.MessageBody).decode("utf-16-le", "replace").rstrip("\0")

    @property
    def label(self) -> str:
        """Return the label without its end if the end contains the source and roughly the time of sending; return the
        whole label otherwise.
        """
        text = read_label_text_without_null(self.properties.Label)
        begins, _, rest = text.partition(" ")
        guid = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
        found = re.fullmatch(rf"\w+ by {guid} at {TIME_PATTERN_OF_REPORT_LABEL}", rest)
        return (
            begins.upper()
            if found and _is_date_of_instant(text[-len(EXAMPLE_OF_REPORT_DATE) :], self.user.SentTime)
            else text
        )

    @property
    def values(self) -> dict[str, Any]:
        """Return the class, the destination and the delivery of the report."""
        queue = self.user.DestinationQueue
        return {
            "MessageClass": int(self.properties.MessageClass),
            "destination": (int(self.user.DQ), str(getattr(queue, "PublicQueueIdentifier", queue))),
            "DM": int(self.user.DM),
        }


def _is_date_of_instant(date: str, sent_s: int) -> bool:
    """Return whether a date is the date of the given instant in any time zone."""
    days = (datetime.fromtimestamp(sent_s + hours * 3_600, UTC) for hours in range(-12, 15))
    return date in {
        f"{DAY_NAMES[day.weekday()]},{MONTH_NAMES[day.month - 1]} {day.day:02} {day.year % 100:02}" for day in days
    }
