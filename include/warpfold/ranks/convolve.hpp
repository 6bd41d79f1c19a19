// SPDX-License-Identifier: MIT
// Convolution over ranks: an array is split by elements, images by rows. Ranks exchange the samples that their masks
// need of others' parts, however many ranks away; borders are those of the whole array. Results are those of the rank's
// own samples (outputs::same).
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "warpfold/detail/convolve.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/ranks/agreement.hpp"
#include "warpfold/ranks/halo_memory.hpp"

namespace warpfold::detail {

// The split axis: units are samples of an array, or rows of `width` samples of images.
struct halo_units {
    std::vector<std::int64_t> first; // of each rank; behind the last: all
    std::int64_t before, after;      // units that a result needs besides its own
    border kind;

    [[nodiscard]] std::int64_t count(int rank) const {
        const auto r = static_cast<std::size_t>(rank);
        return first[r + 1] - first[r];
    }
    // need(unit in the whole array or -1, place among the halo's units) for each unit that the rank needs.
    template <class Need>
    void each_needed(int rank, const Need& need) const {
        const std::int64_t n = count(rank);
        if (n == 0) {
            return;
        }
        for (std::int64_t j = 0; j < before + after; ++j) {
            const std::int64_t at = j < before ? j - before : n + j - before;
            need(source_index<std::int64_t>(first[static_cast<std::size_t>(rank)] + at, first.back(), kind), j);
        }
    }
    [[nodiscard]] int owner(std::int64_t unit) const {
        return static_cast<int>(std::upper_bound(first.begin(), first.end(), unit) - first.begin()) - 1;
    }
};

template <class On, class Comm>
struct convolve_engine<over_ranks<On, Comm>> {
    using target = over_ranks<On, Comm>;

    // Images, split by rows.
    template <class A, class T, class O>
    static void direct(const target& on, const convolve_task<T, O>& task, const A* mask, std::int64_t kx,
                       std::int64_t ky, const char* call) {
        split<false, A>(on, task, kx, ky, call, [&](const convolve_task<T, O>& piece) {
            convolve_engine<On>::template direct<A>(on.on, piece, mask, kx, ky, call);
        });
    }
    template <class A, class T, class O>
    static void separable(const target& on, const convolve_task<T, O>& task, const A* across, std::int64_t kx,
                          const A* down, std::int64_t ky, const char* call) {
        split<false, A>(on, task, kx, ky, call, [&](const convolve_task<T, O>& piece) {
            convolve_engine<On>::template separable<A>(on.on, piece, across, kx, down, ky, call);
        });
    }
    // An array, split by elements.
    template <class A, class T, class O>
    static void line(const target& on, const convolve_task<T, O>& task, const A* mask, std::int64_t k,
                     const char* call) {
        split<true, A>(on, task, k, 1, call, [&](const convolve_task<T, O>& piece) {
            convolve_engine<On>::template direct<A>(on.on, piece, mask, k, 1, call);
        });
    }

private:
    using memory = halo_memory<On, Comm>;

    struct extent {
        std::int64_t width, count;
    };

    // run(piece): a task whose results need samples of the piece alone along the split axis.
    template <bool Line, class A, class T, class O, class Run>
    static void split(const target& on, const convolve_task<T, O>& task, std::int64_t kx, std::int64_t ky,
                      const char* call, const Run& run) {
        if (on.comm->size() == 1) {
            if (task.count != 0 && task.out_width != 0 && task.out_height != 0) {
                run(task);
            }
            return;
        }
        const std::int64_t lead = Line ? task.lead_x : task.lead_y, k = Line ? kx : ky;
        const std::int64_t mine = Line ? task.width : (task.width == 0 ? 0 : task.height);
        const auto settings = static_cast<std::uint64_t>(task.outside) * 2 + (Line ? 1 : 0);
        const auto signature =
            detail::signature_of<T, O, A>(call, on.root, static_cast<std::uint64_t>(kx * ky), "mask values",
                                          settings * 1000003 + static_cast<std::uint64_t>(kx));
        const auto all =
            detail::gather(on, signature, static_cast<std::uint64_t>(mine), extent{Line ? 1 : task.width, task.count});
        const halo_units units = units_of(all, lead, k - 1 - lead, task.outside, call);
        auto halo = memory::template allocate<T>(
            on.on, mine == 0
                       ? 0
                       : static_cast<std::size_t>((units.before + units.after) * (Line ? 1 : task.width) * task.count));
        const std::int64_t inner = mine - units.before - units.after;
        std::exception_ptr failure; // the other ranks wait for this one's samples all the same
        exchange<Line>(on, task, units, halo.data(), call, [&]() noexcept {
            try {
                if (inner > 0 && task.count != 0) {
                    run(piece_of<Line>(task, task.in, mine, task.pitch, task.distance, units.before, inner));
                }
            } catch (...) {
                failure = std::current_exception();
            }
        });
        if (failure != nullptr) {
            std::rethrow_exception(failure);
        }
        if (mine == 0 || task.count == 0) {
            return;
        }
        if (inner > 0) {
            edge<Line>(on, task, units, halo.data(), 0, units.before, run);
            edge<Line>(on, task, units, halo.data(), mine - units.after, units.after, run);
        } else {
            edge<Line>(on, task, units, halo.data(), 0, mine, run);
        }
    }

