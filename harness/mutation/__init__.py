"""Mutants of the reference's own code: what an implementer may get wrong anywhere, not only where a rule is known."""
