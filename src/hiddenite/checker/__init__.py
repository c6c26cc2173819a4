"""Checkers of proofs: each knows the model's own file and the proof, and nothing of the engine."""
