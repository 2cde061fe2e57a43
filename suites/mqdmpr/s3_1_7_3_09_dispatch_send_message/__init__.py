"""MS-MQDMPR 3.1.7.3.9 Dispatch Send Message."""
