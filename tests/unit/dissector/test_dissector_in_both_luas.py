"""The generated dissector gives the same output in Lua 5.2 (Wireshark 3.6 to 4.2) and Lua 5.4 (Wireshark 4.4).

The installed tshark contains only one of these versions. For the other version, the tests use a replacement of
Wireshark's interface.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.capture.golden import load_golden_capture
from harness.dissector.lua import write_dissector
from harness.wire import session_ack, user_message

STUB = Path(__file__).with_name("wireshark_stub.lua")
LUAS = [name for name in ("lua5.2", "lua5.4") if shutil.which(name)]
SILENCE_S = 120

PACKETS = [
    *(frame.data for frame in load_golden_capture().frames if frame.transport == "tcp"),
    bytes(user_message(transaction={"ID": 5}, security={"SecurityID": b"\1"}, label="a", body=b"123", mqf={})),
    bytes(session_ack(AckSequenceNumber=0xFFFF)),
    bytes(user_message(base={"VersionNumber": 0x11})),
    bytes(user_message(body=b"12345"))[:-5],
    bytes(user_message(user={"DQ": 4})),
]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the output of both Lua versions for the packets."""
    if len(LUAS) < 2:
        pytest.skip("lua5.2 and lua5.4 are not both installed: apt-get install lua5.2 lua5.4")
    lua = tmp_path_factory.mktemp("luas") / "msmq.lua"
    lua.write_text(write_dissector(), encoding="utf-8")
    lines = "".join(f"{one.hex()}\n" for one in PACKETS)
    return {
        name: subprocess.run(
            [name, str(STUB), str(lua)], input=lines, capture_output=True, text=True, timeout=SILENCE_S, check=True
        ).stdout
        for name in LUAS
    }


def test_dissector_prints_equal_fields_in_both_lua_versions(printed: dict[str, str]) -> None:
    assert printed["lua5.2"] == printed["lua5.4"]
    assert printed["lua5.2"].count("end\n") == len(PACKETS)


def test_damaged_packets_are_named_as_malformed(printed: dict[str, str]) -> None:
    of_packets = printed["lua5.4"].split("end\n")
    assert "msmq.no_packet\tBaseHeader.VersionNumber is not 0x10" in of_packets[-4]
    assert "msmq.malformed\tMessagePropertiesHeader.MessageBody has 5 bytes, but only 3 are left" in of_packets[-3]
    assert "msmq.malformed\tUserHeader.DQ: 4 has no layout for DestinationQueue" in of_packets[-2]
