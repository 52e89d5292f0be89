"""Privacy: budget, guarantee, accounting, sensitivity, grid, noise, ledger."""
