"""Results of complete run folders: comparisons, expected deviations, certificates."""
