"""The dissector links requests with responses, and messages with acknowledgments; the command `dissector` writes one
file.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from test_dissector_agrees_with_wire import TSHARK, lua, run_tshark

from harness.capture.golden import GOLDEN_FOLDER
from harness.cli.main import app
from harness.dissector.lua import format_as_lua, write_dissector

__all__ = ["lua"]
LINKS = ("request_in", "response_in", "acknowledges", "acknowledged_in")
HANDSHAKE = 3
"""The number of frames of the TCP handshake in frames.pcapng; they are between the pings and the packets."""


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
def test_golden_session_is_linked_in_both_directions(lua: Path) -> None:
    columns = [option for name in LINKS for option in ("-e", f"msmq.{name}")]
    options = ("-2", "-T", "fields", "-Y", "msmq", "-e", "frame.number", *columns)
    rows = [line.split("\t") for line in run_tshark(lua, GOLDEN_FOLDER / "frames.pcapng", *options).splitlines()]
    linked = {int(number): dict(zip(LINKS, found, strict=True)) for number, *found in rows}
    first = 2 + HANDSHAKE + 1
    assert {
        number: {name: int(frame) for name, frame in found.items() if frame} for number, found in linked.items()
    } == {
        1: {"response_in": 2},
        2: {"request_in": 1},
        first: {"response_in": first + 1},
        first + 1: {"request_in": first},
        first + 2: {"response_in": first + 3},
        first + 3: {"request_in": first + 2},
        first + 4: {"acknowledged_in": first + 5},
        first + 5: {"acknowledges": first + 4},
    }


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
def test_info_column_names_message_label_and_queue(lua: Path) -> None:
    shown = run_tshark(lua, GOLDEN_FOLDER / "frames.pcapng", "-T", "fields", "-e", "_ws.col.Info", "-Y", "msmq.user")
    assert shown.strip() == (
        'Normal 557358d1-9150-9595-4997-b6e611ea26c6\\2286 "mqsender label" to DIRECT=OS:a04bm02\\q;'
    )


def test_dissector_command_writes_the_lua_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "msmq.lua"
    app(["dissector", "--out", str(file)], standalone_mode=False)
    assert file.read_text(encoding="utf-8") == write_dissector()
    assert str(file) in capsys.readouterr().out


def test_texts_are_escaped_for_lua() -> None:
    assert format_as_lua('a"b\\c\n\u00fc') == '"a\\034b\\092c\\010\\195\\188"'
    with pytest.raises(TypeError, match="float has no Lua expression"):
        format_as_lua(1.5)


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("user.destinationqueue", "DIRECT=OS:a04bm02\\q"),
        ("user.messageid", "2286"),
        ("properties.label", "mqsender label"),
        ("kind", "UserMessage"),
    ],
)
def test_field_has_the_value_for_display_filters(lua: Path, name: str, value: str) -> None:
    options = ("-T", "fields", "-Y", "msmq.user", "-e", f"msmq.{name}")
    assert run_tshark(lua, GOLDEN_FOLDER / "frames.pcapng", *options).strip() == value
