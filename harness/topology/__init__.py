"""Three systems at once, sender, router and receiver, and the traffic between them. Spec: MS-MQSO 3.3.4.5."""
