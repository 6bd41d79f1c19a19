// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cards/properties.hpp"

#include <algorithm>
#include <iterator>

namespace softgpu::runtime {
namespace {

int attribute_of(const card& c, int number) {
    int value = 0;
    (void)device_attribute(c, number, value);
    return value;
}

// The properties that are no attributes.
template <class Properties>
Properties begin_properties(const card& c) {
    Properties p{};
    std::ranges::copy(c.name, std::begin(p.name));
    std::ranges::copy(std::string_view("softgpu"), std::begin(p.uuid.bytes)); // no real card's UUID begins so
    std::ranges::copy(c.key.substr(0, 8), std::begin(p.uuid.bytes) + 8);
    p.total_global_memory = c.memory_bytes;
    return p;
}

} // namespace

#define FILL_PROPERTY(type, name, cudas, attribute) p.name = static_cast<type>(attribute_of(c, attribute));
#define FILL_PROPERTIES(count, name, cudas, ...)                                                                       \
    std::ranges::transform(std::initializer_list<int>{__VA_ARGS__}, p.name,                                            \
                           [&](int attribute) { return attribute_of(c, attribute); });

device_properties properties_of(const card& c) {
    auto p = begin_properties<device_properties>(c);
#define SOFTGPU_PROPERTY FILL_PROPERTY
#define SOFTGPU_PROPERTIES FILL_PROPERTIES
#define SOFTGPU_PROPERTY_13 FILL_PROPERTY
#include "softgpu/runtime/abi/device_properties.def"
    return p;
}

device_properties_12 properties_12_of(const card& c) {
    auto p = begin_properties<device_properties_12>(c);
#define SOFTGPU_PROPERTY FILL_PROPERTY
#define SOFTGPU_PROPERTIES FILL_PROPERTIES
#define SOFTGPU_PROPERTY_12 FILL_PROPERTY
#include "softgpu/runtime/abi/device_properties.def"
    return p;
}

} // namespace softgpu::runtime
