"""Transfer: messages received and sent on sessions, and their acknowledgments. Spec: MS-MQQB."""
