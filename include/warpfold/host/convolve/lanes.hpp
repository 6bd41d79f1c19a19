// SPDX-License-Identifier: MIT
// The inner loops of convolution on the host, for one set of vector instructions. convolve.hpp includes this file once
// per set, with WARPFOLD_LANES_NAME (the namespace), WARPFOLD_LANES_BYTES (bytes of a vector), WARPFOLD_LANES_TARGET
// (the attribute of functions) and WARPFOLD_LANES_NON_TEMPORAL (the intrinsic for non-temporal stores). By itself it defines
// nothing.
#if defined(WARPFOLD_LANES_NAME)

namespace warpfold::detail::WARPFOLD_LANES_NAME {

template <class A>
struct lanes_of;
template <>
struct lanes_of<float> {
    typedef float type __attribute__((vector_size(WARPFOLD_LANES_BYTES)));
};
template <>
struct lanes_of<double> {
    typedef double type __attribute__((vector_size(WARPFOLD_LANES_BYTES)));
};

template <class A>
inline constexpr std::int64_t lanes_v = WARPFOLD_LANES_BYTES / sizeof(A);

// Non-temporal store of a vector to an aligned address.
template <class A>
WARPFOLD_LANES_TARGET void store_lanes_non_temporal(A* to, const typename lanes_of<A>::type& from) {
#if defined(__clang__)
    __builtin_nontemporal_store(from, reinterpret_cast<typename lanes_of<A>::type*>(to));
#elif defined(__x86_64__)
    typename lanes_of<float>::type bits;
    std::memcpy(&bits, &from, sizeof(bits));
    WARPFOLD_LANES_NON_TEMPORAL(reinterpret_cast<float*>(to), bits);
#else
    std::memcpy(to, &from, sizeof(from));
#endif
}

// Non-temporal stores of n numbers.
template <class A>
WARPFOLD_LANES_TARGET void store_row_non_temporal(A* to, const A* from, std::int64_t n) {
    constexpr std::int64_t lanes = lanes_v<A>, line = 64 / sizeof(A);
    const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % 64 / sizeof(A));
    std::int64_t k = beyond == 0 ? 0 : (line - beyond < n ? line - beyond : n);
    std::memcpy(to, from, static_cast<std::size_t>(k) * sizeof(A));
    for (; k + line <= n; k += line) {
        WARPFOLD_UNROLL
        for (std::int64_t v = 0; v < line; v += lanes) {
            typename lanes_of<A>::type values;
            std::memcpy(&values, from + k + v, sizeof(values));
            store_lanes_non_temporal<A>(to + k + v, values);
        }
    }
    std::memcpy(to + k, from + k, static_cast<std::size_t>(n - k) * sizeof(A));
}

// Adds a row of samples to the sums of rows [From, To): each vector is loaded once for all of them. `mask` is the mask
// row that row 0 uses; that of row r begins r * apart after it.
template <int From, int To, unsigned R, unsigned N, class A>
WARPFOLD_LANES_TARGET WARPFOLD_ALWAYS_INLINE void add_samples(typename lanes_of<A>::type (&sum)[R][N], const A* row,
                                                              const A* mask, std::int64_t kx, std::int64_t apart) {
    using vector = typename lanes_of<A>::type;
    for (std::int64_t i = 0; i < kx; ++i) {
        vector sample[N];
        WARPFOLD_UNROLL
        for (unsigned v = 0; v < N; ++v) {
            std::memcpy(&sample[v], row + i + v * lanes_v<A>, sizeof(vector));
            WARPFOLD_LOAD_ONCE(sample[v]);
        }
        WARPFOLD_UNROLL
        for (int r = From; r < To; ++r) {
            const A value = mask[i + r * apart];
            WARPFOLD_UNROLL
            for (unsigned v = 0; v < N; ++v) {
                sum[r][v] += value * sample[v];
            }
        }
    }
}

