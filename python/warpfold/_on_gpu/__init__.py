# SPDX-License-Identifier: MIT
"""Calls on a GPU; imported with the first array on one."""
from .array import DeviceArray
from .call import GpuCall

__all__ = ["DeviceArray", "GpuCall"]
