"""The benchmarks that ``make bench`` runs: figures for comparison, never tests."""
