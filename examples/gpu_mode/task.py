# SPDX-License-Identifier: MIT
"""The types that submissions import. GPU MODE gives each problem a module of this name."""
import torch

input_t = tuple[torch.Tensor, ...]
output_t = torch.Tensor
