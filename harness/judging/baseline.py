"""The known and accepted deviations of a system: ``--baseline FILE``.

A baseline lists rules that may fail without changing the exit code 0; it changes no verdict. The exit code is 1 if
a rule fails that is not listed. It is also 1 if a listed rule passes again, because the entry of this rule would
hide the next failure.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.errors import UsageError
from harness.judging.verdicts import Verdict
from harness.printable import one_line
from harness.rules.naming import find_rule_id

SCHEMA_VERSION = 1
_DEVIATION_KEYS = ("reason", "link")
_BASELINE_FILE_HEADER = """\
# Rules that this system is known to break. `mqconform run --baseline FILE` exits with 1 for any other failing rule, and
# for an entry whose rule no longer fails.
# reason: why the failure is accepted (never empty); link: the address of a page about it.
schema = 1
"""
_OPEN_RULES_COMMENT = """\
# The run left the rules below undecided. A run with an undecided rule never exits with 0, even if this file lists it.
"""
_LONGEST_TEXT_CHARACTERS = 200
_NO_DEVIATION_REASONS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class KnownDeviation:
    """A known deviation: a rule that fails, and whose failure the baseline accepts."""

    rule: str
    reason: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known deviations that a baseline file lists, by rule. ``file_sha256``: the SHA-256 of the file, in
    hexadecimal digits.
    """

    path: Path
    file_sha256: str
    deviations: Mapping[str, KnownDeviation]

    def to_json(self, held: BaselineComparison) -> dict[str, Any]:
        """Return the entry for this baseline in run.json."""
        reasons = {rule: self.deviations[rule] for rule in held.listed_failing_rules}
        return {
            "file": str(self.path),
            "sha256": self.file_sha256,
            "expected": {rule: {"reason": one.reason, "link": one.link} for rule, one in reasons.items()},
            "new": list(held.new_failing_rules),
            "stale": list(held.listed_rules_that_pass),
            "unjudged": list(held.listed_undecided_rules),
        }


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The result of comparing a run with a baseline. It contains the failing rules, listed and unlisted, and those
    listed rules that pass again or are undecided.
    """

    listed_failing_rules: tuple[str, ...] = ()
    new_failing_rules: tuple[str, ...] = ()
    listed_rules_that_pass: tuple[str, ...] = ()
    listed_undecided_rules: tuple[str, ...] = ()

    @property
    def matches_run(self) -> bool:
        """Whether the baseline lists every rule that fails in the run, and no rule that passes in the run."""
        return not self.new_failing_rules and not self.listed_rules_that_pass

    def describe(self) -> Iterator[str]:
        """Yield the lines for the terminal that describe the comparison with the baseline."""
        yield (
            f"baseline: {len(self.listed_failing_rules)} expected deviations, {len(self.new_failing_rules)} new, "
            f"{len(self.listed_rules_that_pass)} stale"
        )
        if self.new_failing_rules:
            yield f"not in the baseline: {', '.join(self.new_failing_rules)}"
        if self.listed_rules_that_pass:
            yield f"in the baseline, but no longer failing (remove them): {', '.join(self.listed_rules_that_pass)}"


def compare_with_deviations(
    rules: Mapping[str, Verdict], deviations: Mapping[str, KnownDeviation], *, whole: bool
) -> BaselineComparison:
    """Compare the verdicts of the rules with the listed deviations. Only a complete run can show that a listed rule
    passes again.
    """
    failing = {rule for rule, verdict in rules.items() if verdict is Verdict.FAIL}
    known = deviations.keys()
    stale = {rule for rule in known if rules.get(rule) in (Verdict.PASS, Verdict.WARN)} if whole else set[str]()
    return BaselineComparison(
        listed_failing_rules=tuple(sorted(failing & known)),
        new_failing_rules=tuple(sorted(failing - known)),
        listed_rules_that_pass=tuple(sorted(stale)),
        listed_undecided_rules=tuple(sorted(known - failing - stale)),
    )


def load_baseline(path: Path, catalogue: Mapping[str, Any]) -> Baseline:
    """Read a baseline; raise UsageError, whose message names the file, the entry and the remedy, if the baseline is
    invalid.
    """
    try:
        content = path.read_bytes()
        tree = tomllib.loads(content.decode())
    except OSError as error:
        raise UsageError(f"the baseline {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a TOML file: {error}") from error
    if "schema" not in tree:
        raise UsageError(
            f"{path} is not a baseline: it has no `schema = {SCHEMA_VERSION}`; "
            "`mqconform baseline update RUN --baseline FILE` creates one"
        )
    if (schema := tree.pop("schema")) != SCHEMA_VERSION:
        raise UsageError(f"{path} has schema {schema!r}; this harness reads baselines of schema {SCHEMA_VERSION}")
    deviations = [_read_deviation(name, entry, path, catalogue) for name, entry in tree.items()]
    by_rule = MappingProxyType({one.rule: one for one in deviations})
    return Baseline(path, hashlib.sha256(content).hexdigest(), by_rule)


def _read_deviation(name: str, entry: Any, path: Path, catalogue: Mapping[str, Any]) -> KnownDeviation:
    try:
        rule = find_rule_id(catalogue, name)
    except UsageError as error:
        raise UsageError(f"{path}: {error}; delete the entry of a rule that was retired") from error
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise UsageError(f'{path}: [{rule}] must be a table with reason = "..." and link = "..."')
    for key in entry:
        if key not in _DEVIATION_KEYS:
            raise UsageError(f"{path}: [{rule}] has the unknown key {key!a}; known: {', '.join(_DEVIATION_KEYS)}")
    reason, link = entry.get("reason", "").strip(), entry.get("link", "").strip()
    if not reason:
        raise UsageError(f"{path}: the reason of [{rule}] is empty; state why this failure is accepted")
    if link and not link.startswith(("https://", "http://")):
        raise UsageError(f"{path}: the link of [{rule}] is {link!a}; it must begin with https://")
    return KnownDeviation(rule, reason, link or None)


def write_baseline(
    failing: Iterable[str], known: Mapping[str, KnownDeviation], unsettled: Mapping[str, str] = _NO_DEVIATION_REASONS
) -> str:
    """Return the text of a baseline that lists all failing rules, with the known reasons and links. Unknown reasons
    and links stay empty.

    ``unsettled``: the rules that the run left undecided, each with the reason. The baseline lists these rules in
    comments.
    """
    text = [_BASELINE_FILE_HEADER]
    for rule in sorted(failing):
        one = known.get(rule)
        text.append(f"\n[{_quote_toml(rule)}]\nreason = {_quote_toml(one.reason if one else '')}\n")
        text.append(f"link = {_quote_toml(one.link or '' if one else '')}\n")
    if unsettled:
        text.append(f"\n{_OPEN_RULES_COMMENT}")
        text += [
            f"# {rule}: {one_line(reason, _LONGEST_TEXT_CHARACTERS)}\n" for rule, reason in sorted(unsettled.items())
        ]
    return "".join(text)


def _quote_toml(text: str) -> str:
    """Return a text as a TOML basic string. TOML has the same escape sequences as JSON, except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
