"""Evaluate complete run folders: comparisons, expected deviations, certificates."""
