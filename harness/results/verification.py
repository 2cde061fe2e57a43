"""Verify a certificate offline (``mqconform verify BUNDLE --public-key PUB``). Every part of a certificate is
checked before it is trusted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from harness.errors import MqconformError
from harness.results.agreement import (
    check_frames_in_captures,
    check_setups_in_captures,
    check_verdicts,
    get_run_period,
    read_verdict_lines,
)
from harness.results.bundle import InvalidCertificateFile, VerifiedBundle, open_bundle
from harness.results.certificate import (
    CERTIFICATE_BADGE_FILE,
    CERTIFICATE_FILE,
    CERTIFICATE_PAGE_FILE,
    CERTIFICATE_SCHEMA,
    NOT_EXERCISED_PERCENT,
    CertificateTerms,
    build_certificate,
    build_certificate_statement,
    list_bundle_files,
    list_reasons_to_refuse_certificate,
)
from harness.results.certificate_page import build_certificate_badge, build_certificate_page
from harness.results.installed import InstalledSuites, get_installed_suites
from harness.results.judged_again import REACH_VALUE_OF_VIRTUAL_SYSTEM, JudgedAgainResult, judge_again
from harness.results.replayed import ReplayResult
from harness.results.run_results import RunResults, read_run
from harness.results.schemas import check_run_folder, read_certificate, read_json
from harness.rules.catalogue import load_catalogue
from harness.run.run import hash_rules
from harness.run_folder import RULES_FILE


class CertificateOfOtherRuleSetOrVersion(MqconformError):
    """Raised when a certificate belongs to a different rule set or harness version, so that this harness cannot judge
    its verdicts.
    """


@dataclass(frozen=True, slots=True)
class VerifiedCertificate:
    """The content of a valid certificate. ``statement``: the content of certificate.json. ``result_of_judging_again``:
    the result of judging the verdicts again.
    """

    statement: dict[str, Any]
    result_of_judging_again: JudgedAgainResult

    def to_json(self) -> dict[str, Any]:
        """Return certificate.json as JSON data, together with the rules that were judged again and the rules for
        which the user must trust the signer.
        """
        return self.statement | {
            "judged_again": {
                "captures": self.result_of_judging_again.judged_capture_count,
                "rules": sorted(self.result_of_judging_again.reproduced_rules),
            },
            "believed": list(self.result_of_judging_again.unreproduced_rules),
            "replayed": self.result_of_judging_again.replay_result.to_json(),
        }


def verify_bundle(
    path: Path,
    key: Ed25519PublicKey,
    progress: Callable[[int, int], None] = lambda done, of: None,
    *,
    not_exercised_percent: float = NOT_EXERCISED_PERCENT,
) -> VerifiedCertificate:
    """Verify a certificate. Raise InvalidCertificateFile, which names the contradiction, if the certificate is invalid.
    Raise CertificateOfOtherRuleSetOrVersion, which names the harness version that can verify the certificate, if this
    harness cannot verify it. ``progress``: a function that is called with the number of captures and checks judged so
    far, and with the total number. ``not_exercised_percent``: the maximum share, in percent, of never exercised rules
    that the verifier accepts.
    """
    suites = get_installed_suites()
    with TemporaryDirectory(prefix="mqconform-verify-") as folder:
        opened = open_bundle(path, key, Path(folder))
        try:
            said = _read_statement(opened, suites)
            _check_certified_files(opened, said)
            check_run_folder(opened.folder)
            found = read_run(opened.folder)
            _check_statement(opened, said, found, suites, not_exercised_percent)
            lines = list(read_verdict_lines(opened.folder))
            needed = check_verdicts(iter(lines), suites, load_catalogue())
            check_frames_in_captures(opened.folder, needed, get_run_period(found.run))
            check_setups_in_captures(opened.folder, lines, found.run)
            again = judge_again(opened, found, lines, suites, progress)
        except (InvalidCertificateFile, CertificateOfOtherRuleSetOrVersion) as error:
            raise type(error)(f"{path}: {error}") from error
        except MqconformError as error:
            raise InvalidCertificateFile(f"{path}: {str(error).replace(folder, '')}") from error
    return VerifiedCertificate(said, again)


def _read_statement(opened: VerifiedBundle, suites: InstalledSuites) -> dict[str, Any]:
    """Read the statement of the certificate; raise CertificateOfOtherRuleSetOrVersion if the statement names suites
    that differ from the installed suites.
    """
    said = read_json(opened.folder / CERTIFICATE_FILE)
    if not isinstance(said, dict):
        raise InvalidCertificateFile(f"{CERTIFICATE_FILE} is not an object")
    rules = read_json(opened.folder / RULES_FILE)
    try:
        digest = hash_rules(rules)
    except (ValueError, RecursionError) as error:
        raise InvalidCertificateFile(f"{RULES_FILE} is broken: {error}") from error
    ours = {"schema": CERTIFICATE_SCHEMA, "harness": version("mqconform"), "suites": suites.digest}
    for name, value in ours.items():
        if said.get(name) != value:
            theirs = str(said.get(name))[:80]
            raise CertificateOfOtherRuleSetOrVersion(
                f"this installation cannot judge the run: {name} is {theirs!a} in the certificate, but {value} here"
            )
    if digest != suites.digest:
        raise InvalidCertificateFile(f"{RULES_FILE} is not the rule set named in {CERTIFICATE_FILE}")
    return read_certificate(opened.folder / CERTIFICATE_FILE)


def _check_certified_files(opened: VerifiedBundle, said: Mapping[str, Any]) -> None:
    made = {CERTIFICATE_FILE, CERTIFICATE_PAGE_FILE, CERTIFICATE_BADGE_FILE}
    held = {name: one._asdict() for name, one in opened.files_by_name.items() if name not in made}
    named = said["files"]
    if held != named:
        wrong = sorted(name for name in held.keys() | named.keys() if held.get(name) != named.get(name))
        raise InvalidCertificateFile(
            f"these files differ from the list of files in the certificate: {', '.join(wrong[:5])}"
        )


def _check_statement(
    opened: VerifiedBundle, said: Mapping[str, Any], found: RunResults, suites: InstalledSuites, most: float
) -> None:
    """Compare the statement of the certificate with the run folder. Then check that the run meets the terms in the
    statement.
    """
    if {name for name, _ in list_bundle_files(found)} != said["files"].keys():
        raise InvalidCertificateFile("the bundle contains files that do not belong to a run folder")
    terms = CertificateTerms(said["terms"]["not_exercised_percent"], said["terms"]["checks"])
    if terms.checks != suites.checks:
        raise InvalidCertificateFile(
            f"the terms of the certificate name {terms.checks} checks; a complete run has {suites.checks}"
        )
    if terms.not_exercised_percent > most:
        raise InvalidCertificateFile(
            f"the terms of the certificate allow {terms.not_exercised_percent:g} % of rules that were never exercised; "
            f"`--not-exercised` here is {most:g}"
        )
    if found.run["suites"] != suites.digest or found.run["harness"] != said["harness"]:
        raise InvalidCertificateFile("run.json and the certificate name different rule sets or harness versions")
    meant = build_certificate_statement(found, terms, said["files"])
    if build_certificate(meant) != build_certificate(said):
        wrong = [key for key in sorted(meant.keys() | said.keys()) if meant.get(key) != said.get(key)]
        raise InvalidCertificateFile(f"{CERTIFICATE_FILE} does not agree with its run: {', '.join(wrong)}")
    if reasons := list(list_reasons_to_refuse_certificate(found, terms, suites)):
        raise InvalidCertificateFile(f"the run does not qualify for a certificate: {reasons[0]}")
    for name, text in (
        (CERTIFICATE_PAGE_FILE, build_certificate_page(said, opened.key)),
        (CERTIFICATE_BADGE_FILE, build_certificate_badge(said)),
    ):
        if (opened.folder / name).read_bytes() != text.encode():
            raise InvalidCertificateFile(f"{name} does not agree with the statement of the certificate")


_FRAME_PREFIX_PATTERN = re.compile(r"^(after )?frame \d+: ")
MAX_LISTED_DIFFERENCES = 20


def describe_verified_certificate(found: VerifiedCertificate) -> Iterator[str]:
    """Yield lines for the terminal about a valid certificate: the declarations, the counts, the verdicts that were
    judged again, and the verdicts for which the user must trust the signer.
    """
    said = found.statement
    yield from _list_declarations(said)
    counts = ", ".join(f"{number:,} {name}" for name, number in said["rules"].items() if number)
    yield f"rules: {counts}; known deviations: {len(said['deviations'])}"
    again = found.result_of_judging_again
    decided = len(again.reproduced_rules) + len(again.unreproduced_rules)
    reproduced = len(again.reproduced_rules)
    yield f"judged again: {again.judged_capture_count:,} captures, {reproduced:,} of {decided:,} rules with a verdict"
    yield from describe_replay(again.replay_result)
    by_document = _format_counts_by_document(again.unreproduced_rules)
    yield f"stated only by the signer: {len(again.unreproduced_rules):,} rules{by_document}; `--format json` lists them"
    yield "stated only by the signer: name, vendor, version and profile of the system, dates and id of the run"
    system = said["system"]
    yield f"valid certificate of {system['name']!a} {system['version']!a}, profile {system['profile']!a}"
    yield f"run {said['run']!a} of {said['started']}, rule set {said['suites']}"


def describe_replay(found: ReplayResult) -> Iterator[str]:
    """Yield lines about the replay. The lines state how many checks were replayed, why other checks were not
    replayed, and which verdicts differ.
    """
    yield f"replayed: {len(found.checks_with_same_verdicts):,} checks reproduced the verdicts of the run"
    for why, number in Counter(map(_remove_frame_number, found.reason_by_unplayable_check.values())).most_common(
        MAX_LISTED_DIFFERENCES
    ):
        yield f"  not replayed: {number:,}: {why}"
    for test, differences in list(found.differences_by_check.items())[:MAX_LISTED_DIFFERENCES]:
        yield f"  different verdicts in {test}: {', '.join(one.rule for one in differences[:MAX_LISTED_DIFFERENCES])}"
    if len(found.differences_by_check) > MAX_LISTED_DIFFERENCES:
        yield f"  different verdicts in {len(found.differences_by_check) - MAX_LISTED_DIFFERENCES:,} more checks"


def _list_declarations(said: Mapping[str, Any]) -> Iterator[str]:
    if said["reach"] == REACH_VALUE_OF_VIRTUAL_SYSTEM:
        yield "declared: reach virtual: no system was tested; the reference ran in the tester's process"
    for key in ("not_applicable", "not_observable", "not_exercised"):
        yield f"declared: {key}: {len(said[key]):,} rules{_format_counts_by_document(said[key])}"
    share, most = said["not_exercised_percent"], said["terms"]["not_exercised_percent"]
    yield f"declared: terms: {said['terms']['checks']:,} checks; {share:g} % not exercised, at most {most:g} % allowed"
    yield f"declared: known deviations: {len(said['deviations'])} rules that fail"
    for rule, why in list(said["deviations"].items())[:MAX_LISTED_DIFFERENCES]:
        yield f"  {rule}: {why['reason']!a}"
    lacking = sorted(name for name, there in said["capabilities"].items() if not there)
    if lacking:
        yield f"declared: missing capabilities: {', '.join(lacking)}"


def _remove_frame_number(why: str) -> str:
    """Remove the frame number from the reason why a check cannot be replayed, so that checks with the same reason can
    be counted together.
    """
    return _FRAME_PREFIX_PATTERN.sub("", why)


def _format_counts_by_document(rules: list[str] | tuple[str, ...]) -> str:
    if not rules:
        return ""
    counts = Counter(rule.partition("-")[0] for rule in rules)
    return f" ({', '.join(f'{name} {number:,}' for name, number in sorted(counts.items()))})"
