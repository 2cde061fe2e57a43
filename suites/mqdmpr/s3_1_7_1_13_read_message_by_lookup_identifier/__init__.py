"""MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""
