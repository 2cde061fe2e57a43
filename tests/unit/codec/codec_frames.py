"""The eight frames of MS-MQQB section 4.1, as bytes.

The document's dump of frame 7 stops after 1650 of 2224 bytes. The body is "a" in UTF-16 up to its MessageSize of 2000
bytes, so this module fills the body with 61 00, and takes the two padding bytes up to PacketSize 2224 as zero.
"""

import re
from pathlib import Path

CLIENT = "D1 58 73 55 50 91 95 95 49 97 B6 E6 11 EA 26 C6"

FRAMES = {
    1: bytes.fromhex("01 7D 48 55 04 00 00 00" + CLIENT),
    2: bytes.fromhex("95 B2 48 55 04 00 00 00 07 89 CD 43 4C 39 11 8F 44 45 90 78 90 9E A0 FC"),
    3: bytes.fromhex(
        "10 C0 0B 00 4C 49 4F 52 3C 02 00 00 FF FF FF FF 00 00 02 00"
        + CLIENT
        + "07 89 CD 43 4C 39 11 8F 44 45 90 78 90 9E A0 FC 4E CA DE 1D 10 03 00 00"
        + "5A" * 512
    ),
    4: bytes.fromhex(
        "10 5A 0B 00 4C 49 4F 52 3C 02 00 00 FF FF FF FF 00 00 02 00"
        "05 23 74 1F 5E BE 77 41 BC 77 C4 DD 77 19 E4 74 EB 6A 3A 3C 67 F5 43 41 87 D3 85 CF 4D 68 CE B4"
        "4E CA DE 1D 10 03 00 00" + "5A" * 512
    ),
    5: bytes.fromhex("10 C0 0B 00 4C 49 4F 52 20 00 00 00 FF FF FF FF 00 00 03 00 D8 05 00 00 C0 D4 01 00 00 00 40 00"),
    6: bytes.fromhex("10 C0 0B 00 4C 49 4F 52 20 00 00 00 FF FF FF FF 00 00 03 00 D8 05 00 00 C0 D4 01 00 00 00 40 00"),
    7: bytes.fromhex(
        "10 00 03 00 4C 49 4F 52 B0 08 00 00 00 46 05 00"
        + CLIENT
        + "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 FF FF FF FF 4C 49 4F 52 EE 08 00 00 00 1C 28 00"
        "1A 00 4F 00 53 00 3A 00 61 00 30 00 34 00 62 00 6D 00 30 00 32 00 5C 00 71 00 00 00"
        "01 00 1C 00 00 00 00 00 00 00 00 00 00 00 00 00"
        "01 05 00 00 00 00 00 05 15 00 00 00 AD 4A 9E BD 36 D9 FA 3D 63 A6 56 DA E8 03 00 00"
        "0F 0F 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00"
        "D0 07 00 00 D0 07 00 00 00 00 00 00 04 80 00 00 01 68 00 00 00 00 00 00"
        "6D 00 71 00 73 00 65 00 6E 00 64 00 65 00 72 00 20 00 6C 00 61 00 62 00 65 00 6C 00 00 00"
        + "61 00" * 1000
        + "00 00"
    ),
    8: bytes.fromhex(
        "10 CD 1B 00 4C 49 4F 52 24 00 00 00 FF FF FF FF 00 00 01 00 01 00 00 00 00 00 00 00 00 00 00 00 40 00 00 00"
    ),
}

DOCUMENT = Path(__file__).parents[4] / "shared/specs/MS-MQQB.later.md"


def printed_dump(number: int) -> bytes:
    """Return the part of the hex dump of a frame that the document prints."""
    dump = DOCUMENT.read_text().split(f"### 4.1.{number} FRAME")[1].split("Hex Dump:")[1]
    rows = re.match(r"(?:\s*(?:[0-9A-F]{2} ?)+\n)+", dump)
    return bytes.fromhex(rows.group()) if rows else b""
