// SPDX-License-Identifier: MIT
// What the library with kernels of its own (plugin.cu) offers to the program that loads it (plugin_host.cu).
#pragma once

// Multiplies 0 .. 99 by `factor` on the device, checks them, and gives 1000 * (a device variable that counts its runs)
// + (a managed variable that does); negative: the step that failed.
using plugin_run = int(int factor);
