// SPDX-License-Identifier: MIT
// Launches as JSON, for `warpfold run --counters` and for anyone who reads the file.
#pragma once

#include <span>
#include <string>

#include "softgpu/observe/device_facts.hpp"
#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/profile.hpp"

namespace softgpu::observe {

// {"kernel":...,"symbol":...,"grid":[x,y,z],"block":[x,y,z],"dynamic_shared_bytes":...,"static_shared_bytes":...,
//  "seconds":...,"fault":... where there was one,"counters":{every counter, average_active_lanes},
//  "intervals":[{counters that are not 0}, ...]}
[[nodiscard]] std::string to_json(const launch_record& record);

// {"device":{...},"launches":[...]}, one launch a line. The file appears whole or not at all. Throws std::runtime_error
// with the path and the reason where it cannot be written. Not `finished`: more may come, and "unfinished":true says so.
void write_launches(const std::string& path, const device_facts& device, std::span<const launch_record> launches,
                    bool finished = true);

// {"format":"warpfold profile","version":1,"device":{...},"counters":{NAME:MEANING, ...},
//  "sources":{PATH:{LINE:TEXT, ...}, ...},      lines that instructions come from and their neighbours, where readable
//  "kernels":[{"kernel":...,"symbol":...,"launches":...,
//    "instructions":[{"ptx":...,"ptx_line":...,"function":...,"at":[[PATH,LINE,COLUMN,FUNCTION], ...],
//      "guarded_off":...,"counters":{those that are not 0}}, ...]}, ...]}
// One instruction a line. Throws as write_launches does.
void write_profile(const std::string& path, const device_facts& device, std::span<const kernel_profile> kernels,
                   bool finished = true);

} // namespace softgpu::observe
