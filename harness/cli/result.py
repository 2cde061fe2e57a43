"""Print the result of a run as one JSON object, for ``mqconform run --format json``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.run.results import read_rule_results
from harness.run.stash import RUN_KEY
from harness.run_folder import RUN_FILE


class RunStoringPlugin:
    """A pytest plugin that stores the `Run` of a pytest session."""

    def __init__(self) -> None:
        self._run: Any = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Store the `Run` of the finished session."""
        self._run = session.config.stash.get(RUN_KEY, None)

    def as_json(self) -> str:
        """Return the content of run.json as JSON text, or ``null`` if the run never began. The additional keys are
        ``folder``, ``partial`` (a text or null) and ``rules``.

        ``rules`` contains the final verdict of each rule, with ``verdict``, ``expected``, ``observed``, ``reason``,
        ``test``, ``capture`` and ``evidence``.
        """
        run = self._run
        if run is None:
            return "null"
        shown = ("verdict", "expected", "observed", "reason", "test", "capture", "evidence")
        rules = {one.rule: {name: one.line[name] for name in shown} for one in read_rule_results(run.verdict_log.path)}
        told = json.loads((run.folder / RUN_FILE).read_text(encoding="utf-8"))
        return json.dumps({**told, "folder": str(run.folder), "partial": run.partial(), "rules": rules}, indent=1)
