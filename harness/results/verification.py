"""A certificate verified offline: ``mqconform verify BUNDLE --public-key PUB``. Nothing in it is believed unseen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from harness.errors import MqconformError
from harness.judging.captured import judge_capture
from harness.judging.passive import load_predicates
from harness.judging.verdicts import Verdict, read_verdicts
from harness.paths import SUITES
from harness.results.bundle import BadBundle, Opened, open_bundle
from harness.results.certificate import (
    BADGE_FILE,
    CERTIFICATE_FILE,
    CERTIFICATE_SCHEMA,
    PAGE_FILE,
    Terms,
    files_of,
    refusals,
    statement,
    written,
)
from harness.results.certificate_page import badge, page
from harness.results.run_results import RunResults, read_run
from harness.rules.catalogue import load_catalogue
from harness.run.checks_of_rules import driving_checks
from harness.run.run import frozen_tests
from harness.run_folder import CAPTURES_FOLDER, VERDICTS_FILE


class Verified(NamedTuple):
    """A certificate that holds. ``statement``: certificate.json; ``captures``: how many were judged again; ``rules``:
    how many rules they show.
    """

    statement: dict[str, Any]
    captures: int
    rules: int


def verify(path: Path, key: Ed25519PublicKey, progress: Callable[[int, int], None] = lambda done, of: None) -> Verified:
    """Verify a certificate; BadBundle says what does not hold. ``progress``: captures judged again, of how many."""
    with TemporaryDirectory(prefix="mqconform-verify-") as folder:
        opened = open_bundle(path, key, Path(folder))
        try:
            said = _statement(opened)
            _check_files(opened, said)
            found = read_run(opened.folder)
            _check_statement(opened, said, found)
            rules = _check_captures(opened, said["system"]["profile"], progress)
        except BadBundle as error:
            raise BadBundle(f"{path}: {error}") from error
        except MqconformError as error:
            raise BadBundle(f"{path}: {str(error).replace(folder, '')}") from error
    return Verified(said, sum(name.startswith(f"{CAPTURES_FOLDER}/") for name in opened.members), rules)


def _statement(opened: Opened) -> dict[str, Any]:
    try:
        said = json.loads((opened.folder / CERTIFICATE_FILE).read_text(encoding="utf-8"))
        if not isinstance(said, dict) or said.get("schema") != CERTIFICATE_SCHEMA:
            raise BadBundle(f"{CERTIFICATE_FILE}: is of a schema that this harness does not know")
    except OSError as error:
        raise BadBundle(f"{CERTIFICATE_FILE} is missing") from error
    except (ValueError, RecursionError) as error:
        raise BadBundle(f"{CERTIFICATE_FILE}: is broken: {error}") from error
    return said


def _check_files(opened: Opened, said: Mapping[str, Any]) -> None:
    made = {CERTIFICATE_FILE, PAGE_FILE, BADGE_FILE}
    held = {name: one._asdict() for name, one in opened.members.items() if name not in made}
    named = said.get("files")
    if held != named:
        named = named if isinstance(named, dict) else {}
        wrong = sorted(name for name in held.keys() | named.keys() if held.get(name) != named.get(name))
        raise BadBundle(f"the files are not those that the certificate names: {', '.join(wrong[:5])}")


def _check_statement(opened: Opened, said: Mapping[str, Any], found: RunResults) -> None:
    """Compare what the certificate says with what its run folder says; then its terms."""
    if {name for name, _ in files_of(found)} != said["files"].keys():
        raise BadBundle("it has files that belong to no run folder")
    try:
        terms = Terms(float(said["terms"]["not_exercised_percent"]), int(said["terms"]["checks"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadBundle(f"{CERTIFICATE_FILE}: terms: {error}") from error
    meant = statement(found, terms, said["files"])
    if said["harness"] == version("mqconform") and terms.checks < (whole := frozen_tests(SUITES)):
        raise BadBundle(f"it is certified on terms of {terms.checks} checks; a whole run has {whole}")
    if written(meant) != written(said):
        wrong = [key for key in sorted(meant.keys() | said.keys()) if meant.get(key) != said.get(key)]
        raise BadBundle(f"{CERTIFICATE_FILE} does not say what its run says: {', '.join(wrong)}")
    if reasons := list(refusals(found, terms)):
        raise BadBundle(f"its run could not be certified: {reasons[0]}")
    for name, text in ((PAGE_FILE, page(said, opened.key)), (BADGE_FILE, badge(said))):
        if (opened.folder / name).read_text(encoding="utf-8") != text:
            raise BadBundle(f"{name} does not show what the certificate says")


def _check_captures(opened: Opened, profile: str, progress: Callable[[int, int], None]) -> int:
    """Judge the captures again: what they convict, the verdicts convict; what passes on packets, they show.

    A pass by a check that drives an exchange for such a rule may be about what the system did with packets of others.
    """
    catalogue, passive, driving = load_catalogue(), load_predicates(), driving_checks()
    convicted, passed = set[tuple[str, str]](), set[tuple[str, str]]()
    for line in read_verdicts(opened.folder / VERDICTS_FILE):
        if line["verdict"] == Verdict.FAIL:
            convicted.add((line["rule"], line["capture"] or ""))
        elif line["verdict"] == Verdict.PASS:
            passed.add((line["rule"], str(line["test"]).partition("[")[0]))
    shown = set[str]()
    names = sorted(name for name in opened.members if name.startswith(f"{CAPTURES_FOLDER}/"))
    for number, name in enumerate(names, 1):
        for entry in judge_capture(opened.folder / name, name, catalogue, profile).entries:
            shown.add(entry.rule)
            if entry.verdict is Verdict.FAIL and (entry.rule, name) not in convicted:
                raise BadBundle(f"{name} breaks {entry.rule}, which no verdict says: observed {entry.observed[:200]}")
        progress(number, len(names))
    on_packets = {rule for rule, check in passed if rule in passive and check not in driving.get(rule, ())}
    if unseen := sorted(on_packets - shown):
        raise BadBundle(f"no capture shows a packet to judge {', '.join(unseen[:5])} by, which its verdicts pass")
    return len(shown)


def said_of(found: Verified) -> Iterator[str]:
    """Yield lines for the terminal."""
    system = found.statement["system"]
    yield f"holds: {system['name']!a} {system['version']!a}, profile {system['profile']!a}"
    yield f"run {found.statement['run']} of {found.statement['started']}, rule set {found.statement['suites']}"
    counts = ", ".join(f"{number:,} {name}" for name, number in found.statement["rules"].items() if number)
    yield f"rules: {counts}; known deviations: {len(found.statement['deviations'])}"
    yield f"judged again: {found.captures:,} captures, {found.rules:,} rules that every packet shows"
