"""`make test` reports the cost of its tests: each second is counted once, for the test or the fixture that used it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from patience import run_watched

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

def use(seconds):
    import time
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

@pytest.fixture(scope="module")
def shared():
    use(0.1)
    yield
    use(0.1)

def test_first(shared):
    use(0.1)

def test_second(shared):
    import subprocess, sys
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.4: pass"])
"""


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Return the costs of a session with two tests and a shared fixture."""
    folder = tmp_path_factory.mktemp("costs")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text("utf-8"), encoding="utf-8")
    environment = {"MQ_COSTS": str(folder / "out/costs/track.json"), "PYTHONPATH": str(ROOT / "tests")}
    run_watched([sys.executable, "-m", "pytest", "-q"], cwd=folder, env=environment, check=True)
    said = run_watched([sys.executable, ROOT / "scripts/test_costs.py", folder / "out/costs"], check=True).stdout
    tree: dict[str, float] = json.loads((folder / "out/costs/track.json").read_text("utf-8"))
    dearest = said.splitlines()[2].split(maxsplit=1)[1]
    assert said.splitlines()[0].startswith(f"{sum(tree.values()):.0f} CPU-s in total: track ")
    assert tree[dearest] == max(tree.values())
    return tree


def test_cost_of_a_test_includes_its_processes(spent: dict[str, float]):
    assert spent["test_it.py::test_first"] > 0.09
    assert spent["test_it.py::test_second"] > 0.35  # of others there are only whole ticks


def test_cost_of_a_shared_fixture_includes_setup_and_teardown(spent: dict[str, float]):
    assert spent["test_it.py: fixture shared"] > 0.19


def test_cost_of_a_track_without_pytest_is_measured_with_its_exit_code(tmp_path: Path):
    path, program = tmp_path / "out/proof.json", "import time\nwhile time.process_time() < 0.2: pass\nexit(3)"
    script = [sys.executable, ROOT / "scripts/test_costs.py"]
    assert run_watched([*script, "run", path, "--", sys.executable, "-c", program]).returncode == 3
    assert json.loads(path.read_text("utf-8"))["(proof)"] >= 0.2
