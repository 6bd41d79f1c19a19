# SPDX-License-Identifier: MIT
"""NumPy's histograms of 2^26 samples, named as in benchmark_histogram: milliseconds, best of three."""

import time

import numpy


def best(work):
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def main():
    random = numpy.random.default_rng(1)
    floats = random.random(1 << 26, dtype=numpy.float32)
    octets = (floats * 256).astype(numpy.uint8)
    print(f"counting<numpy, std::uint8_t>/256/0\t{best(lambda: numpy.bincount(octets, minlength=256)):.1f} ms")
    for bins in (256, 2048, 65536, 1 << 20):
        print(f"counting<numpy, float>/{bins}/0\t{best(lambda: numpy.histogram(floats, bins, (0.0, 1.0))):.1f} ms")
        whole = (floats * bins).astype(numpy.int32)
        print(f"counting<numpy, std::int32_t>/{bins}/0\t{best(lambda: numpy.bincount(whole, minlength=bins)):.1f} ms")


if __name__ == "__main__":
    main()
