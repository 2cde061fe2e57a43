"""MS-MQDMPR 3.1.4 Higher-Layer Triggered Events."""
