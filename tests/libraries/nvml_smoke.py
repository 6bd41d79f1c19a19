# SPDX-License-Identifier: MIT
"""nvidia-ml-py on the stand-in for NVML: warpfold run -- python nvml_smoke.py, with two A100."""
import sys

try:
    import pynvml
except ImportError:
    print("nvidia-ml-py is not installed")
    sys.exit(77)


def error_of(call, *arguments):
    try:
        call(*arguments)
    except pynvml.NVMLError as error:
        return error.value
    return pynvml.NVML_SUCCESS


def main():
    assert error_of(pynvml.nvmlDeviceGetCount) == pynvml.NVML_ERROR_UNINITIALIZED
    pynvml.nvmlInit()
    assert pynvml.nvmlDeviceGetCount() == 2
    assert pynvml.nvmlSystemGetCudaDriverVersion() >= 13000 and pynvml.nvmlSystemGetDriverVersion().count(".") == 2
    assert pynvml.nvmlSystemGetNVMLVersion()
    for index in range(2):
        device = pynvml.nvmlDeviceGetHandleByIndex(index)
        assert pynvml.nvmlDeviceGetName(device) == "NVIDIA A100-SXM4-40GB"
        uuid = pynvml.nvmlDeviceGetUUID(device)
        assert uuid.startswith("GPU-") and len(uuid) == 40
        assert pynvml.nvmlDeviceGetIndex(pynvml.nvmlDeviceGetHandleByUUID(uuid)) == index
        pci = pynvml.nvmlDeviceGetPciInfo(device)
        assert pci.bus == index and pynvml.nvmlDeviceGetIndex(pynvml.nvmlDeviceGetHandleByPciBusId(pci.busId)) == index
        memory = pynvml.nvmlDeviceGetMemoryInfo(device)
        assert memory.used == 0 and memory.free == memory.total == pynvml.nvmlDeviceGetMemoryInfo(device, pynvml.nvmlMemory_v2).total
        assert pynvml.nvmlDeviceGetUtilizationRates(device).gpu == 0
        assert pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU) == 0
        assert pynvml.nvmlDeviceGetTemperatureV(device, pynvml.NVML_TEMPERATURE_GPU) == 0
        assert pynvml.nvmlDeviceGetPowerUsage(device) == 0
        assert pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM) == 1410
        assert pynvml.nvmlDeviceGetMaxClockInfo(device, pynvml.NVML_CLOCK_MEM) == 1215
        assert pynvml.nvmlDeviceGetCudaComputeCapability(device) == (8, 0)
        assert pynvml.nvmlDeviceGetArchitecture(device) == pynvml.NVML_DEVICE_ARCH_AMPERE
        assert pynvml.nvmlDeviceGetComputeRunningProcesses(device) == []
        assert error_of(pynvml.nvmlDeviceGetFanSpeed, device) == pynvml.NVML_ERROR_NOT_SUPPORTED
        assert error_of(pynvml.nvmlDeviceGetPdi, device) == pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    one, other = map(pynvml.nvmlDeviceGetHandleByIndex, range(2))
    assert pynvml.nvmlDeviceGetP2PStatus(one, other, pynvml.NVML_P2P_CAPS_INDEX_WRITE) == pynvml.NVML_P2P_STATUS_OK
    assert error_of(pynvml.nvmlDeviceGetHandleByIndex, 2) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    assert error_of(pynvml.nvmlDeviceGetHandleByUUID, "GPU-none") == pynvml.NVML_ERROR_NOT_FOUND
    pynvml.nvmlShutdown()
    assert error_of(pynvml.nvmlDeviceGetCount) == pynvml.NVML_ERROR_UNINITIALIZED
    print("pynvml: ok")


main()
