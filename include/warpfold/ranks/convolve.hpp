// SPDX-License-Identifier: MIT
// Convolution over ranks: an array is split by elements, images by rows. Ranks exchange the samples that their masks
// need of others' parts, however many ranks away; borders are those of the whole array. Results are those of the rank's
// own samples (outputs::same).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/detail/convolve.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/ranks/agreement.hpp"

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
    struct extent {
        std::int64_t width, count;
    };

    // run(piece): a task whose results need samples of the piece alone along the split axis.
    template <bool Line, class A, class T, class O, class Run>
    static void split(const target& on, const convolve_task<T, O>& task, std::int64_t kx, std::int64_t ky,
                      const char* call, const Run& run) {
        const std::int64_t lead = Line ? task.lead_x : task.lead_y, k = Line ? kx : ky;
        const std::int64_t mine = Line ? task.width : (task.width == 0 ? 0 : task.height);
        const auto settings = static_cast<std::uint64_t>(task.outside) * 2 + (Line ? 1 : 0);
        const auto signature =
            detail::signature_of<T, O, A>(call, on.root, static_cast<std::uint64_t>(kx * ky), "mask values",
                                          settings * 1000003 + static_cast<std::uint64_t>(kx));
        const auto all =
            detail::gather(on, signature, static_cast<std::uint64_t>(mine), extent{Line ? 1 : task.width, task.count});
        const halo_units units = units_of(all, lead, k - 1 - lead, task.outside, call);
        const std::vector<T> halo = exchanged<Line>(on, task, units, call);
        if (mine == 0 || task.count == 0) {
            return;
        }
        const std::int64_t inner = mine - units.before - units.after;
        if (inner > 0) {
            run(piece_of<Line>(task, task.in, mine, task.pitch, task.distance, units.before, inner));
            edge<Line>(on, task, units, halo, 0, units.before, run);
            edge<Line>(on, task, units, halo, mine - units.after, units.after, run);
        } else {
            edge<Line>(on, task, units, halo, 0, mine, run);
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

    // The samples of `count` units from `first` on of each image, one image after another.
    template <bool Line, class T, class O>
    static void read_units(const target& on, const convolve_task<T, O>& task, std::int64_t first, std::int64_t count,
                           std::int64_t image, T* to) {
        const T* const from = task.in + image * task.distance;
        if constexpr (Line) {
            rank_target<On>::read(on.on, to, from + first, static_cast<std::uint64_t>(count));
        } else {
            for (std::int64_t y = 0; y < count; ++y) {
                rank_target<On>::read(on.on, to + y * task.width, from + (first + y) * task.pitch,
                                      static_cast<std::uint64_t>(task.width));
            }
        }
    }

    // The halo's units of each image: those before the part, then those behind it; zeros where there is nothing.
    template <bool Line, class T, class O>
    static std::vector<T> exchanged(const target& on, const convolve_task<T, O>& task, const halo_units& units,
                                    const char* call) {
        const int me = on.comm->rank(), ranks = on.comm->size();
        const std::int64_t width = Line ? 1 : task.width, around = units.before + units.after;
        const auto size = [&](std::int64_t count) { return static_cast<std::size_t>(count * width * task.count); };
        std::vector<std::vector<T>> sent(static_cast<std::size_t>(ranks)), received(sent.size());
        std::vector<message> out, in;
        out.reserve(sent.size());
        in.reserve(sent.size());
        for (int q = 0; q < ranks; ++q) {
            std::vector<std::int64_t> own; // of this rank, in the order of need
            units.each_needed(q, [&](std::int64_t unit, std::int64_t) {
                if (unit >= 0 && units.owner(unit) == me) {
                    own.push_back(unit - units.first[static_cast<std::size_t>(me)]);
                }
            });
            std::vector<T>& data = sent[static_cast<std::size_t>(q)];
            data.resize(size(static_cast<std::int64_t>(own.size())));
            for (std::int64_t c = 0; c < task.count; ++c) {
                T* const to = data.data() + c * static_cast<std::int64_t>(own.size()) * width;
                for (std::size_t at = 0; at < own.size();) {
                    std::size_t end = at + 1;
                    while (end < own.size() && own[end] == own[end - 1] + 1) {
                        ++end;
                    }
                    read_units<Line>(on, task, own[at], static_cast<std::int64_t>(end - at), c,
                                     to + static_cast<std::int64_t>(at) * width);
                    at = end;
                }
            }
            out.push_back({q, data.data(), data.size() * sizeof(T)});
        }
        std::vector<std::int64_t> needed(sent.size());
        units.each_needed(me, [&](std::int64_t unit, std::int64_t) {
            if (unit >= 0) {
                ++needed[static_cast<std::size_t>(units.owner(unit))];
            }
        });
        for (int q = 0; q < ranks; ++q) {
            std::vector<T>& data = received[static_cast<std::size_t>(q)];
            data.resize(size(needed[static_cast<std::size_t>(q)]));
            in.push_back({q, data.data(), data.size() * sizeof(T)});
        }
        on.comm->exchange(out, in, call);
        std::vector<T> halo(units.count(me) == 0 ? 0 : size(around));
        for (std::int64_t c = 0; c < task.count && !halo.empty(); ++c) {
            std::vector<std::int64_t> next(sent.size());
            units.each_needed(me, [&](std::int64_t unit, std::int64_t j) {
                if (unit >= 0) {
                    const auto q = static_cast<std::size_t>(units.owner(unit));
                    const T* const from = received[q].data() + (c * needed[q] + next[q]++) * width;
                    std::copy_n(from, width, halo.data() + (c * around + j) * width);
                }
            });
        }
        return halo;
    }

    // The results [first, first + count), from a copy of the samples around them.
    template <bool Line, class T, class O, class Run>
    static void edge(const target& on, const convolve_task<T, O>& task, const halo_units& units,
                     const std::vector<T>& halo, std::int64_t first, std::int64_t count, const Run& run) {
        if (count == 0) {
            return;
        }
        const std::int64_t width = Line ? 1 : task.width, n = units.count(on.comm->rank());
        const std::int64_t around = units.before + units.after, all = count + around;
        std::vector<T> samples(static_cast<std::size_t>(all * width * task.count));
        const std::int64_t begin = first - units.before;
        for (std::int64_t c = 0; c < task.count; ++c) {
            T* const to = samples.data() + c * all * width;
            const T* const outer = halo.data() + c * around * width;
            const std::int64_t own = std::max<std::int64_t>(begin, 0), end = std::min(begin + all, n);
            read_units<Line>(on, task, own, end - own, c, to + (own - begin) * width);
            for (std::int64_t j = 0; j < all; ++j) {
                const std::int64_t at = begin + j;
                if (at < 0 || at >= n) {
                    const std::int64_t place = at < 0 ? units.before + at : units.before + at - n;
                    std::copy_n(outer + place * width, width, to + j * width);
                }
            }
        }
        auto copy = rank_target<On>::template allocate<T>(on.on, samples.size());
        rank_target<On>::write(on.on, copy.data(), static_cast<const T*>(samples.data()), samples.size());
        run(piece_of<Line>(task, static_cast<const T*>(copy.data()), all, Line ? task.pitch : width, all * width, first,
                           count));
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
