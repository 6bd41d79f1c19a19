// SPDX-License-Identifier: MIT
#include "softgpu/runtime/device/nested_grids.hpp"

#include <algorithm>
#include <tuple>

#include "softgpu/runtime/accounts/journal.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned most_amid = 8; // grids in the middle of each other: each takes of the host's stack

} // namespace

nested_grids::nested_grids(context& gpu, const kernel_work& root, std::uint64_t launch, kernel_runner run_kernel)
    : gpu_(gpu), root_(root), launch_(launch), run_kernel_(run_kernel) {
    if (const auto seed = gpu.options().seed_of(launch)) {
        random_.emplace(*seed);
    }
}

nested_grids::~nested_grids() {
    for (const nested_grid& g : grids_) {
        for (const auto& [at, buffer] : g.buffers) {
            gpu_.memory().release(at);
        }
    }
}

void nested_grids::require_room() { require(pending_ < root_.pending_launches, error::launch_pending_count_exceeded); }

void nested_grids::add(nested_grid& parent, stream_key on, std::uint64_t block, nested_work work,
                       std::shared_ptr<const check::launch_point> launched_at) {
    require_room();
    ++pending_;
    nested_grid& made = grids_.emplace_back();
    made.parent = &parent;
    made.depth = parent.depth + 1;
    made.work = std::move(work);
    made.block = block;
    made.sequence = next_number();
    made.is_tail = on.kind == device_stream::tail;
    made.launched_at = std::move(launched_at);
    if (on.kind != device_stream::fire_and_forget) {
        std::vector<nested_grid*>& front = parent.streams[on];
        made.after = std::move(front);
        front = {&made};
    }
    if (made.is_tail) {
        parent.tails.push_back(&made);
        return;
    }
    ++parent.open;
    for (nested_grid* const before : made.after) {
        if (!before->is_over) {
            before->next.push_back(&made);
            ++made.waits;
        }
    }
    if (made.waits == 0) {
        ready_.push_back(&made);
    }
}

nested_grid* nested_grids::take_ready() {
    const std::lock_guard lock(mutex_);
    if (ready_.empty() || gpu_.has_failed()) {
        return nullptr;
    }
    const auto at = random_ ? ready_.begin() + static_cast<std::ptrdiff_t>((*random_)() % ready_.size())
                            : std::ranges::min_element(ready_, {}, [](const nested_grid* g) {
                                  return std::tuple(deepest_grid - g->depth, g->block, g->sequence);
                              });
    nested_grid* const taken = *at;
    ready_.erase(at);
    --pending_;
    return taken;
}

void nested_grids::settle(nested_grid& g) {
    for (nested_grid* now = &g; now != nullptr && --now->open == 0; now = now->parent) {
        if (!now->tails.empty()) {
            ++now->open;
            ready_.push_back(now->tails.front());
            now->tails.pop_front();
            return;
        }
        now->is_over = true;
        for (nested_grid* const next : now->next) {
            if (--next->waits == 0) {
                ready_.push_back(next);
            }
        }
    }
}

void nested_grids::run(nested_grid& g, bool amid_parent) {
    const operation& outermost = *grids_.front().operation;
    g.operation = std::make_shared<operation>();
    g.operation->kind = operation_kind::device;
    g.operation->stream = outermost.stream;
    g.operation->device = outermost.device;
    g.operation->within = g.parent->operation;
    g.operation->is_last_within = g.is_tail;
    g.operation->launched_at = std::move(g.launched_at);
    g.operation->launched_by =
        (g.parent->parent == nullptr ? root_ : std::get<kernel_work>(g.parent->work)).what->demangled;
    std::vector<operation_pointer> after;
    for (const nested_grid* const before : g.after) {
        after.push_back(before->operation);
    }
    g.operation->run = [&] {
        if (const auto* const kernel = std::get_if<kernel_work>(&g.work)) {
            const std::uint64_t number = journal::instance().next_launch();
            describe_kernel(*g.operation, *kernel->what, number);
            run_kernel_(*this, g, number, amid_parent);
        } else if (const auto* const copy = std::get_if<copy_work>(&g.work)) {
            run_copy(*copy);
        } else {
            run_fill(std::get<fill_work>(g.work));
        }
    };
    executor::instance().run_within(g.operation, after);
    const std::lock_guard lock(mutex_);
    settle(g);
}

void nested_grids::run_some_now() {
    if (!random_) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        if ((*random_)() % 2 == 0 || amid_ == most_amid) {
            return;
        }
        ++amid_;
    }
    if (nested_grid* const g = take_ready()) {
        run(*g, true);
    }
    const std::lock_guard lock(mutex_);
    --amid_;
}

void nested_grids::run() {
    nested_grid& root = grids_.emplace_back();
    root.operation = executor::this_threads_operation();
    run_kernel_(*this, root, launch_, false);
    {
        const std::lock_guard lock(mutex_);
        settle(root);
    }
    while (nested_grid* const g = take_ready()) {
        run(*g, false);
    }
}

} // namespace softgpu::runtime
