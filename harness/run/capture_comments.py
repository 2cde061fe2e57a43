"""Write the verdicts of a run into its captures, as comments on the packets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from harness.capture.capture_error import CaptureError
from harness.capture.comments import add_frame_comments
from harness.judging.verdicts import VERDICTS_TO_EXAMINE
from harness.printable import one_line
from harness.run.results import RuleResult

_LONGEST_COMMENT_CHARACTERS = 300


def add_comments_to_captures(results: Iterable[RuleResult], folder: Path) -> None:
    """Add a comment to the first packet of each verdict except passes. A truncated capture is not changed."""
    comments: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        line = one.line
        if one.verdict in VERDICTS_TO_EXAMINE and line["capture"] and line["evidence"]:
            said = f"{one.verdict} {one.rule}: expected {line['expected']}; observed {line['observed']}"
            comments[line["capture"]][line["evidence"][0]["frame"]].append(one_line(said, _LONGEST_COMMENT_CHARACTERS))
    for name, frames in comments.items():
        path = folder / name
        if path.is_file():
            try:
                add_frame_comments(path, {number: "\n".join(said) for number, said in frames.items()})
            except CaptureError:
                continue  # the capture was truncated when the run was killed, and stays unchanged