    static halo_units units_of(const gathered<extent>& all, std::int64_t before, std::int64_t after, border kind,
                               const char* call) {
        halo_units units{{0}, before, after, kind};
        units.first.reserve(all.n.size() + 1);
        std::size_t known = all.n.size(); // the first rank that has units
        for (std::size_t r = 0; r < all.n.size(); ++r) {
            units.first.push_back(units.first.back() + static_cast<std::int64_t>(all.n[r]));
            if (all.n[r] == 0) {
                continue;
            }
            known = std::min(known, r);
            const extent &here = all.value[r], &there = all.value[known];
            if (here.width != there.width || here.count != there.count) {
                throw rank_error(static_cast<int>(r), std::string("warpfold: ") + call + ": rank " + std::to_string(r) +
                                                          " has images of another width or number than rank " +
                                                          std::to_string(known));
            }
        }
        return units;
    }

    // The samples of `count` units from `first` on of one image.
    template <bool Line, class T, class O>
    static void take_units(const target& on, const convolve_task<T, O>& task, std::int64_t first, std::int64_t count,
                           std::int64_t image, T* to) {
        const T* const from = task.in + image * task.distance;
        if constexpr (Line) {
            memory::take(on.on, to, from + first, count == 0 ? 0 : 1, count, count);
        } else {
            memory::take(on.on, to, from + first * task.pitch, count, task.width, task.pitch);
        }
    }

