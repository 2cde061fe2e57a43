"""MS-MQDMPR 3.1.7.3.4 Waiting Message Read Timer Start, with 3.1.7.3.5."""
