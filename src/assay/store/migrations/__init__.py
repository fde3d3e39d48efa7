"""How stores of earlier versions become stores of this one; Alembic reads this folder."""