    // Sets the halo's units of each image: those before the part, then those behind it; leaves those that there are not. Calls
    // interior() while samples are on their way.
    template <bool Line, class T, class O, class Interior>
    static void exchange(const target& on, const convolve_task<T, O>& task, const halo_units& units, T* halo,
                         const char* call, const Interior& interior) {
        const int me = on.comm->rank(), ranks = on.comm->size();
        const std::int64_t width = Line ? 1 : task.width, around = units.before + units.after;
        // What each rank needs of this one's units and this one of each rank's, in the order of need, and where that is.
        std::vector<std::vector<std::int64_t>> own(static_cast<std::size_t>(ranks));
        std::vector<std::int64_t> needed(own.size()), sent_at(own.size() + 1), received_at(own.size() + 1);
        units.each_needed(me, [&](std::int64_t unit, std::int64_t) {
            if (unit >= 0) {
                ++needed[static_cast<std::size_t>(units.owner(unit))];
            }
        });
        for (std::size_t q = 0; q < own.size(); ++q) {
            units.each_needed(static_cast<int>(q), [&](std::int64_t unit, std::int64_t) {
                if (unit >= 0 && units.owner(unit) == me) {
                    own[q].push_back(unit - units.first[static_cast<std::size_t>(me)]);
                }
            });
            sent_at[q + 1] = sent_at[q] + static_cast<std::int64_t>(own[q].size()) * width * task.count;
            received_at[q + 1] = received_at[q] + needed[q] * width * task.count;
        }
        auto sent = memory::template allocate<T>(on.on, static_cast<std::size_t>(sent_at.back()));
        auto received = memory::template allocate<T>(on.on, static_cast<std::size_t>(received_at.back()));
        std::vector<message> out, in;
        out.reserve(own.size());
        in.reserve(own.size());
        for (std::size_t q = 0; q < own.size(); ++q) {
            const std::vector<std::int64_t>& list = own[q];
            T* to = sent.data() + sent_at[q];
            for (std::int64_t c = 0; c < task.count; ++c) {
                for (std::size_t at = 0; at < list.size();) {
                    std::size_t end = at + 1;
                    while (end < list.size() && list[end] == list[end - 1] + 1) {
                        ++end;
                    }
                    const auto count = static_cast<std::int64_t>(end - at);
                    take_units<Line>(on, task, list[at], count, c, to);
                    to += count * width;
                    at = end;
                }
            }
            const auto bytes = [](const std::vector<std::int64_t>& at, std::size_t k) {
                return static_cast<std::size_t>(at[k + 1] - at[k]) * sizeof(T);
            };
            out.push_back({static_cast<int>(q), sent.data() + sent_at[q], bytes(sent_at, q)});
            in.push_back({static_cast<int>(q), received.data() + received_at[q], bytes(received_at, q)});
        }
        memory::exchange(on, out, in, call, interior);
        for (std::int64_t c = 0; c < task.count && units.count(me) != 0; ++c) {
            std::vector<std::int64_t> next(own.size());
            std::int64_t from = 0, to = 0, count = 0; // consecutive units of one rank
            std::size_t of = 0;
            const auto copy = [&] { memory::copy(on.on, halo + to, received.data() + from, count * width); };
            units.each_needed(me, [&](std::int64_t unit, std::int64_t j) {
                if (unit < 0) {
                    return;
                }
                const auto q = static_cast<std::size_t>(units.owner(unit));
                const std::int64_t source = received_at[q] + (c * needed[q] + next[q]++) * width;
                const std::int64_t place = (c * around + j) * width;
                if (count != 0 && q == of && place == to + count * width) {
                    ++count;
                    return;
                }
                copy();
                from = source;
                to = place;
                of = q;
                count = 1;
            });
            copy();
        }
    }

    // The results [first, first + count), from a copy of the samples around them.
    template <bool Line, class T, class O, class Run>
    static void edge(const target& on, const convolve_task<T, O>& task, const halo_units& units, const T* halo,
                     std::int64_t first, std::int64_t count, const Run& run) {
        if (count == 0) {
            return;
        }
        const std::int64_t width = Line ? 1 : task.width, n = units.count(on.comm->rank());
        const std::int64_t around = units.before + units.after, all = count + around;
        auto samples = memory::template allocate<T>(on.on, static_cast<std::size_t>(all * width * task.count));
        const std::int64_t begin = first - units.before;
        const std::int64_t own = std::clamp<std::int64_t>(-begin, 0, all), end = std::clamp(n - begin, own, all);
        for (std::int64_t c = 0; c < task.count; ++c) {
            T* const to = samples.data() + c * all * width;
            const T* const outer = halo + c * around * width;
            memory::copy(on.on, to, outer + (units.before + begin) * width, own * width);
            take_units<Line>(on, task, begin + own, end - own, c, to + own * width);
            memory::copy(on.on, to + end * width, outer + (units.before + begin + end - n) * width,
                         (all - end) * width);
        }
        memory::on_target(on.on, samples, [&](const T* copy) {
            run(piece_of<Line>(task, copy, all, Line ? task.pitch : width, all * width, first, count));
        });
    }

    // A task for the results [first, first + count), from `units` units that begin where the first result's mask does.
    template <bool Line, class T, class O>
    static convolve_task<T, O> piece_of(convolve_task<T, O> task, const T* in, std::int64_t units, std::int64_t pitch,
                                        std::int64_t distance, std::int64_t first, std::int64_t count) {
        task.in = in;
        task.pitch = pitch;
        task.distance = distance;
        if constexpr (Line) {
            task.width = units;
            task.out_width = count;
            task.out += first;
            task.lead_x = 0;
        } else {
            task.height = units;
            task.out_height = count;
            task.out += first * task.out_pitch;
            task.lead_y = 0;
        }
        return task;
    }
};

} // namespace warpfold::detail
