// SPDX-License-Identifier: MIT
// Virtual memory management: reserved addresses, physical memory, mappings, access rights, export, and what the checks say.
#include <cstdint>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "softgpu/runtime/abi/shared.hpp"
#include "tests/driver/driver_fixture.hpp"
#include "tests/driver/virtual_memory_api.hpp"
#include "tests/runtime/embedded.hpp"
#include "warpfold/testing/counters.hpp"

namespace softgpu::runtime {
namespace {

using warpfold::testing::record;
using warpfold::testing::recording;

// race(p): 64 threads write p[0].
constexpr std::string_view race_ptx = PTX_HEAD R"(.visible .entry race(.param .u64 p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
)";

class virtual_memory_test : public driver_fixture {
protected:
    static constexpr std::size_t unit = 2u << 20;

    static physical_properties on_device(int device = 0, int handles = 0) {
        physical_properties p{};
        p.type = pool_allocation::pinned;
        p.handles = handles;
        p.location = {location_type::device, device};
        return p;
    }
    static physical_handle create(std::size_t bytes, int handles = 0) {
        physical_handle h = 0;
        const physical_properties p = on_device(0, handles);
        EXPECT_EQ(cuMemCreate(&h, bytes, &p, 0), result::success);
        return h;
    }
    static device_address reserve(std::size_t bytes) {
        device_address at = 0;
        EXPECT_EQ(cuMemAddressReserve(&at, bytes, 0, 0, 0), result::success);
        return at;
    }
    static result give_access(device_address at, std::size_t bytes, access_flags flags = access_flags::read_write) {
        const memory_access all{{location_type::device, 0}, flags};
        return cuMemSetAccess(at, bytes, &all, 1);
    }
    static device_address mapped(std::size_t bytes, access_flags flags = access_flags::read_write) {
        const device_address at = reserve(bytes);
        EXPECT_EQ(cuMemMap(at, bytes, 0, create(bytes), 0), result::success);
        EXPECT_EQ(give_access(at, bytes, flags), result::success);
        return at;
    }
    // What `check` finds in a run of calls.
    template <class Body>
    static recording checked(const char* check, Body&& body) {
        warpfold::testing::options o;
        o.check(check);
        return record(body, o);
    }
};

TEST_F(virtual_memory_test, a_mapping_is_memory) {
    std::size_t granularity = 0;
    const physical_properties p = on_device();
    ASSERT_EQ(cuMemGetAllocationGranularity(&granularity, &p, 0), result::success);
    ASSERT_EQ(granularity, unit);
    const device_address at = reserve(2 * unit);
    const physical_handle h = create(unit);
    ASSERT_EQ(cuMemMap(at + unit, unit, 0, h, 0), result::success);
    ASSERT_EQ(give_access(at + unit, unit), result::success);
    unsigned long long flags = 9;
    const memory_location here{location_type::device, 0};
    ASSERT_EQ(cuMemGetAccess(&flags, &here, at + unit + 5), result::success);
    EXPECT_EQ(flags, 3u);
    ASSERT_EQ(cuMemGetAccess(&flags, &here, at), result::success);
    EXPECT_EQ(flags, 0u);
    const device_address data = at + unit + 256;
    ASSERT_EQ(cuMemsetD32_v2(data, 41, 64), result::success);
    const device_address out = mapped(unit);
    ASSERT_EQ(launch(kernel(sample_ptx, "_Z8transferPjS_"), 64, out, data), result::success);
    std::uint32_t words[64] = {};
    ASSERT_EQ(cuMemcpyDtoH_v2(words, out, sizeof words), result::success);
    EXPECT_EQ(words[63], 41u);
    device_address base = 0;
    std::size_t bytes = 0;
    ASSERT_EQ(cuMemGetAddressRange_v2(&base, &bytes, data), result::success);
    EXPECT_EQ(base, at + unit);
    EXPECT_EQ(bytes, unit);
    EXPECT_EQ(cuMemFree_v2(at + unit), result::invalid_value);
    EXPECT_EQ(cuMemAddressFree(at, 2 * unit), result::invalid_value); // something is mapped
    ASSERT_EQ(cuMemUnmap(at + unit, unit), result::success);
    EXPECT_EQ(cuMemUnmap(at + unit, unit), result::invalid_value);
    EXPECT_EQ(cuMemsetD32_v2(data, 0, 1), result::invalid_value);
    EXPECT_EQ(cuMemcpyDtoH_v2(words, data, 4), result::invalid_value);
    // The memory keeps what was written, at another address too.
    ASSERT_EQ(cuMemMap(at, unit, 0, h, 0), result::success);
    EXPECT_EQ(cuMemcpyDtoH_v2(words, at + 256, 4), result::invalid_value); // no access yet
    ASSERT_EQ(give_access(at, unit), result::success);
    words[0] = 0;
    ASSERT_EQ(cuMemcpyDtoH_v2(words, at + 256, 4), result::success);
    EXPECT_EQ(words[0], 41u);
    ASSERT_EQ(cuMemRelease(h), result::success);
    ASSERT_EQ(cuMemsetD32_v2(at, 1, 4), result::success); // mapped memory stays
    EXPECT_EQ(cuMemRelease(h), result::invalid_value);
    ASSERT_EQ(cuMemUnmap(at, unit), result::success);
    ASSERT_EQ(cuMemAddressFree(at, 2 * unit), result::success);
    EXPECT_EQ(cuMemAddressFree(at, 2 * unit), result::invalid_value);
}

TEST_F(virtual_memory_test, the_device_says_that_it_is_there) {
    for (const int which : {102, 103}) { // virtual memory management, export as file descriptors
        int value = 0;
        ASSERT_EQ(cuDeviceGetAttribute(&value, which, 0), result::success);
        EXPECT_EQ(value, 1) << which;
    }
}

TEST_F(virtual_memory_test, wrong_arguments) {
    device_address at = 0;
    EXPECT_EQ(cuMemAddressReserve(&at, unit + 4096, 0, 0, 0), result::invalid_value);
    EXPECT_EQ(cuMemAddressReserve(&at, 0, 0, 0, 0), result::invalid_value);
    EXPECT_EQ(cuMemAddressReserve(&at, unit, 3, 0, 0), result::invalid_value);
    EXPECT_EQ(cuMemAddressReserve(&at, std::size_t{1} << 60, 0, 0, 0), out_of_memory);
    physical_handle h = 0;
    physical_properties p = on_device();
    EXPECT_EQ(cuMemCreate(&h, 4096, &p, 0), result::invalid_value);
    EXPECT_EQ(cuMemCreate(&h, std::size_t{1} << 60, &p, 0), out_of_memory);
    // The card's memory is counted, though none of it is touched.
    std::size_t available = 0, total = 0;
    ASSERT_EQ(cuMemGetInfo_v2(&available, &total), result::success);
    const std::size_t most = available / 2 / unit * unit;
    std::vector<physical_handle> all;
    for (result r = result::success; r == result::success && all.size() <= 2 * total / most;) {
        all.push_back(0);
        r = cuMemCreate(&all.back(), most, &p, 0);
        EXPECT_TRUE(r == result::success || r == out_of_memory);
    }
    EXPECT_LE((all.size() - 1) * most, total);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        EXPECT_EQ(cuMemRelease(all[i]), result::success);
    }
    EXPECT_EQ(cuMemCreate(&h, most, &p, 0), result::success);
    EXPECT_EQ(cuMemRelease(h), result::success);
    p.location.id = 9;
    EXPECT_EQ(cuMemCreate(&h, unit, &p, 0), result::invalid_value);
    const physical_handle one = create(unit);
    at = reserve(2 * unit);
    EXPECT_EQ(cuMemMap(at + 4096, unit, 0, one, 0), result::invalid_value);
    EXPECT_EQ(cuMemMap(at, 2 * unit, 0, one, 0), result::invalid_value); // longer than the memory
    EXPECT_EQ(cuMemMap(at, unit, unit, one, 0), result::invalid_value);
    EXPECT_EQ(cuMemMap(at + 2 * unit, unit, 0, one, 0), result::invalid_value); // not reserved
    EXPECT_EQ(cuMemMap(at, unit, 0, one + 1, 0), result::invalid_value);
    EXPECT_EQ(give_access(at, unit), result::invalid_value); // nothing is mapped
    ASSERT_EQ(cuMemMap(at, unit, 0, one, 0), result::success);
    EXPECT_EQ(cuMemMap(at, unit, 0, one, 0), result::invalid_value); // mapped already
    EXPECT_EQ(give_access(at, 2 * unit), result::invalid_value);
    EXPECT_EQ(give_access(at, unit, static_cast<access_flags>(2)), result::invalid_value);
    EXPECT_EQ(cuMemUnmap(at, unit / 2), result::invalid_value);
    physical_handle same = 0;
    ASSERT_EQ(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(at + 100)), result::success);
    EXPECT_EQ(same, one);
    EXPECT_EQ(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(at + unit)), result::invalid_value);
    ASSERT_EQ(cuMemGetAllocationPropertiesFromHandle(&p, one), result::success);
    EXPECT_EQ(p.location.id, 0);
    device_address wished = 0;
    ASSERT_EQ(cuMemAddressReserve(&wished, unit, 0, at + 64 * unit, 0), result::success);
    EXPECT_EQ(wished, at + 64 * unit);
    ASSERT_EQ(cuMemAddressReserve(&wished, unit, 16 * unit, at, 0), result::success); // a wish that cannot be met
    EXPECT_NE(wished, at);
    EXPECT_EQ(wished % (16 * unit), 0u);
}