// All rows from the Y-th on, of a mask of known size: unrolled.
template <int Y, int Kx, int Ky, unsigned R, unsigned N, class A>
WARPFOLD_LANES_TARGET WARPFOLD_ALWAYS_INLINE void add_rows(typename lanes_of<A>::type (&sum)[R][N],
                                                           const A* const* rows, std::int64_t x, const A* mask) {
    using vector = typename lanes_of<A>::type;
    constexpr int sums = R;
    if constexpr (Y < Ky + sums - 1) {
        constexpr int from = Y < Ky ? 0 : Y - Ky + 1, to = Y < sums ? Y + 1 : sums;
        const A* const row = rows[Y] + x;
        WARPFOLD_UNROLL
        for (int i = 0; i < Kx; ++i) {
            vector sample[N];
            WARPFOLD_UNROLL
            for (unsigned v = 0; v < N; ++v) {
                std::memcpy(&sample[v], row + i + v * lanes_v<A>, sizeof(vector));
                WARPFOLD_LOAD_ONCE(sample[v]);
            }
            WARPFOLD_UNROLL
            for (int r = from; r < to; ++r) {
                const A value = mask[(Y - r) * Kx + i];
                WARPFOLD_UNROLL
                for (unsigned v = 0; v < N; ++v) {
                    sum[r][v] += value * sample[v];
                }
            }
        }
        add_rows<Y + 1, Kx, Ky>(sum, rows, x, mask);
    }
}

// Sums of R rows and N vectors of columns in registers, for a mask of Kx by Ky if they are not 0. Row r starts at out +
// r * out_pitch; rows[y] + i is the sample for mask value (i, 0) in row y. IsShared: all R rows are sums of the same samples,
// and the mask of row r is at mask + r * apart.
template <unsigned R, unsigned N, bool NonTemporal, int Kx, int Ky, bool IsShared = false, class A>
WARPFOLD_LANES_TARGET void correlate_lanes(A* out, std::int64_t out_pitch, const A* const* rows, std::int64_t x,
                                           const A* mask, std::int64_t kx, std::int64_t ky, std::int64_t apart = 0) {
    static_assert(R == 1 || R == 4);
    using vector = typename lanes_of<A>::type;
    constexpr std::int64_t lanes = lanes_v<A>;
    vector sum[R][N] = {};
    if constexpr (Kx != 0) {
        add_rows<0, Kx, Ky>(sum, rows, x, mask);
    }
    for (std::int64_t y = 0; Kx == 0 && y < ky + (IsShared ? 0 : R - 1); ++y) {
        const A* const row = rows[y] + x;
        const A* const values = mask + y * kx;
        if constexpr (R == 1) {
            add_samples<0, 1>(sum, row, values, kx, 0);
        } else if constexpr (IsShared) {
            add_samples<0, R>(sum, row, values, kx, apart);
        } else {
            const std::int64_t from = y < ky ? 0 : y - ky + 1, to = y < R ? y + 1 : R;
            switch (from * 8 + to) {
            case 0 * 8 + 4: add_samples<0, 4>(sum, row, values, kx, -kx); break;
            case 0 * 8 + 1: add_samples<0, 1>(sum, row, values, kx, -kx); break;
            case 0 * 8 + 2: add_samples<0, 2>(sum, row, values, kx, -kx); break;
            case 0 * 8 + 3: add_samples<0, 3>(sum, row, values, kx, -kx); break;
            case 1 * 8 + 2: add_samples<1, 2>(sum, row, values, kx, -kx); break;
            case 1 * 8 + 3: add_samples<1, 3>(sum, row, values, kx, -kx); break;
            case 1 * 8 + 4: add_samples<1, 4>(sum, row, values, kx, -kx); break;
            case 2 * 8 + 3: add_samples<2, 3>(sum, row, values, kx, -kx); break;
            case 2 * 8 + 4: add_samples<2, 4>(sum, row, values, kx, -kx); break;
            case 3 * 8 + 4: add_samples<3, 4>(sum, row, values, kx, -kx); break;
            default: break;
            }
        }
    }
    WARPFOLD_UNROLL
    for (unsigned r = 0; r < R; ++r) {
        WARPFOLD_UNROLL
        for (unsigned v = 0; v < N; ++v) {
            if constexpr (NonTemporal) {
                store_lanes_non_temporal<A>(out + r * out_pitch + v * lanes, sum[r][v]);
            } else {
                std::memcpy(out + r * out_pitch + v * lanes, &sum[r][v], sizeof(vector));
            }
        }
    }
}

// R rows of `columns` sums from x = 0 on.
template <unsigned R, unsigned N, bool NonTemporal = false, int Kx = 0, int Ky = 0, bool IsShared = false, class A,
          class O>
