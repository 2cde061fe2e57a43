"""Three systems at once, sender, router and receiver, and what passes between them. Spec: MS-MQSO 3.3.4.5."""
