"""Judges the reference in the configuration of each Windows release, with and without the profile of the release,
in virtual time. The benchmark judges only the rules that the product notes of the configuration concern. Target:
with the profile, no rule fails or stays undecided, and every violated rule is a warning that names a product note.
Without the profile, each of these rules fails, is a warning (SHOULD), or is inconclusive after an earlier failed
step.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.judging.verdicts import RUN_FAILING_VERDICTS, VERDICTS_OF_BROKEN_RULES, Verdict
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.results.run_results import RunResults, read_run
from harness.rules.catalogue import Catalogue, load_catalogue
from harness.rules.releases import RELEASES
from reference_qm.releases.names import NO_RELEASE, WINDOWS_RELEASES
from reference_qm.releases.table import get_release_behaviours

SHOWN = (Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR)
HEAD = ("releases", "behaviours", "rules", *SHOWN, "other", "those warnings without the profile")
_PINGS = ("ping = true\n", "ping_initiator = true\n")


def measure() -> Iterator[str]:
    """Judge each release. Yield a table in Markdown, and the complaints."""
    catalogue = load_catalogue()
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{' --- |' * len(HEAD)}"
    complaints: list[str] = []
    idle = dict.fromkeys(name for release in WINDOWS_RELEASES for name in get_release_behaviours(release))
    with tempfile.TemporaryDirectory() as name:
        for releases in group_equal_releases(catalogue):
            judged = judge_releases(catalogue, releases, Path(name))
            complaints += judged.complaints
            for behaviour in judged.seen:
                idle.pop(behaviour, None)
            yield judged.row
    yield f"no rule sees: {', '.join(sorted(idle)) or 'none'}"
    yield from complaints or [
        "no rule fails or stays undecided, and no rule is violated without a note that excuses it"
    ]


@dataclass(frozen=True, slots=True)
class JudgedRelease:
    """The result for a release. ``row``: the row of the release in the table. ``complaints``: the unwanted
    verdicts. ``seen``: the deviations of the release that a violated rule shows.
    """

    row: str
    complaints: list[str]
    seen: set[str]


def group_equal_releases(catalogue: Catalogue) -> list[list[str]]:
    """Return the releases in groups whose members have equal behavior and excuses. In virtual time, runs of such
    releases have equal results.
    """
    groups: dict[object, list[str]] = {}
    for release in WINDOWS_RELEASES:
        excused = frozenset(catalogue.notes.list_excused_rules(release))
        groups.setdefault((*get_release_behaviours(release), excused, RELEASES[release]), []).append(release)
    return list(groups.values())


def judge_releases(catalogue: Catalogue, releases: list[str], folder: Path) -> JudgedRelease:
    """Run the checks of the rules that the notes of equal releases concern, with and without the profile."""
    release = releases[-1]
    rules = find_rules_of_notes(catalogue, release)
    held = run_as_release(release, release, rules, folder / f"{release}-held")
    plain = run_as_release(release, NO_RELEASE, rules, folder / f"{release}-plain")
    excusing = catalogue.notes.list_excused_rules(release)
    excused = {rule for rule, one in held.rules.items() if one.verdict is Verdict.WARN and rule in excusing}
    failing = {rule for rule in excused if find_final_verdict(plain, rule) in VERDICTS_OF_BROKEN_RULES}
    unjudged = {rule for rule in excused if find_final_verdict(plain, rule) is Verdict.INCONCLUSIVE}
    counts = count_verdicts(one.verdict for rule, one in held.rules.items() if rule in rules)
    cells = [", ".join(releases), len(get_release_behaviours(release)), len(rules), *counts]
    row = f"| {' | '.join(map(str, cells))} | {len(failing)} missed, {len(unjudged)} inconclusive |"
    complaints = [
        *find_unwanted_verdicts(release, held),
        *(f"{release}: {rule} is violated only with the profile" for rule in sorted(excused - failing - unjudged)),
    ]
    own = get_release_behaviours(release).keys()
    return JudgedRelease(
        row, complaints, {name for rule in excused for name in excusing[rule].reference if name in own}
    )


def find_rules_of_notes(catalogue: Catalogue, release: str) -> list[str]:
    """Return the rules that the notes of a release's configuration concern."""
    names = get_release_behaviours(release).keys()
    found = set[str]()
    for notes in catalogue.notes.by_document.values():
        for note in notes.values():
            if names & set(note.reference):
                found |= note.rules | (note.excuses if release in note.excused else set())
    return sorted(found & catalogue.keys())


def run_as_release(release: str, profile: str, rules: Iterable[str], out: Path, workers: int = 1) -> RunResults:
    """Run checks against the reference that is configured as a release, with a profile, in a separate process.

    Without ``rules`` all checks run.
    """
    sut = out.with_suffix(".toml")
    sut.write_text(build_sut_file(release, profile), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mqconform",
        "run",
        "--sut",
        str(sut),
        "--out",
        str(out),
        "--workers",
        str(workers),
    ]
    command += [word for rule in rules for word in ("--rule", rule)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode > 1:
        raise RuntimeError(f"{release}: {done.stderr.strip() or done.stdout.strip()}")
    return read_run(out)


def build_sut_file(release: str, profile: str) -> str:
    """Return the SUT file of the reference that is configured as a release, with all capabilities of this release."""
    text = VIRTUAL_SUT_FILE_TEXT.replace("[driver]", f'profile = "{profile}"\n[driver]')
    if not get_release_behaviours(release).keys() & {"pings-first"}:
        text = text.replace(_PINGS[1], "")
    return f'{text}[reference]\nrelease = "{release}"\n'


def count_verdicts(verdicts: Iterable[Verdict]) -> list[int]:
    """Return the number of verdicts of each kind in ``SHOWN``, and the number of all other verdicts."""
    found = Counter(verdicts)
    shown = [found[one] for one in SHOWN]
    return [*shown, found.total() - sum(shown)]


def find_unwanted_verdicts(release: str, held: RunResults) -> list[str]:
    """Return a line for each rule whose verdict contradicts the notes of the release."""
    return [
        f"{release}: {rule}: {one.verdict}" for rule, one in held.rules.items() if one.verdict in RUN_FAILING_VERDICTS
    ]


def find_final_verdict(run: RunResults, rule: str) -> Verdict:
    """Return the final verdict of a rule in a run."""
    return run.rules[rule].verdict if rule in run.rules else Verdict.NOT_EXERCISED
