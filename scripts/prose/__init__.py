"""The prose linter: ``python -m scripts.prose`` (`make lint`)."""
