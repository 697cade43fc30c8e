"""The tables and figures of the three papers, run again beside their printed numbers.

    python -m experiments NAME [--data DIR] [--seeds N] [--quick]
    python -m experiments all --quick

Each experiment is one small file. It lists its cells (data set, method, seed, …), runs
them one by one, keeps every finished one, and writes a page with tables and a figure.
"""
