// SPDX-License-Identifier: MIT
// Libraries: code that the program loads while it runs, as PTX text or as a fat binary. The context's lock guards them.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

// The object behind cudaLibrary_t.
struct library {
    std::string file; // its contents, if it was loaded from a file
    fat_binary* binary = nullptr;
    int device = -1;       // a module's, which belongs to a context; -1: the code is for all devices
    std::deque<char> keys; // each address stands for a kernel, as a stub does elsewhere
    std::unordered_map<std::string, function*> kernels;
};

// Throws file_not_found, also for a folder.
std::string code_in_file(const char* path);
// Adds a library of this code, which must outlive it. most_registers: of a thread, of kernels of PTX; 0: any. Throws
// no_kernel_image_for_device for machine code.
library& add_library(std::unique_ptr<library> made, const void* code, unsigned most_registers = 0);
// Throws invalid_resource_handle for an unknown handle.
library& checked(library* l);
// A module's device; gpu for a library.
context& find_home(context& gpu, const library* l);
// The library that a kernel is of; nullptr: none.
library* library_of(const function& kernel);
// Unloads the code after all work of the devices that have it. Unlocks meanwhile. Throws not_permitted in a host function.
void unload_library(context& gpu, locked& lock, library& l);
// The same for a library that the program has not been given.
void discard_library(library& l);

// Loads all kernels, as a compiler does that says what is wrong with any of them. Throws invalid_ptx.
void load_kernels(context& gpu, library& l);

// These throw symbol_not_found if the library has no such kernel or variable. A module's are those of its device.
function* kernel_of(context& gpu, library& l, const std::string& name);
machine::variable_place variable_of(context& gpu, library& l, const char* name);

} // namespace softgpu::runtime
