"""Long jobs: records in, records out, in order, on threads or a cluster, and again after an interruption."""