// As PyTorch's expandable segments: one range, mapped piece by piece, used across the borders.
TEST_F(virtual_memory_test, pieces_that_touch_are_one_allocation) {
    const device_address at = reserve(4 * unit);
    for (const unsigned i : {0u, 2u, 1u}) {
        ASSERT_EQ(cuMemMap(at + i * unit, unit, 0, create(unit), 0), result::success);
        ASSERT_EQ(give_access(at + i * unit, unit), result::success);
    }
    ASSERT_EQ(cuMemsetD32_v2(at + unit - 128, 5, 64), result::success);
    const device_address out = mapped(unit);
    ASSERT_EQ(launch(kernel(sample_ptx, "_Z8transferPjS_"), 64, out, at + unit - 128), result::success);
    ASSERT_EQ(cuCtxSynchronize(), result::success);
    std::size_t bytes = 0;
    device_address base = 0;
    ASSERT_EQ(cuMemGetAddressRange_v2(&base, &bytes, at + unit), result::success);
    EXPECT_EQ(base, at);
    EXPECT_EQ(bytes, 3 * unit);
    ASSERT_EQ(cuMemUnmap(at + unit, unit), result::success);
    ASSERT_EQ(cuMemGetAddressRange_v2(&base, &bytes, at + 2 * unit), result::success);
    EXPECT_EQ(base, at + 2 * unit);
    EXPECT_EQ(cuMemsetD32_v2(at + unit - 128, 5, 64), result::invalid_value);
    EXPECT_EQ(cuMemUnmap(at, 3 * unit), result::invalid_value); // with a hole
}

