"""Search of the raw text (QRMeM's static memory): channels of recall, candidates scored by them, and sufficiency."""
