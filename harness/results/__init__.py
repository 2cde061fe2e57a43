"""What is made of run folders when they are whole: comparisons, expected deviations, certificates."""
