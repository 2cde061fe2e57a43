"""The command ``mqconform dissector``: write a dissector of MSMQ for Wireshark and tshark as one Lua file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.outputs import convert_write_errors_to_usage_errors, require_writable_file


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(dissector)


def dissector(
    out: Annotated[Path, typer.Option(help="The Lua file. An existing file is replaced.")] = Path("msmq.lua"),
) -> None:
    """Write a Wireshark dissector of MSMQ. The dissector recognizes MSMQ on TCP port 1801 and UDP port 3527, and on
    other ports by the signature of the packets. It recognizes RPC interfaces by UUID.
    """
    from harness.dissector.lua import write_dissector

    require_writable_file(out)
    text = write_dissector()
    with convert_write_errors_to_usage_errors(out):
        out.write_text(text, encoding="utf-8", newline="\n")
    typer.echo(
        f"the dissector is in {out}: load it with `tshark -X lua_script:{out}`, "
        "or put it into Wireshark's folder of personal plugins"
    )
