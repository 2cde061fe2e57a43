"""MS-MQDMPR 3.1.7.3.8 Expand Format Name."""
