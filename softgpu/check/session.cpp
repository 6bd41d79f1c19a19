// SPDX-License-Identifier: MIT
#include "softgpu/check/session.hpp"

namespace softgpu::check {

namespace {

constexpr std::uint64_t most_kept_after_release = 1 << 20;

} // namespace

session::session(check_set checks, findings& sink, std::uint64_t base, std::uint64_t bytes)
    : checks_(checks), sink_(sink), shadow_(base, bytes, checks) {
    if (has(race)) {
        order_.emplace(sink_, memories_, shadow_, serials_);
    }
}

session::session(check_set checks, findings& sink, memory::device_memory& only)
    : session(checks, sink, only.shared_window(), only.reserved_bytes()) {
    add(only);
}

session::~session() {
    memories_.each([](memory::device_memory& m) {
        m.watch(nullptr);
        m.keep_apart(false);
    });
}

void session::add(memory::device_memory& one, int device) {
    memories_.add(one, device);
    one.watch(this);
    if (has(check::memory) || has(race)) {
        one.keep_apart(); // freed memory may be met by what has no order to its free
    }
}

void session::remove(memory::device_memory& one) {
    one.watch(nullptr);
    one.keep_apart(false);
    memories_.remove(one);
    if (order_) {
        order_->forget_all();
    }
    shadow_.set_valid(one.shared_window(), one.reserved_bytes(), false);
    shadow_.forget_stamps(one.shared_window(), one.reserved_bytes());
}

void session::take_over() {
    memories_.each([this](const memory::device_memory& m) {
        for (const memory::allocation& a : m.list()) {
            written(a.base, a.bytes);
        }
    });
}

void session::allocated(const memory::allocation& a) {
    // Only what cudaMalloc and malloc in kernels gave is known to be unwritten: the host may write to all else.
    const bool fresh = (a.kind == memory::allocation_kind::device && a.name.empty()) ||
                       a.kind == memory::allocation_kind::heap || a.kind == memory::allocation_kind::mapped;
    shadow_.set_valid(a.base, a.bytes, !fresh);
    shadow_.forget_stamps(a.base, a.bytes);
}

// A launch that has no order to the free may still run: what it did there is to be named. Large ranges take too much room.
void session::released(const memory::allocation& a) {
    if (a.bytes > most_kept_after_release) {
        shadow_.forget_stamps(a.base, a.bytes);
    }
}

void session::host_finding(std::string kind, std::string message, std::uint64_t at) {
    add_finding(check::memory, std::move(kind), std::move(message), at);
}

void session::report_deadlock(std::string message, std::uint64_t at) {
    add_finding(check::sync, "deadlock", std::move(message), at);
}

void session::add_finding(check_set of, std::string kind, std::string message, std::uint64_t at) {
    if (!has(of)) {
        return;
    }
    finding f;
    f.check = of;
    f.kind = std::move(kind);
    f.message = std::move(message);
    f.address = hexadecimal(at);
    f.allocation = memories_.describe(at);
    sink_.add(std::move(f));
}

void session::add_leak(std::string message, std::uint64_t at) {
    finding f;
    f.check = leak;
    f.kind = "leak";
    f.message = std::move(message);
    f.address = hexadecimal(at);
    sink_.add(std::move(f));
}

void session::find_leaks(const memory::device_memory& of, std::uint64_t after, const std::set<memory::address>& idle) {
    if (!has(leak)) {
        return;
    }
    std::uint64_t heap_bytes = 0;
    std::uint64_t heap_pieces = 0;
    std::uint64_t first_piece = 0;
    for (const memory::allocation& a : of.list()) {
        if (a.kind == memory::allocation_kind::heap && a.serial > after) {
            heap_bytes += a.bytes;
            first_piece = heap_pieces++ == 0 ? a.base : first_piece;
        }
        const bool managed = a.kind == memory::allocation_kind::managed;
        const bool array = a.kind == memory::allocation_kind::array;
        if (a.serial <= after || idle.contains(a.base) ||
            (!array && ((a.kind != memory::allocation_kind::device && !managed) || !a.name.empty()))) {
            continue;
        }
        add_leak(std::to_string(a.bytes) + " bytes of " +
                     (array ? a.name : std::string(managed ? "managed memory" : "device memory")) +
                     memories_.owner_of(of) + " were never freed: allocation " + std::to_string(a.serial),
                 a.base);
    }
    if (heap_pieces != 0) { // kernels may leave thousands of them
        add_leak(std::to_string(heap_bytes) + " bytes of malloc() in kernels" + memories_.owner_of(of) +
                     " were never freed, in " + std::to_string(heap_pieces) +
                     (heap_pieces == 1 ? " piece" : " pieces, of which this is one"),
                 first_piece);
    }
}

std::uint64_t session::begin_launch(std::uint64_t blocks) {
    return !has(race) ? 0 : serials_.begin_launch(blocks, [this] {
        order_->forget_serials();
        shadow_.forget_all_stamps();
    });
}

void session::end_launch() noexcept {
    if (has(race)) {
        serials_.end_launch();
    }
}

} // namespace softgpu::check
