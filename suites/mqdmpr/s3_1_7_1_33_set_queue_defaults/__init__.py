"""MS-MQDMPR 3.1.7.1.33 Set Queue Defaults."""
