"""Build the report of `mqconform check` as one HTML page. Texts from a capture are escaped, so that markup in them has
no effect.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.foreign.check import CheckedCapture
from harness.foreign.conversations import MAX_LISTED_CONVERSATIONS
from harness.foreign.findings import SystemFinding
from harness.judging.passive import PASSIVE_RULES
from harness.printable import one_line

LONGEST_TEXT_CHARACTERS = 300
"""The maximum length, in characters, of a text from a capture that the page displays."""
_TEMPLATE_ENVIRONMENT = Environment(
    loader=PackageLoader("harness.foreign", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATE_ENVIRONMENT.filters["line"] = lambda text: one_line(str(text), LONGEST_TEXT_CHARACTERS)


def build_page(findings: Iterable[tuple[CheckedCapture, list[SystemFinding]]]) -> str:
    """Return the report as an HTML page. For each file, the page shows the connections and, for each system, the
    broken rules with their packets.
    """
    files = [_describe_file(checked, systems) for checked, systems in findings]
    return _TEMPLATE_ENVIRONMENT.get_template("report.html").render(files=files, passive=len(PASSIVE_RULES))


def _describe_file(checked: CheckedCapture, systems: list[SystemFinding]) -> dict[str, Any]:
    traffic = checked.traffic
    since = datetime.fromtimestamp(traffic.start_us / 1_000_000, UTC) if traffic.start_us else None
    return {
        "path": checked.path,
        "frames": traffic.frames,
        "span_s": (traffic.end_us - traffic.start_us) / 1_000_000,
        "since": since.isoformat(sep=" ", timespec="seconds") if since is not None else "",
        "damage": checked.damage_descriptions,
        "unread": traffic.unread_frame_count_by_reason.most_common(),
        "connections": traffic.totals.conversation_count_by_kind.total(),
        "conversations": traffic.totals.listed_conversations[:MAX_LISTED_CONVERSATIONS],
        "systems": systems,
        "missing": traffic.systems.describe_unjudged_capture(),
    }
