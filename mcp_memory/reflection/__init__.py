"""QRMeM: the three navigators of reflection, the question pool, and names that mean one entity."""
