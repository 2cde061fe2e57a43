"""Mutants of the reference's own code: mistakes that an implementer may make anywhere, not only where a rule is
known.
"""
