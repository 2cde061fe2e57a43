"""Two processes share a directory in a file: each process sees what the other publishes, and neither waits for the
other.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from patience import PATIENCE_S
from qm_process import free_port, serve

ADDRESSES = {"left": "127.0.0.1", "right": "127.0.0.2"}
IDENTIFIERS = {name: f"6d71636f-6e66-4f72-8d00-0000000000{number}" for number, name in enumerate(ADDRESSES, 20)}
PRIVATE = "private$\\plain"


def settings(folder: Path, name: str, port: int) -> str:
    machines = "".join(
        f"""
        [[directory.queue_managers]]
        identifier = "{IDENTIFIERS[one]}"
        computer_name = "{one}"
        qualified_computer_name = "{address}"
        sites = ["here"]
        """
        for one, address in ADDRESSES.items()
    )
    return f"""
        queues = [{{ name = '{PRIVATE}' }}, {{ name = 'configured' }}]
        [queue_manager]
        identifier = "{IDENTIFIERS[name]}"
        host_name = "{name}"
        [listen]
        address = "{ADDRESSES[name]}"
        tcp_port = {port}
        ping = false
        [remote]
        tcp_port = {port}
        [timers]
        scale = 20
        [control]
        address = "127.0.0.1:0"
        [store]
        path = "{folder / name / "store"}"
        [directory]
        store = "{folder / "directory"}"
        [[directory.sites]]
        name = "here"
        {machines}
    """


@contextlib.contextmanager
def served(folder: Path, name: str, port: int):
    (folder / name).mkdir(exist_ok=True)
    with serve(folder / name, toml=settings(folder, name, port)) as process, process.control() as control:
        yield control


def received(control, queue: str) -> str:
    message = control.call("receive", queue=queue, timeout_ms=PATIENCE_S * 1000)["message"]
    assert message is not None, f"nothing came to {queue}"
    return str(message["body"])


def test_queue_published_by_one_process_is_found_by_another(tmp_path: Path):
    port = free_port(*ADDRESSES.values())
    with served(tmp_path, "left", port) as left:
        with served(tmp_path, "right", port) as right:
            name = right.call("create_queue", name="late")["format_names"]["public"]
            left.call("send", to=name, body="published", delivery="recoverable")
            assert received(right, "late") == "published"
        with served(tmp_path, "right", port) as right:
            assert {"configured", "late"} <= {queue["name"] for queue in right.call("list")["queues"]}
            left.call("send", to=name, body="again", delivery="recoverable")
            assert received(right, "late") == "again"
            right.call("delete_queue", name="late")
            assert "late" not in {queue["name"] for queue in right.call("list")["queues"]}


def test_locked_directory_file_delays_only_commands_that_need_it(tmp_path: Path):
    port = free_port(*ADDRESSES.values())
    with served(tmp_path, "left", port) as left:
        other = sqlite3.connect(tmp_path / "directory", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        number = left.ask("create_queue", name="late")
        sent = left.ask("send", to=f"DIRECT=TCP:127.0.0.1\\{PRIVATE}", body="direct")
        answers = [left.read_reply(), left.read_reply()]
        other.execute("ROLLBACK")
        other.close()
        assert [answer["id"] for answer in answers] == [sent, number]
        assert "(MQ_ERROR_NO_DS): try again when the directory is available" in answers[1]["error"]
        left.call("create_queue", name="late")


def test_serve_works_again_after_directory_outage(tmp_path: Path):
    port = free_port(*ADDRESSES.values())
    with served(tmp_path, "left", port) as left:
        left.call("create_queue", name="late", label="first")
        assert left.call("published", queue="late")["published"]["label"] == "first"
        assert left.call("environment", directory=False)["directory"] is False
        refused = left.ask("create_queue", name="later")
        assert "MQ_ERROR_NO_DS" in left.read_reply()["error"], refused
        left.call("environment", directory=True)
        left.call("create_queue", name="later")
