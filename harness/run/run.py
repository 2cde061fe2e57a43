"""One run: its folder, its verdict log, its verdicts, its end."""

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

from harness.compiled.kept import keep_value
from harness.compiled.sources import stamps
from harness.errors import FolderError, UsageError
from harness.exit_codes import EXIT_INTERRUPTED, EXIT_NOT_CONFORMANT, EXIT_OK, EXIT_TOO_FEW, EXIT_USAGE
from harness.judging.baseline import Baseline, Held, hold
from harness.judging.robustness import DOCUMENT, ROWS, TITLE
from harness.judging.verdicts import DECIDED, Recorded, Verdict, VerdictLog, read_lines
from harness.paths import SUITES
from harness.rules import renamed_checks
from harness.rules.catalogue import Catalogue, load_catalogue, load_index
from harness.rules.coverage import coverage
from harness.rules.members import load_members
from harness.rules.proof_record import load_proof
from harness.rules.renamed_checks import current_check
from harness.run.checks_of_rules import checks_of_rules
from harness.run.lock import RunLock
from harness.run.named_roots import NamedRoots
from harness.run.results import RuleResult
from harness.run.roots import Roots
from harness.run_folder import (
    CAPTURE_SUFFIX,
    CAPTURES_FOLDER,
    LOCK_FILE,
    RULES_FILE,
    RUN_FILE,
    SCHEMA,
    VERDICTS_FILE,
    capture_name,
)
from harness.sut.sut_file import SutFile
from harness.sut.sut_process import Death


