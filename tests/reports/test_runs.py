"""Paths that files of a run folder name are resolved only inside the folder."""

import pytest

from reports.runs import resolve_file_inside_folder


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../secret",
        "captures/../../secret",
        "captures",
        "leads-out",
        "loop",
        "x" * 5_000,
        "a\0b",
        "..\\x",
    ],
)
def test_evidence_path_outside_the_run_folder_is_refused(tmp_path, path):
    folder = tmp_path / "run"
    (folder / "captures").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / "leads-out").symlink_to(tmp_path / "secret")
    (folder / "loop").symlink_to(folder / "loop")
    assert resolve_file_inside_folder(folder, path) is None


def test_evidence_path_inside_the_run_folder_is_resolved(tmp_path):
    (tmp_path / "a.pcapng").write_bytes(b"x")
    assert resolve_file_inside_folder(tmp_path.resolve(), "a.pcapng") == tmp_path.resolve() / "a.pcapng"
