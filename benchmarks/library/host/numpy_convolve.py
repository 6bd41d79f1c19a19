#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""numpy_convolve.py [k ...]: milliseconds of NumPy's convolve on 2^26 floats, for comparison with benchmark_library."""
import sys
import time

import numpy

samples = numpy.random.default_rng(1).random(1 << 26, dtype=numpy.float32)
for k in [int(word) for word in sys.argv[1:]] or [5, 9, 33, 129]:
    mask = numpy.random.default_rng(2).random(k, dtype=numpy.float32)
    best = cpu = float("inf")
    for _ in range(2):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        numpy.convolve(samples, mask, mode="same")
        best = min(best, time.perf_counter() - begin)
        cpu = min(cpu, time.process_time() - begin_cpu)
    print(f"line_numpy/{k}\t{best * 1e3:.0f} ms\t{cpu * 1e3:.0f} ms CPU", flush=True)
