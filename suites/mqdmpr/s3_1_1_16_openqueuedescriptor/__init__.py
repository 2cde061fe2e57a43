"""MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""
