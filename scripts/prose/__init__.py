"""Contains the prose linter, which ``python -m scripts.prose`` and `make lint` run."""
