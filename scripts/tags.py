"""Writes the file `tags`, in which an editor looks up the id of a rule: `.venv/bin/python scripts/tags.py`.

Each entry contains the place of a rule's row in its `rules.toml`, and the sentence of the rule. The format is the
extended format of ctags. The file is generated and is not part of the repository, so the repository contains each
sentence only once.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.paths import SUITES
from harness.printable import one_line
from harness.rules.catalogue import Rule, load_catalogue

MAX_SENTENCE_CHARACTERS = 300
"""The maximum length of a sentence in characters. All sentences are shorter."""


def build_tag_lines(rules: Iterable[Rule]) -> list[str]:
    """Return the lines of the file, sorted as editors require."""
    sentences = {rule: one_line(rule.says, MAX_SENTENCE_CHARACTERS) for rule in rules}
    return sorted(
        f'{rule.id}\t{rule.folder}/rules.toml\t/^\\["{rule.id}"\\]$/;"\tr\tsays:{sentence}'
        for rule, sentence in sentences.items()
    )


def main() -> None:
    """Write the file `tags` next to the folder `suites`."""
    lines = [
        "!_TAG_FILE_FORMAT\t2\t/extended format/",
        "!_TAG_FILE_SORTED\t1\t/sorted/",
        *build_tag_lines(load_catalogue().values()),
    ]
    (SUITES.parent / "tags").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
