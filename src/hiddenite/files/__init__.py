"""Files: text and tables that people have, and the model files that hiddenite writes."""
