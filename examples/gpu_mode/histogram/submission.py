# SPDX-License-Identifier: MIT
"""How often each of the 256 values of a byte occurs. Types whose values are all below `minlength` need no pass for the largest."""
import warpfold as wf
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    samples, output = data
    return output.copy_(wf.bincount(samples, minlength=256))
