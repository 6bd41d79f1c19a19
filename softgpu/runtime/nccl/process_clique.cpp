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

#include "softgpu/runtime/core/capture_rules.hpp"
#include "softgpu/runtime/core/failure.hpp"
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

std::size_t size_of(const rank_call& call) { return call.count * bytes_of(call.type); }

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

void process_clique::publish(const std::string& name, const terms& of, const void* data, std::size_t bytes) const {
    const std::string made = path(name + ".writing");
    {
        std::ofstream out(made, std::ios::binary);
        out.write(reinterpret_cast<const char*>(&of), sizeof of);
        out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
        if (!out.flush()) {
            throw ended{ncclSystemError, "cannot write " + made};
        }
    }
    files::rename(made, path(name));
}

std::vector<std::byte> process_clique::await(int from, const std::string& name, const terms& of, const char* call) {
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
            report(std::string(call) + ": waits for rank " + std::to_string(from) + " for a minute now");
        }
        std::this_thread::sleep_for(std::chrono::microseconds(now - begin < between_looks ? 20 : 500));
    }
    terms theirs{};
    in.read(reinterpret_cast<char*>(&theirs), sizeof theirs);
    if (!in || theirs != of) {
        throw ended{ncclInvalidUsage, "rank " + std::to_string(from) +
                                          " calls another function, or with another count, type, operation or root"};
    }
    std::vector<std::byte> data(files::file_size(path(name)) - sizeof theirs);
    in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
    return data;
}

template <class Work>
void process_clique::issue(const char* name, const rank_call& with, Work work) {
    const std::string title = std::string(name) + " of " + std::to_string(size_of(with)) + " bytes";
    auto run = [this, title, gpu = with.gpu, work = std::move(work)] {
        const std::lock_guard lock(running_);
        if (gpu->has_failed()) {
            return;
        }
        try {
            work();
        } catch (const ended& e) {
            result_ = e.result;
            report(title + ": " + e.why);
            gpu->set_sticky_error(error::launch_failure);
        } catch (const std::exception& e) {
            result_ = ncclSystemError;
            report(title + ": " + e.what());
            gpu->set_sticky_error(error::launch_failure);
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

void process_clique::join(collective what, const char* name, ncclRedOp_t op, int root, const rank_call& with) {
    issue(name, with, [this, what, name, op, root, with] {
        const terms mine{static_cast<std::int32_t>(what), op, root, with.type, with.count};
        const auto all = static_cast<std::size_t>(ranks_);
        const std::string call = "call." + std::to_string(++calls_) + ".";
        const sizes used = sizes_of(what, with, rank_, root, all);
        const void* given = with.in;
        std::vector<std::byte> scaled;
        if (with.scale != nullptr) {
            const void* const by = with.scale->on_device == nullptr ? with.scale->value : with.scale->on_device;
            const void* const one[] = {with.in};
            scaled = reduced(one, used.in / bytes_of(with.type), with.type, ncclSum, {&by, 1});
            given = scaled.data();
        }
        publish(call + std::to_string(rank_), mine, given, used.in);
        std::vector<std::vector<std::byte>> data(all);
        std::vector<rank_call> calls(all, with);
        for (rank_call& one : calls) {
            one.scale = nullptr;
        }
        calls[static_cast<std::size_t>(rank_)].in = given;
        for (int r = 0; r < ranks_; ++r) {
            const auto k = static_cast<std::size_t>(r);
            if (r != rank_) {
                data[k] = await(r, call + std::to_string(r), mine, name);
                calls[k].in = data[k].data();
                calls[k].out = nullptr;
            }
        }
        if (calls_ > 1) { // all ranks have read it
            std::error_code ignored;
            files::remove(path("call." + std::to_string(calls_ - 1) + "." + std::to_string(rank_)), ignored);
        }
        carry_out(what, op, root, calls);
        note(std::string(name) + " of " + std::to_string(size_of(with)) + " bytes", with, used);
    });
}

void process_clique::send(int to, const rank_call& with) {
    issue("ncclSend", with, [this, to, with] {
        const std::size_t bytes = size_of(with);
        publish("transfer." + std::to_string(rank_) + "." + std::to_string(to) + "." +
                    std::to_string(++transfers_[{rank_, to}]),
                {-1, 0, 0, 0, bytes}, with.in, bytes);
        note("ncclSend of " + std::to_string(bytes) + " bytes", with, {bytes, 0});
    });
}

void process_clique::receive(int from, const rank_call& with) {
    issue("ncclRecv", with, [this, from, with] {
        const std::size_t bytes = size_of(with);
        const std::string name = "transfer." + std::to_string(from) + "." + std::to_string(rank_) + "." +
                                 std::to_string(++transfers_[{from, rank_}]);
        const auto data = await(from, name, {-1, 0, 0, 0, bytes}, "ncclRecv");
        files::remove(path(name));
        rank_call source = with;
        source.in = data.data();
        carry_out(source, with);
        note("ncclRecv of " + std::to_string(bytes) + " bytes", with, {0, bytes});
    });
}

} // namespace softgpu::runtime::nccl
