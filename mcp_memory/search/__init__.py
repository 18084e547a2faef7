"""The first look at the raw text (QRMeM's static memory): meaning, words, speaker, heads, brought to one score."""
