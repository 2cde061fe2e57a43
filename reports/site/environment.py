"""Builds the environment of the page templates, which escapes all texts and makes invisible characters visible."""

from __future__ import annotations

import re
from datetime import datetime

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reports import text, vocabulary
from reports.model import get_worst_verdict
from reports.site import drawing, names, packets

HINTS_BY_FINDING = {
    "fail": "broken: compare the expected with the observed value, and repeat the check.",
    "harness_error": "not judged, because the tester failed: report the error with the run folder.",
    "inconclusive": "undecided: the reason names the step that failed before the check could judge the rule.",
    "warn": "a recommendation (SHOULD) that the system does not follow.",
}
"""For each kind of finding, the hint on the page of a system that tells the reader what to do next."""


def build_template_environment() -> Environment:
    """Return the environment of the templates, which escapes all texts."""
    env = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        finalize=_make_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {
        "clip": text.clip_text,
        "get_run_folder_location": text.get_run_folder_location,
        "unbroken": _keep_queue_paths_on_one_line,
        "format_document_name": text.format_document_name,
        "is_specification": text.is_specification,
        "moment": _format_utc_time,
        "day": _format_day,
        "arrow": _format_direction,
        "public": _require_https,
        "anchor": text.make_slug,
        "check": text.shorten_check_id,
        "named": str,
        "number": "{:,}".format,
    }
    env.globals |= {
        "KINDS": vocabulary.VERDICT_KIND_BY_NAME,
        "FINDINGS": vocabulary.FINDING_VERDICTS,
        "NEXT": HINTS_BY_FINDING,
        "names": names,
        "rule_page": names.name_rule_page,
        "repeat": text.format_repeat_command,
        "command_of": text.format_run_command,
        "run_page": names.name_run_page,
        "octets": packets.format_octets,
        "deciding": packets.get_deciding_text,
        "dissection": packets.format_dissection,
        "bar": drawing.place_verdicts_on_bar,
        "trend": drawing.place_trend_bars,
        "worst": get_worst_verdict,
        "share": format_share,
    }
    return env


def format_share(part: int, whole: int) -> str:
    """Return a percentage as text. A share strictly between 0 and 1 is never rounded to 0 % or 100 %."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "under 1 %"
    return f"{int(percent)} %" if percent >= 99 else f"{percent:.0f} %"


def _make_visible(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return text.escape_unprintable_characters(value)
    return "" if value is None else value


def _format_utc_time(value: datetime | None) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S UTC") if value else ""


def _format_day(value: datetime | None) -> str:
    return value.strftime("%Y-%m-%d") if value else ""


def _keep_queue_paths_on_one_line(words: str) -> Markup:
    """Keep each path name, such as that of a queue, on one line. A path name contains a backslash and no blank."""
    parts = re.split(r"(\S*\\\S*)", text.escape_unprintable_characters(words))
    kept = Markup('<span class="unbroken">{}</span>')
    return Markup("").join(kept.format(part) if number % 2 else part for number, part in enumerate(parts))


def _format_direction(direction: str) -> str:
    return {"sut->peer": "SUT → peer", "peer->sut": "peer → SUT"}.get(direction, direction)


def _require_https(link: str) -> str:
    """Return the link if it is a plain https link, or an empty text if it is not."""
    return link if re.fullmatch(r"https://[!-~]+", link) else ""
