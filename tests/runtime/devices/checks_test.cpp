// SPDX-License-Identifier: MIT
// Checks of several devices: faults inside each, and races between them.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "softgpu/runtime/abi/testing.h"
#include "tests/runtime/devices/devices.hpp"

extern "C" {
softgpu_recording_begin_function softgpu_recording_begin;
softgpu_recording_end_function softgpu_recording_end;
softgpu_recording_findings_function softgpu_recording_findings;
softgpu_recording_finding_function softgpu_recording_finding;
softgpu_recording_free_function softgpu_recording_free;
}

namespace softgpu::runtime {
namespace {

// clash(p): all blocks write their number to p[0]. send(data, flag): writes
// data[0], and then the flag as a release of system scope; receive(data, flag, out) waits for the flag and reads data[0].
constexpr std::string_view ptx = PTX_HEAD R"(.visible .entry clash(.param .u64 p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry send(.param .u64 data, .param .u64 flag)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [flag];
    mov.u32 %r1, 77;
    st.global.u32 [%rd1], %r1;
    mov.u32 %r2, 1;
    st.release.sys.global.u32 [%rd2], %r2;
    ret;
}
.visible .entry receive(.param .u64 data, .param .u64 flag, .param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [flag];
    ld.param.u64 %rd3, [out];
again:
    ld.acquire.sys.global.u32 %r1, [%rd2];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra again;
    ld.global.u32 %r2, [%rd1];
    st.global.u32 [%rd3], %r2;
    ret;
}
)";

class check_program : public embedded_program {
public:
    check_program() : embedded_program(ptx) {
        kernel(&clash, "clash");
        kernel(&send, "send");
        kernel(&receive, "receive");
    }
    char clash = 0, send = 0, receive = 0;
};

class devices_checks : public devices_test {
protected:
    struct found {
        std::string check;
        std::string kind;
        std::string text;
    };

    // Until a kernel has written the word, which held `before`. Orders nothing for the checks, but two accesses at one moment
    // may escape them.
    static void wait_for(const std::uint32_t* word, std::uint32_t before = 0) {
        while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == before) {
            std::this_thread::yield();
        }
    }

    static check_program& code() {
        static check_program only;
        return only;
    }

    void SetUp() override {
        devices_test::SetUp();
#if defined(__SANITIZE_THREAD__)
        GTEST_SKIP() << "operations race here on purpose, and there is no room for the shadow of three devices";
#endif
        for (int device = 0; device < device_count; ++device) {
            use(device);
            streams_.push_back(make_stream());
            for (int peer = 0; peer < device_count; ++peer) {
                if (peer != device) {
                    ASSERT_EQ(cudaDeviceEnablePeerAccess(peer, 0), error::success);
                }
            }
        }
        begin("memory,race,init,sync");
    }
    void TearDown() override {
        softgpu_recording_free(recording_);
        devices_test::TearDown();
    }
    void begin(const char* checks) {
        softgpu_recording_free(recording_);
        recording_ = nullptr;
        const softgpu_recording_options options{.bytes = sizeof options, .checks = checks, .schedule = 0, .seed = 0};
        ASSERT_EQ(softgpu_recording_begin(&options, &recording_), nullptr);
    }
    std::vector<found> findings() {
        EXPECT_EQ(softgpu_recording_end(recording_), nullptr);
        std::vector<found> all;
        for (std::size_t k = 0; k < softgpu_recording_findings(recording_); ++k) {
            softgpu_recorded_finding f{};
            f.bytes = sizeof f;
            softgpu_recording_finding(recording_, k, &f);
            all.push_back({f.check, f.kind, f.text});
        }
        return all;
    }
    void expect_none() {
        for (const found& f : findings()) {
            ADD_FAILURE() << f.text;
        }
    }
    // Exactly one, of this kind, and its text holds all of these.
    void expect_one(const std::string& kind, const std::vector<std::string>& parts) {
        const std::vector<found> all = findings();
        std::string texts;
        for (const found& f : all) {
            texts += f.text;
        }
        ASSERT_EQ(all.size(), 1u) << texts;
        EXPECT_EQ(all[0].kind, kind) << texts;
        for (const std::string& part : parts) {
            EXPECT_NE(texts.find(part), std::string::npos) << part << " is not in\n" << texts;
        }
    }

    [[nodiscard]] stream* on(int device) const { return streams_[static_cast<std::size_t>(device)]; }
    error fill_on(int device, std::uint32_t* p) {
        use(device);
        return fill(p, 1, on(device));
    }
    error copy_on(int device, std::uint32_t* to, std::uint32_t* from, stream* in) {
        use(device);
        return launch_in(in, &program().transfer, 1, 32, to, from);
    }
    void synchronize(int device) {
        use(device);
        EXPECT_EQ(cudaDeviceSynchronize(), error::success);
    }
    // All further work of `after` comes after all work of `before` so far.
    void order(int before, int after) {
        event* e = nullptr;
        use(before);
        ASSERT_EQ(cudaEventCreate(&e), error::success);
        ASSERT_EQ(cudaEventRecord(e, on(before)), error::success);
        use(after);
        ASSERT_EQ(cudaStreamWaitEvent(on(after), e, 0), error::success);
    }

