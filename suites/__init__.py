"""The checks: one pytest module per section of a specification, beside the catalogue of its rules."""
