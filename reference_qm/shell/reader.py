"""Implements the command ``mqconform read``, which reads one message from a queue of another queue manager.

Spec: MS-MQQP 3.2.4.
"""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Annotated

import typer

from reference_qm.config import QueueManagerConfig
from reference_qm.core.queue_manager import QueueManager
from reference_qm.rpc.authentication import AuthLevel, ClientSecurity
from reference_qm.shell import toml_values as toml
from reference_qm.shell.host import Host, HostLimits
from reference_qm.shell.rpc_settings import AUTHENTICATION_LEVELS, AUTHENTICATION_TYPES, read_password
from reference_qm.shell.rpc_user import User
from reference_qm.shell.system import SystemEntropy
from reference_qm.shell.toml_values import SettingsError
from reference_qm.surface.commands import Request, Result
from reference_qm.surface.effects import Answer, CommandCompleted
from reference_qm.surface.entropy import generate_guid
from reference_qm.surface.remote_commands import RemoteClose, RemoteOpen, RemotePeek, RemoteReceive
from reference_qm.surface.store import MemoryStore

EXIT_CODE_NO_MESSAGE, EXIT_CODE_FAILED = 1, 2
"""The exit codes of ``mqconform read``: one if the queue has no message, and one if the read failed."""


class RemoteReadError(Exception):
    """Raised when a remote read fails. The message has one line."""


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command("read")(read_remote_queue)


def read_remote_queue(
    queue: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT_NAME",
            help="Queue to read, such as DIRECT=TCP:address\\private$\\name.",
        ),
    ],
    peek: Annotated[bool, typer.Option("--peek", help="Leave the message in its queue.")] = False,
    timeout_ms: Annotated[int, typer.Option("--timeout-ms", min=0, help="Time to wait for a message.")] = 0,
    port: Annotated[
        int, typer.Option("--rpc-port", min=1, max=65_535, help="The qmcomm port of the other queue manager.")
    ] = 2103,
    address: Annotated[str, typer.Option("--address", help="The local address to connect from.")] = "127.0.0.1",
    level: Annotated[
        str,
        typer.Option("--level", metavar="LEVEL", help=f"Authentication level: {' | '.join(AUTHENTICATION_LEVELS)}."),
    ] = "none",
    authentication: Annotated[
        str, typer.Option("--authentication", help=f"Authentication type: {' or '.join(AUTHENTICATION_TYPES)}.")
    ] = "negotiate",
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="The test user: NAME or DOMAIN\\NAME.")] = "",
    password_env: Annotated[
        str, typer.Option("--password-env", help="Environment variable that contains the user's password.")
    ] = "",
) -> None:
    """Receive the first message of a remote queue, and print it as one line of JSON.

    The exit code is 1 when no message arrives.
    """
    logging.basicConfig(level=logging.WARNING, format="mqconform read: %(message)s")
    try:
        security = _build_security(level, authentication, user, password_env)
        message = asyncio.run(read_message(queue, peek, timeout_ms, port, address, security))
    except (RemoteReadError, SettingsError) as error:
        typer.echo(f"mqconform read: {error}", err=True)
        raise typer.Exit(EXIT_CODE_FAILED) from error
    if message is None:
        raise typer.Exit(EXIT_CODE_NO_MESSAGE)
    typer.echo(json.dumps(message))


def _build_security(level: str, authentication: str, user: str, password_env: str) -> ClientSecurity | None:
    """Return the client security that the flags describe. Raise SettingsError if the flags are unusable."""
    wanted = toml.convert_value(level, toml.make_choice_converter(AUTHENTICATION_LEVELS), "--level")
    kind = toml.convert_value(authentication, toml.make_choice_converter(AUTHENTICATION_TYPES), "--authentication")
    if wanted is AuthLevel.NONE:
        return None
    if not user or not password_env:
        raise SettingsError(f"--level {level} needs a user: give --user NAME and --password-env VARIABLE")
    from reference_qm.shell.spnego_security import make_client_security  # pyspnego takes long to load

    domain, _, name = user.rpartition("\\")
    password = read_password({"password_env": password_env}, "--password-env", Path())
    return make_client_security(kind, wanted, User(name, password, domain))


async def read_message(
    queue: str, peek: bool, timeout_ms: int, port: int, address: str, security: ClientSecurity | None = None
) -> dict[str, object] | None:
    """Run a queue manager that does not listen, and read one message with it.

    Return the message as a JSON-ready value. Raise RemoteReadError if the read fails.
    """
    entropy = SystemEntropy()
    config = QueueManagerConfig(generate_guid(entropy), addresses=(address,), remote_rpc_port=port, rpc_client=security)
    host = Host(lambda entries: QueueManager(config, entropy), address, MemoryStore(), HostLimits())
    await host.start()
    try:
        opened = await _ask_host(host, RemoteOpen(queue, "peek" if peek else "receive"))
        reading = RemotePeek if peek else RemoteReceive
        found = await _ask_host(host, reading(opened.values["remote"], timeout_ms=timeout_ms))
        await _ask_host(host, RemoteClose(opened.values["remote"]))
    finally:
        await host.stop()
    message: dict[str, object] | None = found.values["message"]
    return message


async def _ask_host(host: Host, request: Request) -> Result:
    answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    host.ask(request, answered.set_result)
    answer = await answered
    if isinstance(answer, CommandCompleted):
        return answer.result
    raise RemoteReadError(answer.error)
