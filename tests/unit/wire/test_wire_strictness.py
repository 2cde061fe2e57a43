"""Bytes that cannot be dissected completely are refused with a message, whatever the configuration of scapy."""

from __future__ import annotations

import sys

import pytest
from patience import run_watched
from scapy.config import conf
from wire_frames import FRAMES

from harness.wire import (
    WireError,
    dissect,
    dissect_ping,
    kind,
    session_ack,
    user_message,
)


def resized(data: bytes, change: int) -> bytes:
    """Return the packet with ``change`` bytes added or removed, and its PacketSize corrected."""
    data = data + bytes(change) if change > 0 else data[:change]
    return data[:8] + len(data).to_bytes(4, "little") + data[12:]


def patched(data: bytes, offset: int, value: bytes) -> bytes:
    return data[:offset] + value + data[offset + len(value) :]


MESSAGE = bytes(user_message(destination="OS:a\\q", body=b"body"))
PROPERTIES = 16 + 48 + 16

REFUSED = [
    (b"", "BaseHeader has 0 bytes, but needs at least 16"),
    (FRAMES[8][:15], "BaseHeader has 15 bytes, but needs at least 16"),
    (patched(FRAMES[3], 0, b"\x11"), "BaseHeader.VersionNumber is 0x11 instead of 0x10"),
    (patched(FRAMES[3], 4, b"l"), "BaseHeader.Signature is 0x524f496c instead of 0x524f494c"),
    (patched(FRAMES[3], 8, b"\x0f\0\0\0"), "BaseHeader.PacketSize: 15 is outside 16 to 4194304"),
    (patched(FRAMES[3], 8, b"\x01\0\x40\0"), "BaseHeader.PacketSize: 4194305 is outside 16 to 4194304"),
    (FRAMES[3] + b"x", "BaseHeader.PacketSize: 572 announces 572 bytes, but there are 573"),
    (FRAMES[3][:-1], "BaseHeader.PacketSize: 572 announces 572 bytes, but there are 571"),
    (resized(FRAMES[3], 4), "4 bytes are left over after EstablishConnectionHeader"),
    (resized(FRAMES[3], -4), "EstablishConnectionHeader.Padding has 512 bytes, but only 508 are left"),
    (resized(FRAMES[5], -2), "ConnectionParametersHeader.WindowSize: only 0 bytes are left for this field"),
    (resized(FRAMES[5], -12), "ConnectionParametersHeader is announced, but the packet ends after InternalHeader"),
    (resized(FRAMES[5], -14), "InternalHeader.Flags: only 0 bytes are left for this field"),
    (resized(FRAMES[5], -16), "InternalHeader is announced, but the packet ends after BaseHeader"),
    (bytes(session_ack(base={"SH": 0, "PacketSize": 0x14})), "PacketSize: 20 announces 20 bytes, but there are 36"),
    (
        patched(FRAMES[5], 2, b"\x1b"),
        "BaseHeader.PacketSize: 32 is not the size of a SessionAck, although IN and SH are set",
    ),
    (bytes(user_message(session={}, base={"SH": 0})), "PacketSize: 188 announces 188 bytes, but there are 204"),
    (
        patched(MESSAGE, PROPERTIES + 32, b"\x05"),
        "MessagePropertiesHeader.MessageBody has 5 bytes, but only 4 are left",
    ),
    (
        patched(resized(MESSAGE, -2), PROPERTIES + 32, b"\x01"),
        "MessagePropertiesHeader.Padding has 3 bytes, but only 1 are left",
    ),
    (patched(MESSAGE, PROPERTIES + 32, b"\xff" * 4), "MessageBody has 4294967295 bytes, but only 4 are left"),
    (patched(MESSAGE, PROPERTIES + 1, b"\xff"), "MessagePropertiesHeader.Label has 510 bytes, but only 4 are left"),
    (
        patched(MESSAGE, PROPERTIES + 52, b"\x05"),
        "MessagePropertiesHeader.ExtensionData has 5 bytes, but only 4 are left",
    ),
    (patched(MESSAGE, PROPERTIES + 32, b"\0"), "4 bytes are left over after MessagePropertiesHeader"),
    (patched(MESSAGE, 64, b"\xfe\xff"), "DirectQueueFormatName.DirectFormatName has 65534 bytes, but only 74 are left"),
    (
        resized(MESSAGE, 64 - len(MESSAGE)),
        "UserHeader.DestinationQueue: DirectQueueFormatName is announced, but no byte is left",
    ),
    (resized(MESSAGE, 80 - len(MESSAGE)), "MessagePropertiesHeader is announced, but the packet ends after UserHeader"),
]


@pytest.mark.parametrize(("data", "error"), REFUSED, ids=[error for _, error in REFUSED])
def test_invalid_packet_is_refused_with_one_line(data, error):
    with pytest.raises(WireError) as refusal:
        dissect(data)
    assert error in str(refusal.value)
    assert "\n" not in str(refusal.value)
    with pytest.raises(WireError):
        kind(data)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "PingPacket has 0 bytes, but needs at least 24"),
        (FRAMES[1][:-1], "PingPacket has 23 bytes, but needs at least 24"),
        (FRAMES[1] + b"x", "1 bytes are left over after PingPacket"),
        (patched(FRAMES[1], 2, b"I"), "PingPacket.Signature is 0x5549 instead of 0x5548"),
    ],
)
def test_invalid_ping_is_refused_with_one_line(data, error):
    with pytest.raises(WireError, match=error):
        dissect_ping(data)


@pytest.mark.parametrize("debug", [False, True])
def test_scapy_configuration_has_no_effect(monkeypatch, debug):
    monkeypatch.setattr(conf, "debug_dissector", debug)
    monkeypatch.setattr(conf, "padding", 0)
    with pytest.raises(WireError, match="4 bytes are left over"):
        dissect(resized(FRAMES[3], 4))
    with pytest.raises(WireError, match="only 0 bytes are left"):
        dissect(resized(FRAMES[5], -2))


def test_import_keeps_scapy_configuration_and_loads_no_protocols():
    program = (
        "import sys\n"
        "from scapy.config import conf\n"
        "before = {name: repr(getattr(conf, name, None)) for name in ('debug_dissector', 'padding', 'raw_layer')}\n"
        "import scapy.packet, scapy.fields\n"
        "middle = {name: repr(getattr(conf, name, None)) for name in before}\n"
        "import harness.wire\n"
        "after = {name: repr(getattr(conf, name, None)) for name in before}\n"
        "assert middle == after, (middle, after)\n"
        "loaded = [name for name in sys.modules if name.startswith(('scapy.layers', 'scapy.all', 'scapy.arch'))]\n"
        "assert not loaded, loaded\n"
    )
    done = run_watched([sys.executable, "-c", program])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("content", [b"", b"abc"])
@pytest.mark.parametrize("number", [0, 4, 15])
def test_an_internal_packet_of_unknown_type_keeps_its_content(number, content):
    data = FRAMES[5][:18] + number.to_bytes(2, "little") + content
    data = data[:8] + len(data).to_bytes(4, "little") + data[12:]
    assert kind(data) == "unknown internal"
    assert bytes(dissect(data)) == data
