"""The benchmarks that ``make bench`` runs: they measure figures and compare them with targets, but test nothing."""
