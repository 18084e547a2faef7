"""How what recall goes by is learnt; see ``README.md``. Nothing of it is in the wheel."""
