"""Provides the wheel, installed without a checkout, and one run of all checks by this wheel in an empty folder."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from mqconform_process import FEW, NO_CELLS, ROOT, Lines, Ran, command, mqconform, sut, unfounded, verdicts
from patience import run_watched


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the checkout with the tools of the environment, without a network."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    run_watched(build, check=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of a virtual environment that contains the wheel and the dependencies of this environment,
    but not the checkout.
    """
    folder = tmp_path_factory.mktemp("installed") / "venv"
    run_watched([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    run_watched([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = run_watched(where, check=True).stdout.strip()
    # A folder that a .pth file names is searched, but the .pth files in it, such as the editable one, are not read.
    (Path(packages) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


@pytest.fixture(scope="session")
def whole(bin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Run all checks from the wheel, so that a check or a data file that the wheel lacks makes the run fail.

    A plugin confirms that each request keeps the contract of the control protocol; every run itself checks the answers.
    """
    folder = tmp_path_factory.mktemp("whole")
    arguments = ("run", "--sut", sut(folder).name, "--out", "run")
    plugin = {"PYTEST_PLUGINS": "kept_contract", "PYTHONPATH": str(Path(__file__).parent)}
    done = command(bin_folder / "mqconform", *arguments, cwd=folder, **plugin)
    return Ran(folder / "run", done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def lines_of_whole(whole: Ran) -> Lines:
    """Return the verdicts of the whole run, read once for all tests because reading takes some seconds."""
    return verdicts(whole.folder)


@pytest.fixture(scope="session")
def unfounded_of_whole(whole: Ran, lines_of_whole: Lines) -> list[str]:
    """Return the verdicts of the whole run whose evidence is not a packet. Finding them takes some seconds."""
    return unfounded(whole.folder, lines_of_whole)


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Run the checks of one rule, for tests that need any run folder to copy."""
    folder = tmp_path_factory.mktemp("few")
    done = mqconform("run", "--sut", sut(folder), "--out", "run", "--rule", FEW, *NO_CELLS, cwd=folder)
    assert done.returncode == 0, done.stdout
    return Ran(folder / "run", done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def certifiable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run three checks, and return the run folder after a change that marks the run as whole."""
    from certified import change, leave_out_advice

    folder = tmp_path_factory.mktemp("certifiable")
    done = mqconform("run", "--sut", sut(folder), "--out", folder / "run", "--rule", FEW, *NO_CELLS)
    assert done.returncode == 0, done.stdout
    change(folder / "run", selection="all")
    leave_out_advice(folder / "run")
    return folder / "run"


@pytest.fixture(scope="session")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``key.pem`` and ``public.pem`` of the signer, and the key pair of a second signer."""
    folder = tmp_path_factory.mktemp("keys")
    for prefix in ("", "other-"):
        key = Ed25519PrivateKey.generate()
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / f"{prefix}key.pem").write_bytes(pem)
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (folder / f"{prefix}public.pem").write_bytes(public)
    return folder


@pytest.fixture
def few_are_all(monkeypatch: pytest.MonkeyPatch, certifiable: Path) -> None:
    """Make the suites appear to have exactly the checks of the run that is to be certified."""
    from certified import the_suites_have_only_what_ran

    the_suites_have_only_what_ran(certifiable, monkeypatch)