TEST_F(virtual_memory_test, one_memory_at_two_addresses) {
    const physical_handle h = create(unit);
    const device_address a = reserve(unit), b = reserve(unit);
    ASSERT_EQ(cuMemMap(a, unit, 0, h, 0), result::success);
    ASSERT_EQ(cuMemMap(b, unit, 0, h, 0), result::success);
    ASSERT_EQ(give_access(a, unit), result::success);
    ASSERT_EQ(give_access(b, unit), result::success);
    ASSERT_EQ(cuMemsetD32_v2(a + 64, 77, 1), result::success);
    std::uint32_t word = 0;
    ASSERT_EQ(cuMemcpyDtoH_v2(&word, b + 64, 4), result::success);
    EXPECT_EQ(word, 77u);
}

TEST_F(virtual_memory_test, what_was_exported_can_be_imported) {
    const physical_handle h = create(unit, 1);
    int descriptor = -1;
    ASSERT_EQ(cuMemExportToShareableHandle(&descriptor, h, 1, 0), result::success);
    physical_handle again = 0;
    const auto handed_over = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
    ASSERT_EQ(cuMemImportFromShareableHandle(&again, handed_over, 1), result::success);
    ::close(descriptor);
    const device_address a = reserve(unit), b = reserve(unit);
    ASSERT_EQ(cuMemMap(a, unit, 0, h, 0), result::success);
    ASSERT_EQ(cuMemMap(b, unit, 0, again, 0), result::success);
    ASSERT_EQ(give_access(a, unit), result::success);
    ASSERT_EQ(give_access(b, unit), result::success);
    ASSERT_EQ(cuMemsetD32_v2(a, 3, 16), result::success);
    std::uint32_t word = 0;
    ASSERT_EQ(cuMemcpyDtoH_v2(&word, b + 60, 4), result::success);
    EXPECT_EQ(word, 3u);
    EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, create(unit), 1, 0), result::invalid_value);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cuMemImportFromShareableHandle(&again, nullptr, 1), result::invalid_value); // descriptor 0: some file
    EXPECT_NE(testing::internal::GetCapturedStderr().find("no memory that was exported"), std::string::npos);
}

TEST_F(virtual_memory_test, an_access_to_reserved_addresses_is_a_fault_that_says_so) {
    const device_address at = reserve(2 * unit);
    const device_address out = mapped(unit);
    function* const read = kernel(sample_ptx, "_Z8transferPjS_");
    testing::internal::CaptureStderr();
    const recording r = checked("memory", [&] {
        ASSERT_EQ(launch(read, 1, out, at + 4), result::success);
        EXPECT_EQ(cuCtxSynchronize(), illegal_address);
    });
    const std::string said = testing::internal::GetCapturedStderr();
    ASSERT_EQ(r.findings().size(), 1u);
    EXPECT_EQ(r.findings()[0].kind, "access to unmapped memory");
    EXPECT_NE(r.findings()[0].message.find("reserved, and no memory is mapped here"), std::string::npos)
        << r.findings()[0].message;
}

