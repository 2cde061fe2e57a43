"""Make the statement of a certificate about a run, or list the reasons why the run cannot be certified (``mqconform
certify RUN --key KEY``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.judging.verdicts import DECIDED_VERDICTS, Verdict
from harness.printable import one_line
from harness.results.installed import InstalledSuites
from harness.results.run_results import RunResults
from harness.rules.releases import RELEASES
from harness.run_folder import CAPTURES_FOLDER, RULES_FILE, RUN_FILE, RUN_SCHEMA_VERSION, VERDICTS_FILE

CERTIFICATE_SCHEMA = 2
CERTIFICATE_FILE = "certificate.json"
CERTIFICATE_PAGE_FILE = "certificate.html"
CERTIFICATE_BADGE_FILE = "badge.svg"
NOT_EXERCISED_PERCENT = 5.0
"""The default value of the maximum share, in percent, of judged rules that were never exercised."""
_MAX_SYSTEM_TEXT_CHARACTERS, _MAX_SYSTEM_TEXTS = 200, 3
"""The maximum number of events that a reason for a refusal lists, and the maximum length, in characters, of the
description of one event.
"""
_DESCRIPTION_BY_UNDECIDED_VERDICT = {
    Verdict.HARNESS_ERROR: "is a bug in the harness",
    Verdict.INCONCLUSIVE: "is inconclusive",
}


@dataclass(frozen=True, slots=True)
class CertificateTerms:
    """The terms of a certificate: the maximum share of judged rules that were never exercised, and the number of checks
    in a complete run.
    """

    not_exercised_percent: float
    checks: int


def list_reasons_to_refuse_certificate(
    found: RunResults, terms: CertificateTerms, suites: InstalledSuites
) -> Iterator[str]:
    """Yield the reasons why a run cannot be certified, one line for each reason. ``suites``: the suites of the run."""
    run = found.run
    if run.get("schema") != RUN_SCHEMA_VERSION:
        yield f"the run has schema {run.get('schema')}; repeat the run with this harness"
    if (profile := run["sut"].get("profile")) not in RELEASES:
        yield f"the profile {one_line(str(profile), 100)!r} is unknown; known: {', '.join(RELEASES)}"
    yield from _list_missing_parts_of_run(found, terms, suites)
    yield from _list_residue_and_process_ends(found)
    yield from _list_failed_steps(found)
    share = compute_not_exercised_share(found)
    if share > terms.not_exercised_percent:
        yield f"{share:.1f} % of the rules were never exercised; the limit is {terms.not_exercised_percent:g} %"


def _list_missing_parts_of_run(found: RunResults, terms: CertificateTerms, suites: InstalledSuites) -> Iterator[str]:
    if found.reason_for_partial_run is not None:
        yield f"the run is partial: {found.reason_for_partial_run}"
    checks = len(found.checks)
    if checks < terms.checks:
        yield f"{checks} checks ran; a complete run has {terms.checks}"
    elif lacking := sorted(suites.checks_naming_rule.keys() - found.rules.keys()):
        yield f"{len(lacking)} rules have checks, but no verdict: {_list_rules(lacking)}"


def _list_residue_and_process_ends(found: RunResults) -> Iterator[str]:
    """Yield a line about the residue that checks left or found, and a line that states how often the system's process
    ended.
    """
    if residue := found.run.get("residue"):
        met = _join_shortened_system_texts(f"{one.get('what')} ({_get_check_name(one)})" for one in residue)
        yield (
            f"residue that checks left or found in the system ({len(residue)}): {met}; remove the residue, "
            f"then `mqconform run --sut FILE --out {found.folder} --resume` runs only these checks again"
        )
    if deaths := found.run.get("deaths"):
        ends = _join_shortened_system_texts(f"{one.get('how')} in {_get_check_name(one)}" for one in deaths)
        yield f"the system's process ended {len(deaths)} times: {ends}; it must not end in a run to be certified"


def _list_failed_steps(found: RunResults) -> Iterator[str]:
    for verdict, words in _DESCRIPTION_BY_UNDECIDED_VERDICT.items():
        rules = _list_rules_with_verdict(found, verdict)
        if rules:
            yield f"rules whose verdict {words} ({len(rules)}): {_list_rules(rules)}"
    known = _list_deviations(found)
    new = [rule for rule in _list_rules_with_verdict(found, Verdict.FAIL) if rule not in known]
    if new:
        yield f"{len(new)} rules fail, and are not in the baseline: {_list_rules(new)}"
    if stale := (found.run.get("baseline") or {}).get("stale"):
        yield f"{len(stale)} rules in the baseline no longer fail: {_list_rules(stale)}"


def compute_not_exercised_share(found: RunResults) -> float:
    """Return the share of judged rules that were never exercised, in percent."""
    idle, decided = (
        len(_list_rules_with_verdict(found, Verdict.NOT_EXERCISED)),
        sum(len(_list_rules_with_verdict(found, one)) for one in DECIDED_VERDICTS),
    )
    return 100 * idle / (idle + decided) if idle + decided else 100.0


def build_certificate_statement(
    found: RunResults, terms: CertificateTerms, files: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the content of certificate.json. ``files``: the length and the SHA-256 of every other file, by name."""
    run, sut = found.run, found.run["sut"]
    counts = Counter(str(one.verdict) for one in found.rules.values())
    return {
        "schema": CERTIFICATE_SCHEMA,
        "system": {key: sut.get(key) for key in ("name", "vendor", "version", "profile")},
        "queue_managers": run.get("queue_managers", []),
        "run": run["run"],
        "started": run["started"],
        "finished": run["finished"],
        "reach": run["reach"],
        "capabilities": run.get("capabilities", {}),
        "harness": run["harness"],
        "suites": run["suites"],
        "terms": {"checks": terms.checks, "not_exercised_percent": terms.not_exercised_percent},
        "checks": len(found.checks),
        "rules": {str(verdict): counts[verdict] for verdict in Verdict},
        "by_document": _count_by_document(found),
        "not_exercised_percent": round(compute_not_exercised_share(found), 2),
        "not_applicable": sorted(_list_rules_with_verdict(found, Verdict.NOT_APPLICABLE)),
        "not_observable": sorted(_list_rules_with_verdict(found, Verdict.NOT_OBSERVABLE)),
        "not_exercised": sorted(_list_rules_with_verdict(found, Verdict.NOT_EXERCISED)),
        "warnings": sorted(_list_rules_with_verdict(found, Verdict.WARN)),
        "deviations": _list_deviations(found),
        "files": dict(sorted(files.items())),
    }


