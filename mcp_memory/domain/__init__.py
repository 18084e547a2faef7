"""Frozen values and pure functions of them; they know nothing of files, models or protocols."""
