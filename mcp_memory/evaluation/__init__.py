"""The commands ``demo``, ``bench`` and ``eval``, and the synthetic data that they use."""
