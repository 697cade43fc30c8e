"""What the judgements of targets and of labels have in common.

Scales that a minority cannot move, distinct rows, and why a row does not fit.
"""
