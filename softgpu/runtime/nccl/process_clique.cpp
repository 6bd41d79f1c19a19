// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/process_clique.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/nccl/data.hpp"
#include "softgpu/runtime/nccl/reduction.hpp"

namespace softgpu::runtime::nccl {
namespace {

namespace files = std::filesystem;

constexpr std::chrono::milliseconds between_looks{20}; // at the ranks' locks
constexpr std::chrono::seconds long_wait{60};

// A call cannot end.
struct ended {
    ncclResult_t result;
    std::string why;
};

std::string rank_file(int rank) { return "rank." + std::to_string(rank); }

// A captured call: graphs may run it for as long as the process lives, so it is never destroyed.
struct captured_work {
    std::function<void()> work;

    static void run(void* user) { static_cast<captured_work*>(user)->work(); }
};

} // namespace

process_clique::process_clique(std::string folder, int ranks, int rank)
    : folder_(std::move(folder)), ranks_(ranks), rank_(rank), has_joined_(static_cast<std::size_t>(ranks)) {
    std::error_code ignored;
    files::create_directory(folder_, ignored);
    // The file gets its name when it is locked: another rank shall not find it without.
    const std::string made = path("joins." + std::to_string(rank)), name = path(rank_file(rank));
    lock_ = ::open(made.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0 || files::exists(name) ||
        ::rename(made.c_str(), name.c_str()) != 0) {
        if (lock_ >= 0) {
            ::close(lock_);
        }
        throw std::runtime_error("ncclCommInitRank: rank " + std::to_string(rank) + " cannot join in " + folder_);
    }
}

process_clique::~process_clique() {
    aborted_ = true;
    const std::lock_guard until_work_has_ended(running_);
    std::error_code ignored;
    files::remove(path(rank_file(rank_)), ignored);
    ::close(lock_);
    for (int r = 0; r < ranks_; ++r) {
        if (files::exists(path(rank_file(r)), ignored) && !has_ended(r)) {
            return;
        }
    }
    files::remove_all(folder_, ignored);
}

bool process_clique::has_begun(const std::string& folder) {
    std::error_code ignored;
    return files::exists(folder, ignored);
}

bool process_clique::has_ended(int rank) {
    const int file = ::open(path(rank_file(rank)).c_str(), O_RDWR | O_CLOEXEC);
    const auto r = static_cast<std::size_t>(rank);
    if (file < 0) {
        return has_joined_[r];
    }
    has_joined_[r] = true;
    const bool is_free = ::flock(file, LOCK_SH | LOCK_NB) == 0;
    ::close(file);
    return is_free;
}

void process_clique::publish(const std::string& name, const call_terms& terms, const void* data,
                             std::size_t bytes) const {
    const std::string made = path(name + ".writing");
    {
        std::ofstream out(made, std::ios::binary);
        out.write(reinterpret_cast<const char*>(&terms), sizeof terms);
        out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
        if (!out.flush()) {
            throw ended{ncclSystemError, "cannot write " + made};
        }
    }
    files::rename(made, path(name));
}

std::vector<std::byte> process_clique::await(int from, const std::string& name, const call_terms& terms) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    auto look = begin + between_looks;
    bool told = false, last_look = false;
    std::ifstream in;
    for (in.open(path(name), std::ios::binary); !in.is_open(); in.open(path(name), std::ios::binary)) {
        in.clear();
        if (last_look) {
            throw ended{ncclRemoteError, "rank " + std::to_string(from) + " has ended"};
        }
        if (aborted_) {
            throw ended{ncclInternalError, "the communicator was aborted"};
        }
        const auto now = clock::now();
        if (now >= look) {
            look = now + between_looks;
            last_look = has_ended(from); // it may have published before
        }
        if (!told && now - begin >= long_wait) {
            told = true;
            report(std::string(terms.name()) + ": waits for rank " + std::to_string(from) + " for a minute now");
        }
        std::this_thread::sleep_for(std::chrono::microseconds(now - begin < between_looks ? 20 : 500));
    }
    call_terms theirs;
    if (!in.read(reinterpret_cast<char*>(&theirs), sizeof theirs)) {
        throw ended{ncclSystemError, "cannot read " + path(name)};
    }
    if (const std::string other = difference(theirs, from, terms, rank_); !other.empty()) {
        throw ended{ncclInvalidUsage, other};
    }
    std::vector<std::byte> data(files::file_size(path(name)) - sizeof theirs);
    in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
    return data;
}

