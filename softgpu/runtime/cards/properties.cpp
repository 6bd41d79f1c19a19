// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cards/properties.hpp"

#include <algorithm>
#include <iterator>

namespace softgpu::runtime {
namespace {

constexpr int pci_bus_attribute = 33;

int attribute_of(const card& c, int device, int number) {
    int value = 0;
    (void)device_attribute(c, device, number, value);
    return value;
}

// The properties that are no attributes.
template <class Properties>
Properties begin_properties(const card& c, int device) {
    Properties p{};
    std::ranges::copy(c.name, std::begin(p.name));
    std::ranges::copy(std::string_view("softgpu"), std::begin(p.uuid.bytes)); // no real card's UUID begins so
    std::ranges::copy(c.key.substr(0, 8), std::begin(p.uuid.bytes) + 8);
    auto& last = p.uuid.bytes[sizeof p.uuid.bytes - 1];
    last = static_cast<char>(last ^ device);
    p.total_global_memory = c.memory_bytes;
    return p;
}

} // namespace

bool device_attribute(const card& c, int device, int attribute, int& value) noexcept {
    const bool known = device_attribute(c, attribute, value);
    value = attribute == pci_bus_attribute ? device : value;
    return known;
}

#define FILL_PROPERTY(type, name, cudas, attribute) p.name = static_cast<type>(attribute_of(c, device, attribute));
#define FILL_PROPERTIES(count, name, cudas, ...)                                                                       \
    std::ranges::transform(std::initializer_list<int>{__VA_ARGS__}, p.name,                                            \
                           [&](int attribute) { return attribute_of(c, device, attribute); });

device_properties properties_of(const card& c, int device) {
    auto p = begin_properties<device_properties>(c, device);
#define SOFTGPU_PROPERTY FILL_PROPERTY
#define SOFTGPU_PROPERTIES FILL_PROPERTIES
#define SOFTGPU_PROPERTY_13 FILL_PROPERTY
#include "softgpu/runtime/abi/device_properties.def"
    return p;
}

device_properties_12 properties_12_of(const card& c, int device) {
    auto p = begin_properties<device_properties_12>(c, device);
#define SOFTGPU_PROPERTY FILL_PROPERTY
#define SOFTGPU_PROPERTIES FILL_PROPERTIES
#define SOFTGPU_PROPERTY_12 FILL_PROPERTY
#include "softgpu/runtime/abi/device_properties.def"
    return p;
}

} // namespace softgpu::runtime
