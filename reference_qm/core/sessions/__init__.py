"""Opens, maintains and closes sessions with other queue managers. Spec: MS-MQQB 3.1.5.2 to 3.1.5.4."""