private:
    softgpu_recording* recording_ = nullptr;
    std::vector<stream*> streams_;
};

TEST_F(devices_checks, two_kernels_without_an_order) {
    std::uint32_t* const p = allocate(1, 32);
    ASSERT_EQ(fill_on(0, p), error::success);
    wait_for(p + 31);
    ASSERT_EQ(fill_on(2, p), error::success);
    synchronize(0);
    synchronize(2);
    expect_one("race between devices",
               {"device 0, stream ", "device 2, stream ", "kernel fill(unsigned int*, unsigned int)",
                "write of 4 bytes", "at 0x", "device 1, allocation "});
}

// Their threads do not run at the same time, which orders nothing either.
TEST_F(devices_checks, the_default_streams_of_two_threads) {
    std::uint32_t* const p = allocate(0, 32);
    for (int thread = 0; thread < 2; ++thread) {
        std::thread([&] {
            use(0);
            ASSERT_EQ(fill(p, 1, reinterpret_cast<stream*>(2)), error::success);
            wait_for(p + 31);
        }).join();
    }
    synchronize(0);
    expect_one("race between streams", {"default stream of thread "});
}

TEST_F(devices_checks, an_event_orders_two_kernels) {
    std::uint32_t* const p = allocate(1, 32);
    ASSERT_EQ(fill_on(0, p), error::success);
    order(0, 2);
    ASSERT_EQ(fill_on(2, p), error::success);
    expect_none();
}

TEST_F(devices_checks, an_event_before_the_kernel_orders_nothing) {
    std::uint32_t* const p = allocate(1, 32);
    order(0, 2);
    ASSERT_EQ(fill_on(0, p), error::success);
    wait_for(p + 31);
    ASSERT_EQ(fill_on(2, p), error::success);
    expect_one("race between devices", {"device 0, stream ", "device 2, stream "});
}

TEST_F(devices_checks, an_order_over_a_third_device) {
    std::uint32_t* const p = allocate(1, 32);
    ASSERT_EQ(fill_on(0, p), error::success);
    order(0, 1);
    order(1, 2);
    ASSERT_EQ(fill_on(2, p), error::success);
    expect_none();
}

TEST_F(devices_checks, a_synchronisation_orders_the_work_of_its_device) {
    std::uint32_t* const p = allocate(1, 32);
    ASSERT_EQ(fill_on(0, p), error::success);
    synchronize(0);
    ASSERT_EQ(fill_on(2, p), error::success);
    expect_none();
}

TEST_F(devices_checks, a_synchronisation_of_another_device_orders_nothing) {
    std::uint32_t* const p = allocate(1, 32);
    ASSERT_EQ(fill_on(0, p), error::success);
    wait_for(p + 31);
    synchronize(1);
    ASSERT_EQ(fill_on(2, p), error::success);
    expect_one("race between devices", {"device 0, stream ", "device 2, stream "});
}

