"""Checkers of proofs: each reads a proof and the model's own file, and nothing of the engine that made them."""
