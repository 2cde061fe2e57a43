"""``python -m mqconform`` is ``mqconform``."""

from mqconform.command import main

main()
