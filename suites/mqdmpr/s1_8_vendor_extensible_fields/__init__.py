"""MS-MQDMPR 1.8 Vendor-Extensible Fields."""