TEST_F(devices_checks, a_kernel_and_a_peer_copy) {
    std::uint32_t* const from = allocate(0, 32);
    std::uint32_t* const to = allocate(1, 32);
    ASSERT_EQ(fill_on(0, from), error::success);
    wait_for(from + 31);
    use(1);
    ASSERT_EQ(cudaMemcpyPeerAsync(to, 1, from, 0, 128, on(1)), error::success);
    expect_one("race between devices", {"device 0, stream ", "kernel fill(", "device 1, stream ",
                                        "copy of 128 bytes from device to device, reads it", "device 0, allocation "});
}

TEST_F(devices_checks, a_peer_copy_after_an_event_and_a_kernel_after_the_copy) {
    std::uint32_t* const from = allocate(0, 32);
    std::uint32_t* const to = allocate(1, 32);
    ASSERT_EQ(fill_on(0, from), error::success);
    order(0, 1);
    use(1);
    ASSERT_EQ(cudaMemcpyPeerAsync(to, 1, from, 0, 128, on(1)), error::success);
    order(1, 0);
    ASSERT_EQ(fill_on(0, from), error::success);
    expect_none();
}

TEST_F(devices_checks, a_copy_in_a_default_stream_is_in_order_with_both_devices) {
    std::uint32_t* const from = allocate(0, 32);
    std::uint32_t* const to = allocate(1, 32);
    use(0);
    ASSERT_EQ(fill(from, 1), error::success); // in the default stream
    use(1);
    ASSERT_EQ(cudaMemcpyPeerAsync(to, 1, from, 0, 128, nullptr), error::success);
    use(0);
    ASSERT_EQ(fill(from, 2), error::success);
    expect_none();
}

TEST_F(devices_checks, default_streams_of_two_devices_have_no_order) {
    void* p = nullptr;
    ASSERT_EQ(cudaMallocManaged(&p, 128, 1), error::success);
    use(0);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(p), 1), error::success);
    wait_for(static_cast<std::uint32_t*>(p) + 31);
    use(1);
    ASSERT_EQ(fill(static_cast<std::uint32_t*>(p), 1), error::success);
    expect_one("race between devices", {"device 0, default stream", "device 1, default stream"});
}

TEST_F(devices_checks, a_managed_variable_of_two_devices) {
    use(0);
    void* both = nullptr;
    ASSERT_EQ(cudaGetSymbolAddress(&both, &program().both), error::success);
    const auto* const word = static_cast<const std::uint32_t*>(both);
    const std::uint32_t before = *word;
    ASSERT_EQ(bump(), error::success);
    wait_for(word, before);
    use(1);
    ASSERT_EQ(bump(), error::success);
    const std::vector<found> all = findings();
    EXPECT_FALSE(all.empty());
    for (const found& f : all) { // a read and a write by each
        EXPECT_EQ(f.kind, "race between devices") << f.text;
        EXPECT_NE(f.text.find("variable both"), std::string::npos) << f.text;
    }
}

TEST_F(devices_checks, kernels_that_run_at_once_with_signals_of_system_scope) {
    std::uint32_t* const data = allocate(1, 32);
    std::uint32_t* const flag = data + 8;
    std::uint32_t* const out = data + 16;
    use(1);
    ASSERT_EQ(launch_in(on(1), &code().receive, 1, 1, data, flag, out), error::success);
    use(0);
    ASSERT_EQ(launch_in(on(0), &code().send, 1, 1, data, flag), error::success);
    synchronize(1);
    EXPECT_EQ(read(out), 77u);
    expect_none();
}

TEST_F(devices_checks, data_without_a_signal_race) {
    std::uint32_t* const data = allocate(1, 32);
    std::uint32_t* const out = data + 8;
    std::uint32_t* const flag = data + 16;
    use(0);
    ASSERT_EQ(launch_in(on(0), &code().send, 1, 1, data, flag), error::success);
    wait_for(flag);
    use(1);
    ASSERT_EQ(launch_in(on(1), &program().transfer, 1, 1, out, data), error::success);
    expect_one("race between devices", {"kernel send", "kernel transfer", "read of 4 bytes", "write of 4 bytes"});
}

