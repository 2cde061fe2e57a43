"""MS-MQDMPR 3.1.6 Timer Events."""
