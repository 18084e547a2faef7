"""Search of the raw text (QRMeM's static memory): channels of recall and candidates scored by them."""