TEST_F(virtual_memory_test, access_rights_bind_kernels) {
    const device_address closed = reserve(unit);
    ASSERT_EQ(cuMemMap(closed, unit, 0, create(unit), 0), result::success);
    const device_address readable = mapped(unit, access_flags::read);
    const device_address out = mapped(unit);
    const auto outcome = [&](device_address to, device_address from) {
        function* const read = kernel(sample_ptx, "_Z8transferPjS_");
        testing::internal::CaptureStderr();
        EXPECT_EQ(launch(read, 64, to, from), result::success);
        const result r = cuCtxSynchronize();
        return std::pair(r, testing::internal::GetCapturedStderr());
    };
    EXPECT_EQ(outcome(out, readable).first, result::success);
    const auto [code, text] = outcome(readable, out);
    EXPECT_EQ(code, illegal_address);
    EXPECT_NE(text.find("the memory mapped here is read-only for this device"), std::string::npos) << text;
}

TEST_F(virtual_memory_test, a_mapping_without_access_is_closed) {
    const device_address closed = reserve(unit);
    ASSERT_EQ(cuMemMap(closed, unit, 0, create(unit), 0), result::success);
    function* const read = kernel(sample_ptx, "_Z8transferPjS_");
    const device_address out = mapped(unit);
    ASSERT_EQ(give_access(closed, unit), result::success);
    ASSERT_EQ(launch(read, 64, out, closed), result::success);
    ASSERT_EQ(cuCtxSynchronize(), result::success);
    ASSERT_EQ(give_access(closed, unit, access_flags::none), result::success);
    testing::internal::CaptureStderr();
    ASSERT_EQ(launch(read, 64, out, closed), result::success);
    EXPECT_EQ(cuCtxSynchronize(), illegal_address);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("has no access for this device"), std::string::npos) << said;
}

TEST_F(virtual_memory_test, the_checks_see_mapped_memory) {
    function* const race = kernel(race_ptx, "race");
    const recording races = checked("race", [&] {
        const device_address at = mapped(unit);
        ASSERT_EQ(launch(race, 64, at), result::success);
        ASSERT_EQ(cuCtxSynchronize(), result::success);
    });
    ASSERT_FALSE(races.findings().empty());
    EXPECT_EQ(races.findings()[0].check, "race");
    function* const read = kernel(sample_ptx, "_Z8transferPjS_");
    const recording fresh = checked("init", [&] {
        const device_address in = mapped(unit), out = mapped(unit);
        ASSERT_EQ(cuMemsetD32_v2(in, 0, 32), result::success);
        ASSERT_EQ(launch(read, 32, out, in), result::success);
        ASSERT_EQ(launch(read, 64, out, in), result::success);
        ASSERT_EQ(cuCtxSynchronize(), result::success);
    });
    ASSERT_FALSE(fresh.findings().empty());
    EXPECT_EQ(fresh.findings()[0].check, "init");
    // A neighbour that is mapped later, or a change of rights, does not make written memory fresh again; nor does a second
    // address.
    const recording none = checked("all", [&] {
        const device_address at = reserve(2 * unit), other = reserve(unit), out = mapped(unit);
        const physical_handle h = create(unit);
        ASSERT_EQ(cuMemMap(at, unit, 0, h, 0), result::success);
        ASSERT_EQ(give_access(at, unit), result::success);
        ASSERT_EQ(cuMemsetD32_v2(at, 1, 64), result::success);
        ASSERT_EQ(cuMemMap(at + unit, unit, 0, create(unit), 0), result::success);
        ASSERT_EQ(give_access(at, 2 * unit), result::success);
        ASSERT_EQ(cuMemMap(other, unit, 0, h, 0), result::success);
        ASSERT_EQ(give_access(other, unit, access_flags::read), result::success);
        ASSERT_EQ(launch(read, 64, out, at), result::success);
        ASSERT_EQ(launch(read, 64, out, other), result::success);
        ASSERT_EQ(cuCtxSynchronize(), result::success);
        ASSERT_EQ(cuMemUnmap(at, 2 * unit), result::success);
        ASSERT_EQ(cuMemUnmap(other, unit), result::success);
        ASSERT_EQ(cuMemUnmap(out, unit), result::success);
    });
    for (const auto& f : none.findings()) {
        ADD_FAILURE() << f.check << ": " << f.message;
    }
}

} // namespace
} // namespace softgpu::runtime
