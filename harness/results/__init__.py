"""Evaluate complete run folders: compare runs, check expected deviations, and make certificates."""
