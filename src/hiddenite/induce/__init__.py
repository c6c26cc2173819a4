"""Part-of-speech induction: tags from plain text, by Pitman-Yor hidden Markov models."""
