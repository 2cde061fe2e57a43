"""Names of files, and the rename that publishes a manifest, on a local disk."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from reports.lake import sources
from reports.lake.files import FileAccess, get_full_name
from reports.lake.local import get_local_path
from reports.lake.sources import RUN_FOLDER_FILES


@pytest.fixture
def files(spark):
    return FileAccess(spark)


def test_spellings_of_a_folder_name_give_one_folder(files, tmp_path):
    folder = tmp_path / "a {b"
    folder.mkdir()
    for name in RUN_FOLDER_FILES:
        (folder / name).write_text("{}")
    (tmp_path / "link").symlink_to(folder)
    names = [str(folder), f"{folder}/../{folder.name}/", f"file:{folder}", f"file:///{folder}", f"FILE://{folder}"]
    names += [f"file:///{tmp_path}//./link/", str(tmp_path / "link"), f"file:{tmp_path}/a*", f"file:{tmp_path}/l?nk"]
    found = sources.find_sources(files, names)
    assert ([each.uri for each in found.runs], found.refused) == ([f"file://{folder}"], [])


def test_file_url_of_another_host_is_not_local(files, tmp_path):
    assert get_local_path(f"file://host{tmp_path}") is None
    assert "Wrong FS" in sources.find_sources(files, [f"file://host{tmp_path}"]).refused[0]


def test_one_of_many_concurrent_publications_succeeds(files, tmp_path):
    target = get_full_name(str(tmp_path / "manifest"))
    for number in range(16):
        (tmp_path / str(number)).write_text(str(number))
    with ThreadPoolExecutor(16) as pool:
        done = list(
            pool.map(lambda number: files.publish(get_full_name(str(tmp_path / str(number))), target), range(16))
        )
    assert done.count(True) == 1
    assert (tmp_path / "manifest").read_text() == str(done.index(True))
