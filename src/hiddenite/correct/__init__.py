"""Raw text corrected: a language model, a learnt model of errors, and every change with its probability."""