WARPFOLD_LANES_TARGET void correlate_rows(O* out, std::int64_t out_pitch, std::int64_t columns, const A* const* rows,
                                          const A* mask, std::int64_t kx, std::int64_t ky, std::int64_t apart = 0) {
    constexpr std::int64_t width = N * lanes_v<A>;
    std::int64_t x = 0;
    const auto partly = [&](std::int64_t wanted) {
        A sum[static_cast<std::size_t>(R * width)];
        correlate_lanes<R, N, false, 0, 0, IsShared>(sum, width, rows, x, mask, kx, ky, apart);
        for (std::int64_t r = 0; r < R; ++r) {
            for (std::int64_t c = 0; c < wanted; ++c) {
                out[r * out_pitch + x + c] = sample_of<O>(sum[r * width + c]);
            }
        }
        x += wanted;
    };
    if constexpr (NonTemporal) {
        static_assert(R == 1);
        const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % 64 / sizeof(A));
        if (beyond != 0) {
            const std::int64_t first = static_cast<std::int64_t>(64 / sizeof(A)) - beyond;
            partly(first < columns ? first : columns);
        }
    }
    if constexpr (std::is_same_v<O, A>) {
        for (; x + width <= columns; x += width) {
            correlate_lanes<R, N, NonTemporal, Kx, Ky, IsShared>(out + x, out_pitch, rows, x, mask, kx, ky, apart);
        }
    }
    while (x < columns) { // NOLINT(bugprone-infinite-loop): partly() changes x
        partly(columns - x < width ? columns - x : width);
    }
}

// Rows are padded to so many columns, so that whole vectors can be read.
template <class A>
constexpr std::int64_t most_columns(std::int64_t columns) {
    constexpr std::int64_t width = 8 * lanes_v<A>; // of the widest group, which may begin at any column
    return columns + width;
}

// Copies `columns` samples of a row, from column x on, to `into`.
template <class A, class T, class O>
WARPFOLD_LANES_TARGET void read_row(A* into, const T* row, const convolve_task<T, O>& task, std::int64_t x,
                                    std::int64_t columns) {
    std::int64_t c = 0;
    for (; c < columns && x + c < 0; ++c) {
        const std::int64_t at = source_index(x + c, task.width, task.outside);
        into[c] = at < 0 ? A(0) : number_of<A>(row[at]);
    }
    const std::int64_t inside = task.width - x < columns ? task.width - x : columns;
    if constexpr (std::is_same_v<T, A>) {
        if (c < inside) {
            std::memcpy(into + c, row + x + c, static_cast<std::size_t>(inside - c) * sizeof(A));
            c = inside;
        }
    }
    for (; c < inside; ++c) {
        into[c] = number_of<A>(row[x + c]);
    }
    for (; c < columns; ++c) {
        const std::int64_t at = source_index(x + c, task.width, task.outside);
        into[c] = at < 0 ? A(0) : number_of<A>(row[at]);
    }
}

// Rows of samples from (x, y) on as numbers of type A: in the image itself if possible, else copied.
template <class A, class T, class O>
class sample_rows {
public:
    WARPFOLD_LANES_TARGET sample_rows(const convolve_task<T, O>& task, const T* image, std::int64_t x, std::int64_t y,
                                      std::int64_t columns, std::int64_t rows)
        : row_(static_cast<std::size_t>(rows)) {
        const bool inside = x >= 0 && x + columns <= task.width;
        std::int64_t copies = y < 0 || y + rows > task.height ? 1 : 0; // a row of zeros
        if (!std::is_same_v<T, A> || !inside) {
            copies += rows;
        }
        if (copies != 0) { // a large allocation costs as much as a block of a short mask
            copy_.reset(new A[static_cast<std::size_t>(copies * columns)]);
        }
        A* next = copy_.get();
        const A* ghost = nullptr;
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t from = source_index(y + r, task.height, task.outside);
            const A*& row = row_[static_cast<std::size_t>(r)];
            if (from < 0) {
                if (ghost == nullptr) {
                    std::fill(next, next + columns, A(0));
                    ghost = next;
                    next += columns;
                }
                row = ghost;
                continue;
            }
            if constexpr (std::is_same_v<T, A>) {
                if (inside) {
                    row = image + from * task.pitch + x;
                    continue;
                }
            }
            read_row(next, image + from * task.pitch, task, x, columns);
            row = next;
            next += columns;
        }
    }

    [[nodiscard]] const A* const* from(std::int64_t row) const { return row_.data() + row; }

