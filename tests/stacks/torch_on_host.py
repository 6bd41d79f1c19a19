# SPDX-License-Identifier: MIT
"""A plug-in of pytest that has the host do PyTorch's own work on the device: -p torch_on_host. PyTorch's kernels are machine code,
which the software GPU does not run. Each operation gets copies of its tensors on the host; what it gives goes back. Views and
new memory without contents need no kernel and stay as they are. Triton's kernels see the device's memory as ever."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only


def to_device(value):
    """A copy on the device, with the strides that PyTorch gives to a clone."""
    value = value.clone()
    copy = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="cuda")
    copy.untyped_storage().copy_(value.untyped_storage())
    return copy


class OnHost(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        named = dict(named or {})
        parameters = function._schema.arguments
        is_view = any(p.alias_info is not None and not p.alias_info.is_write for p in parameters)
        if is_view or "empty" in function.__name__:
            return function(*arguments, **named)
        storages = {}  # address on the device: the storage and its copy
        originals = {}  # id of a tensor of the host: what it stands for, and the tensor itself, which keeps the id taken

        def to_host(tensor):
            if not tensor.is_cuda:
                return tensor
            storage = tensor.untyped_storage()
            _, copy = storages.setdefault(storage.data_ptr(), (storage, storage.cpu()))
            host = torch.empty(0, dtype=tensor.dtype).set_(copy, tensor.storage_offset(), tensor.size(), tensor.stride())
            originals[id(host)] = tensor, host
            return host

        here, here_named = tree_map_only(torch.Tensor, to_host, (arguments, named))
        wanted = named.get("device")
        on_device = bool(storages) if wanted is None else torch.device(wanted).type == "cuda"
        if not storages and not on_device:
            return function(*arguments, **named)
        if wanted is not None:
            here_named["device"] = torch.device("cpu")
        if here_named.get("generator") is not None:
            here_named["generator"] = None
        result = function(*here, **here_named)
        if any(p.alias_info is not None and p.alias_info.is_write for p in parameters):
            for storage, copy in storages.values():
                storage.copy_(copy)

        def back(tensor):
            if id(tensor) in originals:
                return originals[id(tensor)][0]
            return to_device(tensor) if on_device else tensor

        return tree_map_only(torch.Tensor, back, result)


OnHost().__enter__()
