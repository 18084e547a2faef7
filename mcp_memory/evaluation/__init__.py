"""The commands ``demo`` and ``eval``."""