@dataclass(slots=True)
class Run:
    """A run folder that is being written."""

    folder: Path
    file: SutFile
    catalogue: Catalogue
    selection: str
    whole: bool
    """Whether all suites were asked for: then the frozen counts hold."""
    id: str
    log: VerdictLog
    started: str
    done: Recorded
    lock: RunLock
    made: Path | None = None
    """The highest folder that was made for it."""
    suites: str | None = None
    """The SHA-256 of rules.json, once written: the rules that this run could judge, and their checks."""
    asked: int = 0
    """How many checks it is to make, those of before it was resumed included."""
    tests_run: set[str] = field(default_factory=set)
    passive_failures: set[str] = field(default_factory=set)
    """Passive rules already seen broken: one packet field that is wrong must not fail every check of the run."""
    passes: Counter[str] = field(default_factory=Counter)
    """How often each rule has passed in this process."""
    word: str = field(default_factory=lambda: f"{time.time_ns():x}-{os.getpid():x}")
    """A word that no other run has, nor this one before it was resumed."""
    residue: list[dict[str, str]] = field(default_factory=list)
    """Residue: objects that checks left behind in the SUT, or late effects of a finished check; no check judges
    them.
    """
    earlier_residue: list[dict[str, str]] = field(default_factory=list)
    """That of the run before it was resumed; of checks that are made again it counts no more."""
    timeouts: dict[str, Any] | None = None
    """How fast the SUT answered at the start, and the timeouts that follow (harness.sut.timeouts.report)."""
    aborted: str | None = None
    deadline_s: int | None = None
    """Seconds after the begin of the run after which no check is begun."""
    began_s: float = field(default_factory=time.monotonic)
    interrupted: bool = False
    lost: bool = False
    """Whether it was aborted because the SUT could not be tested any more."""
    uncollected: bool = False
    """Whether a file of checks could not be read."""
    deaths: list[Death] = field(default_factory=list)
    captured: int = 0
    """Bytes of the captures that this process, or its workers, wrote."""
    roots: NamedRoots = field(default_factory=NamedRoots)
    """The missing roots on which its verdicts rest."""
    known: Roots = field(default_factory=Roots)
    """The known roots of its verdicts."""
    queue_managers: list[UUID] = field(default_factory=list)
    """The identifiers of the SUT at the start, each once: workers may share it."""
    baseline: Baseline | None = None
    """Deviations that are known: they do not end the run badly."""
    _kept_residue: int = 0
    """How much of the residue run.json has."""
    shrinks: bool = True
    """Whether a varied check that fails looks for the smallest combination."""
    strength: int = 2
    """How many parameters each combination of a varied check has; 1: no check is varied."""
    failed: bool = False
    """Whether a check failed for pytest, also one that broke before or after it could judge."""

    @classmethod
    def begin(cls, folder: Path, file: SutFile, catalogue: Catalogue, selection: str, *, resume: bool) -> Run:
        """Open a run folder, new or (``resume``) begun before; UsageError when it cannot be used."""
        try:
            if resume and not all((folder / name).is_file() for name in (RUN_FILE, VERDICTS_FILE)):
                raise UsageError(f"{folder}: nothing to resume: {RUN_FILE} or {VERDICTS_FILE} is missing")
            if _is_foreign(folder):
                raise UsageError(f"{folder}: is not empty and holds no run; give another --out")
            made = next((path for path in (*reversed(folder.parents), folder) if not path.exists()), None)
            folder.mkdir(parents=True, exist_ok=True)
            lock = RunLock.take(folder)
        except OSError as error:
            raise _unusable(folder, error) from error
        try:
            run = cls._begin_locked(folder, file, catalogue, selection, lock, resume=resume)
            run.made = made
            return run
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _begin_locked(
        cls, folder: Path, file: SutFile, catalogue: Catalogue, selection: str, lock: RunLock, *, resume: bool
    ) -> Run:
        verdicts = folder / VERDICTS_FILE
        started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        run_id = f"{started.replace(':', '').replace('-', '')}-{slug(file.sut.name)}-{folder.name}"[:120]
        done, earlier = Recorded(), _Earlier(run_id, started)
        if resume:
            earlier = _Earlier.read(folder, file)
            done = _read_recorded(verdicts, earlier)
        elif verdicts.exists() and verdicts.stat().st_size:
            raise UsageError(f"{folder}: already holds a run; give another --out, or --resume to resume it")
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
                deaths=earlier.deaths,
                roots=earlier.roots,
                earlier_residue=earlier.residue,
            )
            run.write_run_file(finished=None, code=None)
        except (OSError, FolderError) as error:
            raise _unusable(folder, error) from error
        return run

    def write_run_file(self, finished: str | None, code: int | None) -> None:
        """Write run.json."""
        sut = self.file.sut
        content: dict[str, Any] = {
            "schema": SCHEMA,
            "run": self.id,
            "started": self.started,
            "finished": finished,
            "suites": self.suites,
            "sut": {"name": sut.name, "vendor": sut.vendor, "version": sut.version, "profile": sut.profile},
            "reach": self.file.driver.kind,
            "harness": version("mqconform"),
            "selection": self.selection,
            "capabilities": dict(self.file.capabilities),
            "residue": [*self._residue_left(), *self.residue],
            "timeouts": self.timeouts,
            "queue_managers": [str(each) for each in self.queue_managers],
            "deaths": [asdict(death) for death in self.deaths],
            "roots": self.roots.to_json(),
            "aborted": self.aborted,
            "baseline": self.baseline.to_json(self.compare_with_baseline()) if self.baseline is not None else None,
            "exit": code,
        }
        if self.strength != 2:
            content["strength"] = self.strength
        if self.file.systems:
            content["systems"] = {role: asdict(system) for role, system in self.file.systems.items()}
        self._replace_file(RUN_FILE, json.dumps(content, indent=1, ensure_ascii=False))

    def _residue_left(self) -> Iterator[dict[str, str]]:
        """Yield the residue of the run before it was resumed, except of checks that were made again."""
        return (one for one in self.earlier_residue if one["check"] not in self.tests_run)

    def keep_residue(self) -> None:
        """Write run.json when checks left or met something since it was written: a kill must not lose that."""
        if len(self.residue) > self._kept_residue:
            self.write_run_file(finished=None, code=None)
            self._kept_residue = len(self.residue)

    def describe(self) -> None:
        """Write rules.json: the rules that the run can judge. This waits for pytest, which imports the checks in its
        own way.
        """
        if self.suites is not None:
            return
        content, suites = rules_json(self.catalogue)
        self._replace_file(RULES_FILE, content)
        self.suites = suites

    def _replace_file(self, name: str, content: str) -> None:
        """Write a file of the folder as a whole, or leave the old file unchanged."""
        new = self.folder / f"{name}.new"
        try:
            new.write_text(content, encoding="utf-8")
            new.replace(self.folder / name)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise FolderError.about(self.folder / name, error) from error

    def lose(self, why: str) -> None:
        """Note that the run cannot continue, because its system is missing, or is not the intended one."""
        self.aborted, self.lost = why, True

    def note_death(self, death: Death) -> None:
        """Write down an end of the SUT's process as it happens."""
        self.deaths.append(death)
        self.write_run_file(finished=None, code=None)

    def end(self) -> int:
        """Close the run; return its exit code."""
        self.log.close()
        if not self.uncollected:
            self.describe()
        code = self.exit_code()
        self.write_run_file(datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"), code)
        self.lock.release()
        return code

    def discard(self) -> None:
        """Close a run in which nothing happened; of a new one no folder is left."""
        if self.made is None:
            self.end()
            return
        self.log.close()
        self.lock.release()
        shutil.rmtree(self.made, ignore_errors=True)

    def exit_code(self) -> int:
        """Return the exit code: 0 only when enough was judged and nothing failed or stayed open."""
        if self.lost:
            return EXIT_USAGE
        if self.interrupted:
            return EXIT_INTERRUPTED
        open_ones = (Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE)
        broke = self.aborted or self.failed or self.deaths or self.roots.by_subject
        if broke or any(self.log.counts[verdict] for verdict in open_ones):
            return EXIT_NOT_CONFORMANT
        if not self.compare_with_baseline().kept:
            return EXIT_NOT_CONFORMANT
        if self.shortfall() is not None:
            return EXIT_TOO_FEW
        return EXIT_OK

    def compare_with_baseline(self) -> Held:
        """Compare the run with its baseline; without a baseline every failing rule is new."""
        whole = self.partial() is None and self.shortfall() is None
        deviations = self.baseline.deviations if self.baseline is not None else {}
        return hold(self.log.rules, deviations, whole=whole)

    def expects(self, rule: str, verdict: Verdict) -> bool:
        """Return whether a verdict is a deviation that is known."""
        return verdict is Verdict.FAIL and self.baseline is not None and rule in self.baseline.deviations

    def with_acceptance(self, result: RuleResult) -> RuleResult:
        """Return the final verdict of a rule, with the baseline's reason for a known deviation."""
        if self.baseline is None or not self.expects(result.rule, result.verdict):
            return result
        return replace(result, accepted=self.baseline.deviations[result.rule].reason)

    def shortfall(self) -> str | None:
        """Return in one line why too little was judged; None when enough was."""
        tests = len(self.tests_run | self.done.tests | self.done.again)
        if tests == 0:
            return "no check ran"
        if not any(verdict in DECIDED for verdict in self.log.rules.values()):
            return "no rule was judged"
        frozen = frozen_tests(SUITES)
        if self.whole and tests < frozen:
            return f"only {tests} checks ran; a whole run has {frozen} (suites/frozen.toml)"
        return None

    def overdue(self) -> bool:
        """Return whether the deadline has passed: no check is begun any more."""
        return self.deadline_s is not None and time.monotonic() - self.began_s >= self.deadline_s

    def account(self) -> str:
        """Return the findings of the run, rule by rule, in one line."""
        rules = Counter(self.log.rules.values())
        counts = ", ".join(f"{rules[verdict]} {verdict}" for verdict in Verdict if rules[verdict])
        made = len(self.tests_run | self.done.tests | self.done.again)
        checks = f"{made} of {self.asked}" if self.asked > made else str(made)
        sut = self.file.sut
        partial = f" (partial: {part})" if (part := self.partial()) is not None else ""
        return f"{sut.name} {sut.version}: {checks} checks, {rules.total()} rules: {counts or 'no verdicts'}{partial}"

    def partial(self) -> str | None:
        """Return in a few words why this is only a part of a run; None when it is a whole one."""
        if self.aborted:
            return self.aborted
        return None if self.whole else f"only {self.selection}"

    def capture_path(self, test: str, attempt: int = 0) -> Path:
        """Return the capture file of an attempt at a check; the name is unique, with any parameters of the check.

        A test that is run again in a resumed run gets another, since the verdicts of before point into the first.
        """
        again = f"-from-{self.done.last + 1}" if test == self.done.cut or test in self.done.again else ""
        again += f"-again-{attempt}" if attempt else ""
        return self.folder / CAPTURES_FOLDER / f"{capture_name(test)}{again}{CAPTURE_SUFFIX}"


def _is_foreign(folder: Path) -> bool:
    """Return whether a folder has files that no run has written."""
    if not folder.is_dir() or (folder / RUN_FILE).is_file():
        return False
    return any(path.name != LOCK_FILE for path in folder.iterdir())


def _unusable(folder: Path, error: OSError | FolderError) -> UsageError:
    why = error if isinstance(error, OSError) else error.__cause__
    return UsageError(f"{folder}: cannot hold a run: {getattr(why, 'strerror', why)}; give another --out")


def frozen_tests(suites: Path) -> int:
    """Read how many checks a whole run has."""
    tree = tomllib.loads((suites / "frozen.toml").read_text(encoding="utf-8"))
    return int(tree["tests"])


def slug(text: str) -> str:
    """Make a part of a file name of any text: letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()[:150] or "x"


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The earlier part of a resumed run. ``ended``: the run had finished."""

    id: str
    started: str
    ended: bool = False
    deaths: list[Death] = field(default_factory=list)
    roots: NamedRoots = field(default_factory=NamedRoots)
    residue: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path, file: SutFile) -> _Earlier:
        """Read run.json; UsageError when it is broken, or of another system."""
        try:
            run = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
            sut = run["sut"]
            name, version_of_sut = sut["name"], sut["version"]
            earlier = cls(
                str(run["run"]),
                str(run["started"]),
                bool(run.get("finished")) and not run.get("aborted"),
                [Death(**death) for death in run.get("deaths", ())],
                NamedRoots.from_json(run.get("roots", ())),
                [
                    {"check": current_check(str(one["check"])), "what": str(one["what"])}
                    for one in run.get("residue", ())
                ],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{folder / RUN_FILE}: is cut or broken; this run cannot be resumed") from error
        if (name, version_of_sut) != (file.sut.name, file.sut.version):
            raise UsageError(f"{folder}: holds a run of {name} {version_of_sut}; give that SUT file to resume it")
        return earlier


def _read_recorded(path: Path, earlier: _Earlier) -> Recorded:
    """Return the earlier verdicts, and the checks that run again."""
    done = Recorded()
    for number, line in enumerate(read_lines(path), 1):
        if line["schema"] != SCHEMA:
            raise UsageError(
                f"{path}: is of schema {line['schema']}, by an older harness; finish it with that one, "
                f"or begin anew with another --out"
            )
        try:
            test = None if (named := line.get("test")) is None else current_check(named)
            verdict, known = Verdict(line["verdict"]), (test, line["rule"], line["verdict"])
            done.last = max(done.last, int(line["seq"]))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}:{number}: not a verdict of this harness; remove that line to resume") from error
        done.note(line["rule"], verdict, line.get("advice"))
        if known[0] is None:  # of the whole run
            continue
        if known[0] != done.cut:
            done.cut, done.unfinished = known[0], Counter()
        done.unfinished[known] += 1
        done.tests.add(known[0])
    if earlier.ended:
        done.cut, done.unfinished = None, Counter()
        done.again = done.tests & {one["check"] for one in earlier.residue}
        done.tests -= done.again
    elif done.cut is not None:
        done.tests.remove(done.cut)
    return done


