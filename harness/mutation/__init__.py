"""Mutants of the reference's code: bugs that an implementer may write anywhere, not only where a rule applies."""