TEST_F(devices_checks, a_race_inside_each_device) {
    for (int device = 1; device < device_count; ++device) {
        begin("race");
        std::uint32_t* const p = allocate(device, 32);
        // Many blocks: two accesses of different threads of the host at one moment may escape the checks.
        ASSERT_EQ(launch_in(on(device), &code().clash, 64, 1, p), error::success);
        expect_one("race in global memory", {"device " + std::to_string(device) + ", allocation "});
    }
}

TEST_F(devices_checks, an_access_behind_a_peers_allocation) {
    std::uint32_t* const p = allocate(1, 31);
    ASSERT_EQ(fill_on(2, p), error::success);
    use(2);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    expect_one("out of bounds", {"0 bytes behind the end of", "device 1, "});
}

TEST_F(devices_checks, an_access_to_freed_memory_of_a_peer) {
    std::uint32_t* const p = allocate(1, 32);
    ASSERT_EQ(cudaFree(p), error::success);
    ASSERT_EQ(fill_on(2, p), error::success);
    use(2);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    expect_one("use after free", {"device 1, freed allocation "});
    use(1);
    begin("memory");
    EXPECT_EQ(cudaFree(p), error::invalid_value);
    expect_one("double free", {"device 1, freed allocation "});
}

TEST_F(devices_checks, unwritten_memory_of_a_peer_and_its_copies) {
    use(1);
    void* unwritten = nullptr;
    ASSERT_EQ(cudaMalloc(&unwritten, 128), error::success);
    std::uint32_t* const own = allocate(2, 32);
    std::uint32_t* const out = allocate(2, 32);
    ASSERT_EQ(cudaMemcpyPeerAsync(own, 2, unwritten, 1, 128, on(2)), error::success);
    ASSERT_EQ(copy_on(2, out, own, on(2)), error::success);
    expect_one("read of unwritten memory", {"device 2, allocation ", "nobody has written these bytes"});
    begin("init");
    ASSERT_EQ(copy_on(2, out, own, on(2)), error::success);
    expect_none(); // what is older than the checks counts as written
    begin("init");
    use(1);
    ASSERT_EQ(cudaMalloc(&unwritten, 128), error::success);
    ASSERT_EQ(copy_on(2, out, static_cast<std::uint32_t*>(unwritten), on(2)), error::success);
    expect_one("read of unwritten memory", {"device 1, allocation "});
}

TEST_F(devices_checks, leaks_of_each_device) {
    begin("leak");
    std::uint32_t* const kept = allocate(0, 8);
    (void)allocate(2, 32);
    use(1);
    void* managed = nullptr;
    ASSERT_EQ(cudaMallocManaged(&managed, 64, 1), error::success);
    use(0);
    ASSERT_EQ(cudaFree(kept), error::success);
    std::vector<found> all = findings();
    std::ranges::sort(all, {}, &found::text);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_NE(all[0].text.find("128 bytes of device memory of device 2 were never freed"), std::string::npos)
        << all[0].text;
    EXPECT_NE(all[1].text.find("64 bytes of managed memory of device 1 were never freed"), std::string::npos)
        << all[1].text;
}

TEST_F(devices_checks, a_reset_leaves_the_checks_of_other_devices) {
    std::uint32_t* p = allocate(0, 32);
    ASSERT_EQ(fill_on(1, p), error::success);
    use(0);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    p = allocate(0, 32); // in the addresses of the memory that is gone
    stream* const s = make_stream();
    ASSERT_EQ(fill(p, 1, s), error::success);
    synchronize(0);
    ASSERT_EQ(cudaDeviceEnablePeerAccess(1, 0), error::success);
    std::uint32_t* const other = allocate(1, 32);
    ASSERT_EQ(fill_on(1, other), error::success);
    wait_for(other + 31);
    use(0);
    ASSERT_EQ(fill(other, 1, s), error::success);
    expect_one("race between devices", {"device 1, allocation "});
}

} // namespace
} // namespace softgpu::runtime