def list_bundle_files(found: RunResults) -> Iterator[tuple[str, Path]]:
    """Yield the name in the bundle and the path of each file of a run folder that belongs to the bundle."""
    for name in (RUN_FILE, RULES_FILE, VERDICTS_FILE):
        yield name, found.folder / name
    for path in sorted((found.folder / CAPTURES_FOLDER).glob("*.pcapng")):
        yield f"{CAPTURES_FOLDER}/{path.name}", path


def build_certificate(statement_: Mapping[str, Any]) -> str:
    """Return the bytes of certificate.json, which are ready to be signed."""
    return json.dumps(statement_, indent=1, sort_keys=True) + "\n"


def _list_rules_with_verdict(found: RunResults, verdict: Verdict) -> list[str]:
    return [rule for rule, one in found.rules.items() if one.verdict is verdict]


def _list_deviations(found: RunResults) -> dict[str, Any]:
    return dict((found.run.get("baseline") or {}).get("expected", {}))


def _count_by_document(found: RunResults) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for rule, one in found.rules.items():
        counts.setdefault(rule.partition("-")[0], Counter())[one.verdict] += 1
    return {name: {str(verdict): found_[verdict] for verdict in Verdict} for name, found_ in sorted(counts.items())}


def _get_check_name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("check") or "no check").rpartition("::")[2]


def _join_shortened_system_texts(all_: Iterable[str]) -> str:
    """Join the first texts about the system, each shortened to one line, and append the number of omitted texts."""
    texts = [one_line(text, _MAX_SYSTEM_TEXT_CHARACTERS) for text in all_]
    more = f" and {len(texts) - _MAX_SYSTEM_TEXTS} more, see {RUN_FILE}" if len(texts) > _MAX_SYSTEM_TEXTS else ""
    return "; ".join(texts[:_MAX_SYSTEM_TEXTS]) + more


def _list_rules(rules: list[str]) -> str:
    return ", ".join(rules[:10]) + (f" and {len(rules) - 10} more" if len(rules) > 10 else "")
