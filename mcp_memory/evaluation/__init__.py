"""The commands ``demo``, ``bench``, ``status`` and ``doctor``, and the synthetic data that they use."""
