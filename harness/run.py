"""One run: its folder, its verdict log, what it judged, how it ends."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.catalogue import Catalogue
from harness.errors import UsageError
from harness.places import SUITES
from harness.sutfile import SutFile
from harness.verdicts import Recorded, RunInfo, Verdict, VerdictLog, read_verdicts

RUN_FILE = "run.json"
RULES_FILE = "rules.json"
VERDICTS_FILE = "verdicts.jsonl"
CAPTURES_FOLDER = "captures"

EXIT_OK = 0
EXIT_NOT_CONFORMANT = 1
EXIT_USAGE = 2
EXIT_TOO_FEW = 5
"""No check ran, or fewer than suites/frozen.toml says a whole run has."""


@dataclass(slots=True)
class Run:
    """A run folder that is being written."""

    folder: Path
    file: SutFile
    catalogue: Catalogue
    selection: str
    whole: bool
    """Were all suites asked for? Then the frozen counts hold."""
    log: VerdictLog
    started: str
    done: Recorded
    tests_run: set[str] = field(default_factory=set)
    passive_failures: set[str] = field(default_factory=set)
    """Passive rules already seen broken: one packet field that is wrong must not fail every check of the run."""
    aborted: str | None = None

    @classmethod
    def begin(cls, folder: Path, file: SutFile, catalogue: Catalogue, selection: str, *, resume: bool) -> Run:
        """Open a run folder, new or (``resume``) begun before; UsageError when it cannot be used."""
        verdicts = folder / VERDICTS_FILE
        started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        run_id = f"{started.replace(':', '').replace('-', '')}-{_slug(file.sut.name)}-{folder.name}"[:120]
        done = Recorded()
        if resume:
            if not (folder / RUN_FILE).is_file() or not verdicts.is_file():
                raise UsageError(f"{folder}: nothing to resume: {RUN_FILE} or {VERDICTS_FILE} is missing")
            earlier = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
            if earlier["sut"]["name"] != file.sut.name or earlier["sut"]["version"] != file.sut.version:
                raise UsageError(f"{folder}: holds a run of {earlier['sut']['name']}; give that SUT file to resume it")
            run_id, started = earlier["run"], earlier["started"]
            done = _recorded(verdicts)
        elif verdicts.exists():
            raise UsageError(f"{folder}: already holds a run; give another --out, or --resume to go on with it")
        (folder / CAPTURES_FOLDER).mkdir(parents=True, exist_ok=True)
        info = RunInfo(run_id, file.sut.name, file.sut.version, file.reach.kind)
        log = VerdictLog(verdicts, info, first=done.last + 1)
        run = cls(folder, file, catalogue, selection, selection == "all", log, started, done)
        (folder / RULES_FILE).write_text(json.dumps(catalogue.to_rules_json(), indent=1), encoding="utf-8")
        run.write(finished=None, code=None)
        return run

    def write(self, finished: str | None, code: int | None) -> None:
        """Write run.json."""
        sut = self.file.sut
        content: dict[str, Any] = {
            "schema": 1,
            "run": self.log.info.run,
            "started": self.started,
            "finished": finished,
            "sut": {"name": sut.name, "vendor": sut.vendor, "version": sut.version, "profile": sut.profile},
            "reach": self.file.reach.kind,
            "harness": version("mqconform"),
            "selection": self.selection,
            "capabilities": dict(self.file.capabilities),
            "aborted": self.aborted,
            "exit": code,
        }
        (self.folder / RUN_FILE).write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")

    def end(self) -> int:
        """Close the run; give its exit code."""
        self.log.close()
        code = self.exit_code()
        self.write(datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"), code)
        return code

    def exit_code(self) -> int:
        """Say how the run ended: 0 only when enough was judged and nothing failed or stayed open."""
        bad = (Verdict.FAIL, Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE)
        if self.aborted or any(self.log.counts[verdict] for verdict in bad):
            return EXIT_NOT_CONFORMANT
        if self.shortfall() is not None:
            return EXIT_TOO_FEW
        return EXIT_OK

    def shortfall(self) -> str | None:
        """Say in one line why too little was judged; None when enough was."""
        tests = len(self.tests_run | self.done.tests)
        if tests == 0:
            return "no check ran"
        frozen = frozen_tests(SUITES)
        if self.whole and tests < frozen:
            return f"only {tests} checks ran; suites/frozen.toml says a whole run has {frozen}"
        return None

    def account(self) -> str:
        """Say in one line what the run found."""
        counts = ", ".join(f"{self.log.counts[verdict]} {verdict}" for verdict in Verdict if self.log.counts[verdict])
        return f"{self.file.sut.name} {self.file.sut.version}: {len(self.tests_run)} checks: {counts or 'no verdicts'}"

    def capture_path(self, test: str) -> Path:
        """Give the capture file of a test: one name, whatever its parameters look like."""
        return self.folder / CAPTURES_FOLDER / f"{capture_name(test)}.pcapng"


def frozen_tests(suites: Path) -> int:
    """Read how many checks a whole run has."""
    tree = tomllib.loads((suites / "frozen.toml").read_text(encoding="utf-8"))
    return int(tree["tests"])


def capture_name(test: str) -> str:
    """Make a file name of a test id that no two tests share."""
    path, _, name = test.partition("::")
    folder = Path(path).parent.name
    return _slug(f"{folder}-{Path(path).stem.removeprefix('test_')}-{name.removeprefix('test_')}")


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()[:150] or "x"


def _recorded(path: Path) -> Recorded:
    done = Recorded()
    for line in read_verdicts(path):
        done.tests.add(line["test"])
        done.rules.add(line["rule"])
        done.last = max(done.last, line["seq"])
    return done
