"""MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request."""
