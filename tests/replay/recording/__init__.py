"""The harness of record and replay: runs with frozen noise, and what may and may not differ between two of them."""