private:
    std::vector<const A*> row_;
    std::unique_ptr<A[]> copy_;
};

// Four rows; common small masks have unrolled loops.
template <class A, class O>
WARPFOLD_LANES_TARGET void correlate_four(O* out, std::int64_t out_pitch, std::int64_t columns, const A* const* rows,
                                          const A* mask, std::int64_t kx, std::int64_t ky) {
    if constexpr (std::is_same_v<A, float> && std::is_same_v<O, float>) {
        if (kx == 3 && ky == 3) {
            return correlate_rows<4, 3, false, 3, 3>(out, out_pitch, columns, rows, mask, kx, ky);
        }
        if (kx == 5 && ky == 5) {
            return correlate_rows<4, 3, false, 5, 5>(out, out_pitch, columns, rows, mask, kx, ky);
        }
        if (kx == 1 && ky == 5) {
            return correlate_rows<4, 3, false, 1, 5>(out, out_pitch, columns, rows, mask, kx, ky);
        }
    }
    correlate_rows<4, 3>(out, out_pitch, columns, rows, mask, kx, ky);
}

template <class A, class O>
WARPFOLD_LANES_TARGET void correlate_block(O* out, std::int64_t out_pitch, std::int64_t columns, std::int64_t count,
                                           const A* const* rows, const A* mask, std::int64_t kx, std::int64_t ky,
                                           bool non_temporal) {
    std::int64_t r = 0;
    if constexpr (std::is_same_v<O, A>) {
        // One row after another: several rows whose addresses differ by a power of two would compete for
        // write-combining buffers.
        for (; non_temporal && ky == 1 && r < count; ++r) {
            correlate_rows<1, 8, true>(out + r * out_pitch, out_pitch, columns, rows + r, mask, kx, ky);
        }
    }
    if constexpr (std::is_same_v<O, A>) {
        constexpr std::int64_t most = 1024, pitch = most + 64 / sizeof(A);
        if (non_temporal && ky > 1 && columns <= most && count >= 4) { // by way of rows that stay in the cache
            alignas(64) A four[static_cast<std::size_t>(4 * pitch)];
            for (; r + 4 <= count; r += 4) {
                correlate_four(four, pitch, columns, rows + r, mask, kx, ky);
                for (std::int64_t k = 0; k < 4; ++k) {
                    store_row_non_temporal(out + (r + k) * out_pitch, four + k * pitch, columns);
                }
            }
        }
    }
    for (; ky > 1 && r + 4 <= count; r += 4) {
        correlate_four(out + r * out_pitch, out_pitch, columns, rows + r, mask, kx, ky);
    }
    for (; r < count; ++r) {
        correlate_rows<1, 8>(out + r * out_pitch, out_pitch, columns, rows + r, mask, kx, ky);
    }
}

// The results of one block of an image; samples outside of the image, and those around them, are copied.
template <class A, class T, class O>
WARPFOLD_LANES_TARGET void convolve_whole_block(const convolve_task<T, O>& task, const host_block& block, const A* mask,
                                                std::int64_t kx, std::int64_t ky, bool non_temporal) {
    const T* const image = task.in + block.image * task.distance;
    O* const out = task.out + block.image * task.out_distance + block.y * task.out_pitch + block.x;
    const sample_rows<A, T, O> rows(task, image, block.x - task.lead_x, block.y - task.lead_y,
                                    most_columns<A>(block.columns) + kx - 1, block.rows + ky - 1);
    correlate_block(out, task.out_pitch, block.columns, block.rows, rows.from(0), mask, kx, ky, non_temporal);
}