void process_clique::post(const call_terms& terms, const rank_call& with) {
    auto run = [this, terms, with] {
        const std::lock_guard lock(running_);
        if (with.gpu->has_failed()) {
            return;
        }
        const auto fail = [&](ncclResult_t result, const std::string& why) {
            result_ = result;
            report(terms.title() + ": " + why);
            with.gpu->set_sticky_error(error::launch_failure);
        };
        try {
            terms.what == call_kind::send      ? send(terms, with)
            : terms.what == call_kind::receive ? receive(terms, with)
                                               : meet(terms, with);
            const sizes used = sizes_of(terms, rank_, ranks_);
            note(terms.title(), {&with, 1}, {&used, 1});
        } catch (const ended& e) {
            fail(e.result, e.why);
        } catch (const std::exception& e) {
            fail(ncclSystemError, e.what());
        }
    };
    if (is_capturing(*with.on)) {
        enqueue_host_function(*with.gpu, {captured_work::run, new captured_work{std::move(run)}}, *with.on);
        return;
    }
    const std::vector<operation_pointer> before{with.gpu->mark(*with.on), last_};
    last_ = with.gpu->issue_after(before, operation_kind::host, std::move(run), with.on->priority, with.on->id);
    with.gpu->mark(*with.on, last_);
}

void process_clique::meet(const call_terms& terms, const rank_call& with) {
    const auto name_of = [this](std::uint64_t call, int rank) {
        return "call." + std::to_string(call) + "." + std::to_string(rank);
    };
    const std::size_t bytes = sizes_of(terms, rank_, ranks_).in;
    std::vector<rank_call> calls(static_cast<std::size_t>(ranks_));
    rank_call& own = calls[static_cast<std::size_t>(rank_)];
    own = {.in = with.in, .out = with.out};
    std::vector<std::byte> scaled;
    if (with.scale != nullptr) {
        const void* const by = with.scale->at();
        scaled = reduced({&with.in, 1}, bytes / bytes_of(terms.type), terms.type, ncclSum, {&by, 1});
        own.in = scaled.data();
    }
    publish(name_of(++calls_, rank_), terms, own.in, bytes);
    std::vector<std::vector<std::byte>> data(calls.size());
    for (int r = 0; r < ranks_; ++r) {
        const auto k = static_cast<std::size_t>(r);
        if (r != rank_) {
            data[k] = await(r, name_of(calls_, r), terms);
            calls[k].in = data[k].data();
        }
    }
    if (calls_ > 1) { // all ranks have read it
        std::error_code ignored;
        files::remove(path(name_of(calls_ - 1, rank_)), ignored);
    }
    carry_out(terms, calls);
}

std::string process_clique::next_transfer(int from, int to) {
    return "transfer." + std::to_string(from) + "." + std::to_string(to) + "." +
           std::to_string(++transfers_[{from, to}]);
}

void process_clique::send(const call_terms& terms, const rank_call& with) {
    publish(next_transfer(rank_, terms.root), terms, with.in, terms.bytes());
}

void process_clique::receive(const call_terms& terms, const rank_call& with) {
    const std::string name = next_transfer(terms.root, rank_);
    const auto data = await(terms.root, name, terms);
    files::remove(path(name));
    transfer(data.size(), {.in = data.data()}, {.out = with.out});
}

} // namespace softgpu::runtime::nccl
