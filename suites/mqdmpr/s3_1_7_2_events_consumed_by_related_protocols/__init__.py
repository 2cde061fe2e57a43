"""MS-MQDMPR 3.1.7.2 Events Consumed By Related Protocols."""
