"""Manage a run: its folder, its log of verdicts, its results, and its end."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

from harness.compiled.kept import get_cached_value
from harness.compiled.sources import get_stamps_at_first_call
from harness.errors import FolderError, UsageError
from harness.exit_codes import EXIT_INTERRUPTED, EXIT_NOT_CONFORMANT, EXIT_OK, EXIT_TOO_FEW_CHECKS, EXIT_USAGE
from harness.judging.baseline import Baseline, BaselineComparison, compare_with_deviations
from harness.judging.robustness import ROBUSTNESS_DOCUMENT, ROBUSTNESS_TITLE, RULE_BY_CONDITION
from harness.judging.verdicts import DECIDED_VERDICTS, EarlierVerdicts, Verdict, VerdictLog, read_stored_verdict_lines
from harness.paths import SUITES
from harness.rules import renamed_checks
from harness.rules.catalogue import Catalogue, load_catalogue, load_index
from harness.rules.coverage import count_coverage_by_section
from harness.rules.members import load_members
from harness.rules.proof_record import load_proof
from harness.rules.renamed_checks import get_current_check
from harness.run.checks_of_rules import checks_of_rules
from harness.run.depth_of_rules import depth_of_rules
from harness.run.lock import RunLock
from harness.run.named_roots import RootCauses
from harness.run.results import RuleResult
from harness.run.system_prerequisites import SystemPrerequisites
from harness.run_folder import (
    CAPTURE_SUFFIX,
    CAPTURES_FOLDER,
    LOCK_FILE,
    RULES_FILE,
    RUN_FILE,
    RUN_SCHEMA_VERSION,
    VERDICTS_FILE,
    build_capture_name,
)
from harness.sut.sut_file import SutFile
from harness.sut.sut_process import ProcessEnd


@dataclass(slots=True)
class ConformanceRun:
    """A run in progress, which writes its results to a run folder."""

    folder: Path
    file: SutFile
    catalogue: Catalogue
    selection: str
    runs_all_checks: bool
    """Whether all suites are selected. If so, the number of checks must be at least the number in frozen.toml."""
    id: str
    verdict_log: VerdictLog
    started: str
    earlier_verdicts: EarlierVerdicts
    run_lock: RunLock
    topmost_created_folder: Path | None = None
    """The topmost folder in the path that was created for this run."""
    rules_file_sha256: str | None = None
    """The SHA-256 of rules.json, set when that file is written. The hash identifies the rules that this run could
    judge, and the checks of these rules.
    """
    check_count: int = 0
    """The number of checks in the run, including those that were run before the run was resumed."""
    ids_of_run_checks: set[str] = field(default_factory=set)
    passive_failures: set[str] = field(default_factory=set)
    """The passive rules that earlier checks have found to be broken. Because each of them fails a check only once,
    an error in every packet fails only one check of the run.
    """
    pass_count_by_rule: Counter[str] = field(default_factory=Counter)
    """The number of passes of each rule that this process recorded."""
    unique_run_string: str = field(default_factory=lambda: f"{time.time_ns():x}-{os.getpid():x}")
    """A string that is unique to every run, and to every part of a resumed run."""
    residue: list[dict[str, str]] = field(default_factory=list)
    """The residue: objects that checks left in the SUT, and effects of finished checks that occurred late. No check
    judges the residue.
    """
    earlier_residue: list[dict[str, str]] = field(default_factory=list)
    """The residue that was recorded before the run was resumed. The residue of repeated checks is not included."""
    timeouts: dict[str, Any] | None = None
    """The speed of the SUT's answers at the start of the run, and the timeouts that are computed from it
    (`report_timeouts`).
    """
    abort_reason: str | None = None
    deadline_s: int | None = None
    """int s: the time after the beginning of the run from which no further check is started."""
    began_s: float = field(default_factory=time.monotonic)
    was_interrupted: bool = False
    was_sut_lost: bool = False
    """Whether the run was aborted because the SUT could no longer be tested."""
    was_check_file_unreadable: bool = False
    """Whether a file of checks could not be read."""
    process_ends: list[ProcessEnd] = field(default_factory=list)
    captured_byte_count: int = 0
    """The number of bytes that this process and its workers have written to captures."""
    root_causes: RootCauses = field(default_factory=RootCauses)
    """The root causes (missing prerequisites) of verdicts in this run."""
    system_prerequisites: SystemPrerequisites = field(default_factory=SystemPrerequisites)
    """The findings about the prerequisites on the system that the run has checked so far."""
    queue_managers: list[UUID] = field(default_factory=list)
    """The different identifiers that the SUTs of the workers had when the run started. Workers may share one SUT."""
    baseline: Baseline | None = None
    """The known deviations, which do not make the run fail."""
    _written_residue_count: int = 0
    """The number of residue entries that run.json already contains."""
    is_part_of_proof: bool = False
    """Whether the run is part of ``prove``. In ``prove``, the harness does not search for the smallest combination of
    values with which a varied check fails, and each varied check must vary all parameters that it names.
    """
    variation_strength: int = 2
    """The strength of variation: varied checks cover all combinations of values of this number of parameters. If it
    is 1, no check is varied.
    """
    failed: bool = False
    """Whether pytest reported a check as failed, including errors in set-up or teardown."""

    @classmethod
    def begin(
        cls, folder: Path, file: SutFile, catalogue: Catalogue, selection: str, *, resume: bool
    ) -> ConformanceRun:
        """Open a new run folder or, with ``resume``, an existing one. Raise UsageError if the folder cannot be
        used.
        """
        try:
            if resume and not all((folder / name).is_file() for name in (RUN_FILE, VERDICTS_FILE)):
                raise UsageError(f"{folder} contains no run to resume: {RUN_FILE} or {VERDICTS_FILE} is missing")
            if _has_files_of_no_run(folder):
                raise UsageError(f"{folder} is not empty and contains no run; give another --out")
            made = next((path for path in (*reversed(folder.parents), folder) if not path.exists()), None)
            folder.mkdir(parents=True, exist_ok=True)
            lock = RunLock.take(folder)
        except OSError as error:
            raise _refuse_run_folder(folder, error) from error
        try:
            run = cls._begin_locked(folder, file, catalogue, selection, lock, resume=resume)
            run.topmost_created_folder = made
            return run
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _begin_locked(
        cls, folder: Path, file: SutFile, catalogue: Catalogue, selection: str, lock: RunLock, *, resume: bool
    ) -> ConformanceRun:
        verdicts = folder / VERDICTS_FILE
        started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        run_id = f"{started.replace(':', '').replace('-', '')}-{make_file_name_part(file.sut.name)}-{folder.name}"[:120]
        done, earlier = EarlierVerdicts(), _EarlierResults(run_id, started)
        if resume:
            earlier = _EarlierResults.read(folder, file)
            done = _read_earlier_verdicts(verdicts, earlier)
        elif verdicts.exists() and verdicts.stat().st_size:
            raise UsageError(f"{folder} already contains a run; give another --out, or --resume to resume it")
        try:
            (folder / CAPTURES_FOLDER).mkdir(parents=True, exist_ok=True)
            log = VerdictLog(verdicts, datetime.fromisoformat(earlier.started), done)
            run = cls(
                folder,
                file,
                catalogue,
                selection,
                selection == "all",
                earlier.id,
                log,
                earlier.started,
                done,
                lock,
                process_ends=earlier.process_ends,
                root_causes=earlier.root_causes,
                earlier_residue=earlier.residue,
            )
            run.write_run_file(finished=None, code=None)
        except (OSError, FolderError) as error:
            raise _refuse_run_folder(folder, error) from error
        return run

    def write_run_file(self, finished: str | None, code: int | None) -> None:
        """Write run.json."""
        sut = self.file.sut
        content: dict[str, Any] = {
            "schema": RUN_SCHEMA_VERSION,
            "run": self.id,
            "started": self.started,
            "finished": finished,
            "suites": self.rules_file_sha256,
            "sut": {"name": sut.name, "vendor": sut.vendor, "version": sut.version, "profile": sut.profile},
            "reach": self.file.driver.kind,
            "harness": version("mqconform"),
            "selection": self.selection,
            "capabilities": dict(self.file.capabilities),
            "residue": [*self._list_remaining_residue(), *self.residue],
            "timeouts": self.timeouts,
            "queue_managers": [str(each) for each in self.queue_managers],
            "deaths": [asdict(death) for death in self.process_ends],
            "roots": self.root_causes.to_json(),
            "aborted": self.abort_reason,
            "baseline": self.baseline.to_json(self.compare_with_baseline()) if self.baseline is not None else None,
            "exit": code,
        }
        if self.variation_strength != 2:
            content["strength"] = self.variation_strength
        if self.file.systems:
            content["systems"] = {role: asdict(system) for role, system in self.file.systems.items()}
        self._replace_file(RUN_FILE, json.dumps(content, indent=1, ensure_ascii=False))

    def _list_remaining_residue(self) -> Iterator[dict[str, str]]:
        """Yield the residue that was recorded before the run was resumed, except the residue of repeated checks."""
        return (one for one in self.earlier_residue if one["check"] not in self.ids_of_run_checks)

    def write_new_residue(self) -> None:
        """Write run.json if checks have added residue since run.json was last written. A killed run then does not
        lose the residue.
        """
        if len(self.residue) > self._written_residue_count:
            self.write_run_file(finished=None, code=None)
            self._written_residue_count = len(self.residue)

    def describe(self) -> None:
        """Write rules.json, which contains the rules that the run can judge. This method is called after pytest has
        imported the checks.
        """
        if self.rules_file_sha256 is not None:
            return
        content, suites = build_rules_json(self.catalogue)
        self._replace_file(RULES_FILE, content)
        self.rules_file_sha256 = suites

    def _replace_file(self, name: str, content: str) -> None:
        """Write a file of the folder. The file is replaced completely, or is not changed."""
        new = self.folder / f"{name}.new"
        try:
            new.write_text(content, encoding="utf-8")
            new.replace(self.folder / name)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise FolderError.from_os_error(self.folder / name, error) from error

    def lose(self, why: str) -> None:
        """Record that the run cannot continue, because the SUT is gone or a different system answers in its place."""
        self.abort_reason, self.was_sut_lost = why, True

    def record_process_end(self, death: ProcessEnd) -> None:
        """Record immediately in run.json that the SUT's process has ended."""
        self.process_ends.append(death)
        self.write_run_file(finished=None, code=None)

    def end(self) -> int:
        """Close the run; return its exit code."""
        self.verdict_log.close()
        if not self.was_check_file_unreadable:
            self.describe()
        code = self.exit_code()
        self.write_run_file(datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"), code)
        self.run_lock.release()
        return code

    def discard_run_without_checks(self) -> None:
        """Close a run without checks. Remove its folder if the run created the folder."""
        if self.topmost_created_folder is None:
            self.end()
            return
        self.verdict_log.close()
        self.run_lock.release()
        shutil.rmtree(self.topmost_created_folder, ignore_errors=True)

    def exit_code(self) -> int:
        """Return the exit code of the run. It is 0 only if enough rules were judged, no rule failed, and no rule
        stayed undecided.
        """
        if self.was_sut_lost:
            return EXIT_USAGE
        if self.was_interrupted:
            return EXIT_INTERRUPTED
        open_ones = (Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE)
        broke = self.abort_reason or self.failed or self.process_ends or self.root_causes.root_cause_by_subject
        if broke or any(self.verdict_log.counts[verdict] for verdict in open_ones):
            return EXIT_NOT_CONFORMANT
        if not self.compare_with_baseline().matches_run:
            return EXIT_NOT_CONFORMANT
        if self.describe_shortfall() is not None:
            return EXIT_TOO_FEW_CHECKS
        return EXIT_OK

    def compare_with_baseline(self) -> BaselineComparison:
        """Compare the run with its baseline. Without a baseline, every failing rule is new."""
        whole = self.partial() is None and self.describe_shortfall() is None
        deviations = self.baseline.deviations if self.baseline is not None else {}
        return compare_with_deviations(self.verdict_log.rules, deviations, whole=whole)

    def is_known_deviation(self, rule: str, verdict: Verdict) -> bool:
        """Return whether the baseline accepts a verdict as a known deviation."""
        return verdict is Verdict.FAIL and self.baseline is not None and rule in self.baseline.deviations

    def add_reason_of_known_deviation(self, result: RuleResult) -> RuleResult:
        """Return the final verdict of a rule. If the verdict is a known deviation, add the reason from the
        baseline.
        """
        if self.baseline is None or not self.is_known_deviation(result.rule, result.verdict):
            return result
        return replace(result, reason_of_known_deviation=self.baseline.deviations[result.rule].reason)

    def describe_shortfall(self) -> str | None:
        """Return one line with the reason why too few checks or rules were judged, or None if enough were judged."""
        tests = len(
            self.ids_of_run_checks
            | self.earlier_verdicts.checks_with_verdicts
            | self.earlier_verdicts.checks_to_run_again
        )
        if tests == 0:
            return "no check ran"
        if not any(verdict in DECIDED_VERDICTS for verdict in self.verdict_log.rules.values()):
            return "no rule was judged"
        frozen = read_frozen_test_count(SUITES)
        if self.runs_all_checks and tests < frozen:
            return f"only {tests} checks ran; a complete run has {frozen} (suites/frozen.toml)"
        return None

    def is_overdue(self) -> bool:
        """Return whether the deadline has passed. After the deadline, no further check is started."""
        return self.deadline_s is not None and time.monotonic() - self.began_s >= self.deadline_s

    def summarize_counts(self) -> str:
        """Return one line with the number of checks, and the number of rules with each verdict."""
        rules = Counter(self.verdict_log.rules.values())
        counts = ", ".join(f"{rules[verdict]} {verdict}" for verdict in Verdict if rules[verdict])
        made = len(
            self.ids_of_run_checks
            | self.earlier_verdicts.checks_with_verdicts
            | self.earlier_verdicts.checks_to_run_again
        )
        checks = f"{made} of {self.check_count}" if self.check_count > made else str(made)
        sut = self.file.sut
        partial = f" (partial: {part})" if (part := self.partial()) is not None else ""
        return f"{sut.name} {sut.version}: {checks} checks, {rules.total()} rules: {counts or 'no verdicts'}{partial}"

    def partial(self) -> str | None:
        """Return the reason why the run is partial, as a short text, or None if the run is complete."""
        if self.abort_reason:
            return self.abort_reason
        return None if self.runs_all_checks else f"only {self.selection}"

    def capture_path(self, test: str, attempt: int = 0) -> Path:
        """Return the path of the capture of an attempt at a check. The file name is unique to the check and its
        parameters. If a resumed run repeats a check, the capture gets a new name, because earlier verdicts refer to
        the first capture.
        """
        again = (
            f"-from-{self.earlier_verdicts.last_sequence_number + 1}"
            if test == self.earlier_verdicts.interrupted_check or test in self.earlier_verdicts.checks_to_run_again
            else ""
        )
        again += f"-again-{attempt}" if attempt else ""
        return self.folder / CAPTURES_FOLDER / f"{build_capture_name(test)}{again}{CAPTURE_SUFFIX}"


def _has_files_of_no_run(folder: Path) -> bool:
    """Return whether a folder contains files that no run created."""
    if not folder.is_dir() or (folder / RUN_FILE).is_file():
        return False
    return any(path.name != LOCK_FILE for path in folder.iterdir())


def _refuse_run_folder(folder: Path, error: OSError | FolderError) -> UsageError:
    why = error if isinstance(error, OSError) else error.__cause__
    return UsageError(f"{folder} cannot contain a run: {getattr(why, 'strerror', why)}; give another --out")


def read_frozen_test_count(suites: Path) -> int:
    """Return the number of checks in a complete run, as stored in frozen.toml."""
    tree = tomllib.loads((suites / "frozen.toml").read_text(encoding="utf-8"))
    return int(tree["tests"])


def make_file_name_part(text: str) -> str:
    """Return a form of a text that can be part of a file name. It contains only letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()[:150] or "x"


@dataclass(frozen=True, slots=True)
class _EarlierResults:
    """The results of a run before it was resumed. ``has_run_ended`` states whether the run had finished."""

    id: str
    started: str
    has_run_ended: bool = False
    process_ends: list[ProcessEnd] = field(default_factory=list)
    root_causes: RootCauses = field(default_factory=RootCauses)
    residue: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path, file: SutFile) -> _EarlierResults:
        """Read run.json. Raise UsageError if the file is invalid or names a different system."""
        try:
            run = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
            sut = run["sut"]
            name, version_of_sut = sut["name"], sut["version"]
            earlier = cls(
                str(run["run"]),
                str(run["started"]),
                bool(run.get("finished")) and not run.get("aborted"),
                [ProcessEnd(**death) for death in run.get("deaths", ())],
                RootCauses.from_json(run.get("roots", ())),
                [
                    {"check": get_current_check(str(one["check"])), "what": str(one["what"])}
                    for one in run.get("residue", ())
                ],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{folder / RUN_FILE} is truncated or broken; this run cannot be resumed") from error
        if (name, version_of_sut) != (file.sut.name, file.sut.version):
            raise UsageError(
                f"{folder} contains a run of {name} {version_of_sut}; give the SUT file of this system to resume "
                "the run"
            )
        return earlier


def _read_earlier_verdicts(path: Path, earlier: _EarlierResults) -> EarlierVerdicts:
    """Return the verdicts that were recorded before the run was resumed, and the checks that must run again."""
    done = EarlierVerdicts()
    for number, line in enumerate(read_stored_verdict_lines(path), 1):
        if line["schema"] != RUN_SCHEMA_VERSION:
            raise UsageError(
                f"{path} has schema {line['schema']} of an older harness; finish the run with that harness, "
                "or start a new run with another --out"
            )
        try:
            test = None if (named := line.get("test")) is None else get_current_check(named)
            verdict, known = Verdict(line["verdict"]), (test, line["rule"], line["verdict"])
            done.last_sequence_number = max(done.last_sequence_number, int(line["seq"]))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{path}:{number}: this line is not a verdict of this harness; remove the line to resume the run"
            ) from error
        done.note(line["rule"], verdict, line.get("advice"))
        if known[0] is None:  # a verdict about the run, not about one check
            continue
        if known[0] != done.interrupted_check:
            done.interrupted_check, done.line_count_of_interrupted_check = known[0], Counter()
        done.line_count_of_interrupted_check[known] += 1
        done.checks_with_verdicts.add(known[0])
    if earlier.has_run_ended:
        done.interrupted_check, done.line_count_of_interrupted_check = None, Counter()
        done.checks_to_run_again = done.checks_with_verdicts & {one["check"] for one in earlier.residue}
        done.checks_with_verdicts -= done.checks_to_run_again
    elif done.interrupted_check is not None:
        done.checks_with_verdicts.remove(done.interrupted_check)
    return done


def build_rules_json(catalogue: Catalogue) -> tuple[str, str]:
    """Return the text of rules.json, and the SHA-256 of its canonical JSON."""
    if catalogue is not load_catalogue():
        return _encode_rules(catalogue)
    text, digest = get_cached_value("rules", get_stamps_at_first_call(), lambda: _encode_rules(catalogue))
    return text, digest


def _encode_rules(catalogue: Catalogue) -> tuple[str, str]:
    tree = _build_rules_content(catalogue)
    return json.dumps(tree, indent=1), hash_rules(tree)


def hash_rules(rules: Any) -> str:
    """Return the SHA-256 of the canonical JSON of rules.json, in hexadecimal digits."""
    canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


@cache
def _build_rules_content(catalogue: Catalogue) -> dict[str, Any]:
    """Return the content of rules.json: the catalogue, the checks, and the recorded proof."""
    proof, checks, depth = load_proof(), checks_of_rules(), depth_of_rules()
    rules = catalogue.to_rules_json() | {row.id: row.to_json() for row in RULE_BY_CONDITION.values()}
    for name, row in rules.items():
        row |= {"checks": checks.get(name, []), **depth.get(name, {})}
        if name in catalogue:
            row |= {"checked": name in proof.checked, "proven": name in proof.proven}
    sections = count_coverage_by_section(catalogue, load_index(), proof.checked, proof.proven)
    return {
        "schema": RUN_SCHEMA_VERSION,
        "documents": catalogue.list_titles() | {ROBUSTNESS_DOCUMENT: ROBUSTNESS_TITLE},
        "rules": rules,
        "coverage": [asdict(one) for one in sections],
        "members": [asdict(one) for one in load_members()],
        "renamed": dict(renamed_checks.load_renamed_checks()),
    }
