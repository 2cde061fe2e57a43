"""The commands ``mqconform certify`` and ``mqconform verify``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from harness.cli.outputs import require_writable_file
from harness.errors import UsageError
from harness.interrupts import unwind_on_signals

EXIT_NOT_CERTIFIED = 1
"""The exit code when no certificate can be made, or when the given certificate is not valid."""
EXIT_OTHER_RULE_SET_NEEDED = 3
"""The exit code for a certificate that this installation cannot judge because the certificate was made with a
different rule set or harness version.
"""
MAX_NOT_EXERCISED_PERCENT = 5.0
"""int percent: the default of `harness.results.certificate`. The value is repeated here because importing that
module would delay the help.
"""
KEY_PASSWORD_ENVIRONMENT_VARIABLE = "MQCONFORM_KEY_PASSWORD"  # noqa: S105  # the name of a variable, not a password


def register(app: typer.Typer) -> None:
    """Add the commands to ``mqconform``."""
    app.command()(certify)
    app.command("verify")(verify_certificate)


def certify(
    run: Annotated[Path, typer.Argument(help="The run folder of a complete run.")],
    key: Annotated[
        Path, typer.Option(help="An Ed25519 private key (PEM): `openssl genpkey -algorithm ed25519 -out KEY`.")
    ],
    out: Annotated[Path, typer.Option(help="The certificate file to write. The file must not exist.")],
    not_exercised: Annotated[
        float,
        typer.Option(
            min=0, max=100, help="The largest permitted share of rules with the verdict not_exercised, in percent."
        ),
    ] = MAX_NOT_EXERCISED_PERCENT,
) -> None:
    """Sign the verdicts and captures of a run, and write them to one file. Exit with 1 and print the reasons when the
    run does not meet the terms of a certificate.
    """
    from harness.results import certificate
    from harness.results.bundle import measure_size_and_sha256_of_file, read_private_key, write_bundle
    from harness.results.certificate_page import build_certificate_badge, build_certificate_page
    from harness.results.installed import get_installed_suites
    from harness.results.run_results import get_partial_reason, read_run, read_run_json

    # A partial run gets no certificate, so its key is not read.
    is_part = get_partial_reason(read_run_json(run)) is not None
    signer = (
        None
        if is_part
        else read_private_key(key, os.environ.get(KEY_PASSWORD_ENVIRONMENT_VARIABLE, "").encode() or None)
    )
    require_writable_file(out, new=True)
    found, suites = read_run(run), get_installed_suites()
    terms = certificate.CertificateTerms(not_exercised, suites.checks)
    reasons = list(certificate.list_reasons_to_refuse_certificate(found, terms, suites))
    if reasons or signer is None:
        for reason in reasons:
            typer.echo(f"not certified: {reason}", err=True)
        raise typer.Exit(EXIT_NOT_CERTIFIED)
    files = dict(certificate.list_bundle_files(found))
    said = certificate.build_certificate_statement(
        found, terms, {name: measure_size_and_sha256_of_file(path)._asdict() for name, path in files.items()}
    )
    with unwind_on_signals(), TemporaryDirectory(prefix="mqconform-certify-") as folder:
        shown = {
            certificate.CERTIFICATE_FILE: certificate.build_certificate(said),
            certificate.CERTIFICATE_PAGE_FILE: build_certificate_page(
                said, signer.public_key().public_bytes_raw().hex()
            ),
            certificate.CERTIFICATE_BADGE_FILE: build_certificate_badge(said),
        }
        made = {name: Path(folder) / name for name in shown}
        for name, text in shown.items():
            made[name].write_text(text, encoding="utf-8")
        write_bundle(out, [*made.items(), *files.items()], signer)
    shown_by_name = f"{certificate.CERTIFICATE_PAGE_FILE} {certificate.CERTIFICATE_BADGE_FILE}"
    typer.echo(
        f"the certificate is in {out} ({out.stat().st_size:,} bytes); "
        f"`unzip {out} {shown_by_name}` extracts its page and badge"
    )


def verify_certificate(
    bundle: Annotated[Path, typer.Argument(help="The certificate file.")],
    public_key_: Annotated[Path, typer.Option("--public-key", help="The signer's public key (PEM).")],
    not_exercised: Annotated[
        float,
        typer.Option(
            min=0,
            max=100,
            help="The largest accepted share of rules with the verdict not_exercised, in percent.",
        ),
    ] = MAX_NOT_EXERCISED_PERCENT,
    format_: Annotated[str, typer.Option("--format", help="Format of the output: text or json.")] = "text",
) -> None:
    """Check a certificate offline, and judge its captures again. Exit with 1 when the certificate is not valid, and
    with 3 when only a harness with a different rule set can verify it.
    """
    from harness.cli.progress import show_progress
    from harness.results.bundle import InvalidCertificateFile, read_public_key
    from harness.results.verification import (
        CertificateOfOtherRuleSetOrVersion,
        describe_verified_certificate,
        verify_bundle,
    )

    if format_ not in ("text", "json"):
        raise UsageError(f"--format {format_}: the format must be text or json")
    key = read_public_key(public_key_)
    try:
        with unwind_on_signals(), show_progress("captures judged again") as progress:
            found = verify_bundle(bundle, key, progress, not_exercised_percent=not_exercised)
    except CertificateOfOtherRuleSetOrVersion as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_OTHER_RULE_SET_NEEDED) from None
    except InvalidCertificateFile as error:
        typer.echo(f"the certificate is not valid: {error}", err=True)
        raise typer.Exit(EXIT_NOT_CERTIFIED) from None
    if format_ == "json":
        typer.echo(json.dumps(found.to_json(), indent=1))
        return
    for line in describe_verified_certificate(found):
        typer.echo(line)
