"""Speed and accuracy, measured beside peers in one run."""