def rules_json(catalogue: Catalogue) -> tuple[str, str]:
    """Return the text of rules.json, and the SHA-256 of it as canonical JSON."""
    if catalogue is not load_catalogue():
        return _rules_json(catalogue)
    text, digest = keep_value("rules", stamps(), lambda: _rules_json(catalogue))
    return text, digest


def _rules_json(catalogue: Catalogue) -> tuple[str, str]:
    tree = _build_rules_content(catalogue)
    return json.dumps(tree, indent=1), digest_of(tree)


def digest_of(rules: Any) -> str:
    """Return the SHA-256 of the content of a rules.json as canonical JSON, hexadecimal."""
    canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


@cache
def _build_rules_content(catalogue: Catalogue) -> dict[str, Any]:
    """Return the content of rules.json: the catalogue, the checks, and the recorded proof."""
    proof, checks = load_proof(), checks_of_rules()
    rules = catalogue.to_rules_json() | {row.id: row.to_json() for row in ROWS.values()}
    for name, row in rules.items():
        row |= {"checks": checks.get(name, [])}
        if name in catalogue:
            row |= {"checked": name in proof.checked, "proven": name in proof.proven}
    sections = coverage(catalogue, load_index(), proof.checked, proof.proven)
    return {
        "schema": SCHEMA,
        "documents": catalogue.titles() | {DOCUMENT: TITLE},
        "rules": rules,
        "coverage": [asdict(one) for one in sections],
        "members": [asdict(one) for one in load_members()],
        "renamed": dict(renamed_checks.load_renamed_checks()),
    }
