"""Runs the command ``mqconform`` as ``python -m mqconform``."""

from mqconform.command import main

main()
