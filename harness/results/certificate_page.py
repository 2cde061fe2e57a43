"""Show a certificate as a page and as a badge. Markup in the name of a system is displayed as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.judging.verdicts import Verdict
from harness.printable import one_line

_TEMPLATE_ENVIRONMENT = Environment(
    loader=PackageLoader("harness.results", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATE_ENVIRONMENT.filters["line"] = lambda text: one_line(str(text), 200)
_BADGE_COLOR_WITHOUT_DEVIATIONS, _BADGE_COLOR_WITH_DEVIATIONS = "#1a7f37", "#9a6700"
_BADGE_LETTER_WIDTH_PX = 7


def build_certificate_page(statement: Mapping[str, Any], key: str) -> str:
    """Return the page. ``key``: the signer's public key, in hexadecimal digits."""
    return _TEMPLATE_ENVIRONMENT.get_template("certificate.html").render(
        one=statement, key=key, result=describe_certificate_result(statement), verdicts=list(map(str, Verdict))
    )


def build_certificate_badge(statement: Mapping[str, Any]) -> str:
    """Return the badge of a certificate as SVG."""
    left, right = "MSMQ certified", describe_certificate_result(statement)
    widths = [_BADGE_LETTER_WIDTH_PX * len(text) + 12 for text in (left, right)]
    colour = _BADGE_COLOR_WITH_DEVIATIONS if statement["deviations"] else _BADGE_COLOR_WITHOUT_DEVIATIONS
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(widths)}" height="20" role="img" '
        f'aria-label="{escape(left)}: {escape(right)}">'
        f'<rect width="{widths[0]}" height="20" fill="#333b45"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{widths[0] / 2}" y="14">{escape(left)}</text>'
        f'<text x="{widths[0] + widths[1] / 2}" y="14">{escape(right)}</text></g></svg>\n'
    )


def describe_certificate_result(statement: Mapping[str, Any]) -> str:
    """Return a short description of the result of the certified run."""
    kept = f"{statement['rules']['pass'] + statement['rules']['warn']:,} rules kept"
    known = len(statement["deviations"])
    return f"{kept}, {known} known deviation{'s' if known != 1 else ''}" if known else kept
