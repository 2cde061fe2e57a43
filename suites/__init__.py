"""The checks: a folder for each section of a specification, with pytest modules and the catalogue of its rules."""