// The same, with an edge of a long row as a block of its own, so that only that is copied.
template <class A, class T, class O>
WARPFOLD_LANES_TARGET void convolve_block(const convolve_task<T, O>& task, const host_block& block, const A* mask,
                                          std::int64_t kx, std::int64_t ky, bool non_temporal) {
    constexpr std::int64_t line = 64; // elements; so that all parts have the alignment of the block
    const std::int64_t edge = (most_columns<A>(0) + kx + line - 1) / line * line;
    host_block middle = block;
    const auto part = [&](std::int64_t x, std::int64_t columns) {
        convolve_whole_block(task, host_block{block.image, block.y, x, block.rows, columns}, mask, kx, ky,
                             non_temporal);
    };
    if (block.rows == 1 && block.columns > 4 * edge) {
        if (middle.x < task.lead_x) {
            part(middle.x, edge);
            middle.x += edge;
            middle.columns -= edge;
        }
        if (middle.x + middle.columns + edge > task.width) {
            middle.columns -= 2 * edge;
            part(middle.x + middle.columns, 2 * edge);
        }
    }
    part(middle.x, middle.columns);
}

// The results of one block of an image for each of `outputs` masks, summed over the image's channels. Channels are images of
// the task, and so are results; a mask has kx by ky values for each channel.
template <class A>
WARPFOLD_LANES_TARGET void correlate_channels_block(const convolve_task<A, A>& task, const host_block& block,
                                                    const A* masks, std::int64_t kx, std::int64_t ky,
                                                    std::int64_t channels, std::int64_t outputs) {
    const std::int64_t columns = most_columns<A>(block.columns) + kx - 1, apart = task.out_distance;
    std::vector<sample_rows<A, A, A>> samples;
    for (std::int64_t c = 0; c < channels; ++c) {
        const A* const image = task.in + (block.image * channels + c) * task.distance;
        samples.emplace_back(task, image, block.x, block.y, columns, block.rows + ky - 1);
    }
    std::vector<const A*> rows(static_cast<std::size_t>(channels * ky)); // as of one mask of this height
    const std::int64_t height = channels * ky, size = height * kx;
    for (std::int64_t r = 0; r < block.rows; ++r) {
        for (std::int64_t c = 0; c < channels; ++c) {
            std::copy_n(samples[static_cast<std::size_t>(c)].from(r), ky, rows.data() + c * ky);
        }
        A* const out = task.out + block.image * outputs * apart + (block.y + r) * task.out_pitch + block.x;
        std::int64_t o = 0;
        for (; o + 4 <= outputs; o += 4) {
            correlate_rows<4, 3, false, 0, 0, true>(out + o * apart, apart, block.columns, rows.data(),
                                                    masks + o * size, kx, height, size);
        }
        for (; o < outputs; ++o) {
            correlate_rows<1, 8>(out + o * apart, apart, block.columns, rows.data(), masks + o * size, kx, height);
        }
    }
}

// Four rows of results at a time, and only the row sums that they need, which stay in the cache.
template <class A, class T, class O>
WARPFOLD_LANES_TARGET void convolve_block_separable(const convolve_task<T, O>& task, const host_block& block,
                                                    const A* across, std::int64_t kx, const A* down, std::int64_t ky,
                                                    bool non_temporal) {
    const T* const image = task.in + block.image * task.distance;
    O* const out = task.out + block.image * task.out_distance + block.y * task.out_pitch + block.x;
    const std::int64_t count = block.rows + ky - 1, columns = most_columns<A>(block.columns), kept = ky + 3;
    const sample_rows<A, T, O> rows(task, image, block.x - task.lead_x, block.y - task.lead_y, columns + kx - 1, count);
    const std::unique_ptr<A[]> sums(new A[static_cast<std::size_t>(columns * kept)]());
    std::vector<const A*> row(static_cast<std::size_t>(count));
    std::int64_t done = 0;
    for (std::int64_t r = 0; r < block.rows; r += 4) {
        const std::int64_t now = block.rows - r < 4 ? block.rows - r : 4;
        for (; done < r + now + ky - 1; ++done) {
            A* const to = sums.get() + done % kept * columns;
            row[static_cast<std::size_t>(done)] = to;
            correlate_block(to, columns, block.columns, 1, rows.from(done), across, kx, 1, false);
        }
        correlate_block(out + r * task.out_pitch, task.out_pitch, block.columns, now, row.data() + r, down, 1, ky,
                        non_temporal);
    }
}

} // namespace warpfold::detail::WARPFOLD_LANES_NAME

#undef WARPFOLD_LANES_NAME
#undef WARPFOLD_LANES_BYTES
#undef WARPFOLD_LANES_TARGET
#undef WARPFOLD_LANES_NON_TEMPORAL
#endif
