"""MS-MQDMPR 3.1.1 Abstract Data Model, with 3.1.1.3, 3.1.1.6 to 3.1.1.15."""
