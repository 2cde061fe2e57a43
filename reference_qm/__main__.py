"""Runs ``mqconform serve`` as ``python -m reference_qm``."""

from reference_qm.shell.cli import main

main()
