// SPDX-License-Identifier: MIT
// The inner loops of convolution on the host, for one set of vector instructions: host/convolve.hpp includes this file
// once for each set, with WARPFOLD_LANES_NAME, the namespace, WARPFOLD_LANES_BYTES, the size of a vector, and
// WARPFOLD_LANES_TARGET, the attribute that functions need. Alone it defines nothing.
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
inline constexpr int lanes_v = WARPFOLD_LANES_BYTES / sizeof(A);

// Sums of R rows and N vectors of columns: every vector that is loaded serves all R rows, and the sums stay in
// registers. Row r starts at out + r * out_pitch; rows[y] + i is the sample that value (i, 0) of the mask meets in row y.
template <int R, int N, class A>
WARPFOLD_LANES_TARGET void correlate_lanes(A* out, std::int64_t out_pitch, const A* const* rows, std::int64_t x,
                                           const A* mask, std::int64_t kx, std::int64_t ky) {
    using vector = typename lanes_of<A>::type;
    constexpr int lanes = lanes_v<A>;
    vector sum[R][N] = {};
    for (std::int64_t y = 0; y < ky + R - 1; ++y) {
        const A* const row = rows[y] + x;
        if (y >= R - 1 && y < ky) {
            for (std::int64_t i = 0; i < kx; ++i) {
                vector sample[N];
                WARPFOLD_UNROLL
                for (int v = 0; v < N; ++v) {
                    std::memcpy(&sample[v], row + i + v * lanes, sizeof(vector));
                }
                WARPFOLD_UNROLL
                for (int r = 0; r < R; ++r) {
                    const A value = mask[(y - r) * kx + i];
                    WARPFOLD_UNROLL
                    for (int v = 0; v < N; ++v) {
                        sum[r][v] += value * sample[v];
                    }
                }
            }
            continue;
        }
        WARPFOLD_UNROLL
        for (int r = 0; r < R; ++r) {
            if (y < r || y - r >= ky) {
                continue;
            }
            for (std::int64_t i = 0; i < kx; ++i) {
                const A value = mask[(y - r) * kx + i];
                WARPFOLD_UNROLL
                for (int v = 0; v < N; ++v) {
                    vector sample;
                    std::memcpy(&sample, row + i + v * lanes, sizeof(vector));
                    sum[r][v] += value * sample;
                }
            }
        }
    }
    WARPFOLD_UNROLL
    for (int r = 0; r < R; ++r) {
        WARPFOLD_UNROLL
        for (int v = 0; v < N; ++v) {
            std::memcpy(out + r * out_pitch + v * lanes, &sum[r][v], sizeof(vector));
        }
    }
}

// `rows` rows of `columns` sums from x = 0 on; `rounded` columns can be read and are at least as many vectors.
template <int R, int N, class A, class O>
WARPFOLD_LANES_TARGET void correlate_rows(O* out, std::int64_t out_pitch, std::int64_t columns, const A* const* rows,
                                          const A* mask, std::int64_t kx, std::int64_t ky) {
    constexpr std::int64_t width = N * lanes_v<A>;
    for (std::int64_t x = 0; x < columns; x += width) {
        if constexpr (std::is_same_v<O, A>) {
            if (x + width <= columns) {
                correlate_lanes<R, N>(out + x, out_pitch, rows, x, mask, kx, ky);
                continue;
            }
        }
        A sum[R * width];
        correlate_lanes<R, N>(sum, width, rows, x, mask, kx, ky);
        const std::int64_t wanted = columns - x < width ? columns - x : width;
        for (std::int64_t r = 0; r < R; ++r) {
            for (std::int64_t c = 0; c < wanted; ++c) {
                out[r * out_pitch + x + c] = sample_of<O>(sum[r * width + c]);
            }
        }
    }
}

// Columns that a row is filled up to, so that whole vectors can be read of it.
template <class A>
constexpr std::int64_t most_columns(std::int64_t columns) {
    constexpr std::int64_t width = 8 * 3 * lanes_v<A>;
    return (columns + width - 1) / width * width;
}

// Puts `columns` samples of a row, from column x on, into `into`.
template <class A, class T, class O>
WARPFOLD_LANES_TARGET void read_row(A* into, const T* row, const convolve_task<T, O>& task, std::int64_t x,
                                    std::int64_t columns) {
    std::int64_t c = 0;
    for (; c < columns && x + c < 0; ++c) {
        const std::int64_t at = source_index(x + c, task.width, task.outside);
        into[c] = at < 0 ? A(0) : number_of<A>(row[at]);
    }
    const std::int64_t inside = task.width - x < columns ? task.width - x : columns;
    for (; c < inside; ++c) {
        into[c] = number_of<A>(row[x + c]);
    }
    for (; c < columns; ++c) {
        const std::int64_t at = source_index(x + c, task.width, task.outside);
        into[c] = at < 0 ? A(0) : number_of<A>(row[at]);
    }
}

// Rows of samples from (x, y) on, as numbers of type A: in the image itself where that is possible, else copied.
template <class A, class T, class O>
class sample_rows {
public:
    WARPFOLD_LANES_TARGET sample_rows(const convolve_task<T, O>& task, const T* image, std::int64_t x, std::int64_t y,
                                      std::int64_t columns, std::int64_t rows)
        : row_(static_cast<std::size_t>(rows)) {
        const bool inside = x >= 0 && x + columns <= task.width;
        std::int64_t copies = 1;
        if (!std::is_same_v<T, A> || !inside) {
            copies += rows;
        }
        copy_.reset(new A[static_cast<std::size_t>(copies * columns)]);
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

template <class A, class O>
WARPFOLD_LANES_TARGET void correlate_block(O* out, std::int64_t out_pitch, std::int64_t columns, std::int64_t count,
                                           const A* const* rows, const A* mask, std::int64_t kx, std::int64_t ky) {
    if (ky == 1) {
        for (std::int64_t r = 0; r < count; ++r) {
            correlate_rows<1, 8>(out + r * out_pitch, out_pitch, columns, rows + r, mask, kx, ky);
        }
        return;
    }
    std::int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        correlate_rows<4, 3>(out + r * out_pitch, out_pitch, columns, rows + r, mask, kx, ky);
    }
    for (; r < count; ++r) {
        correlate_rows<1, 8>(out + r * out_pitch, out_pitch, columns, rows + r, mask, kx, ky);
    }
}

// The results of one block of an image.
template <class A, class T, class O>
WARPFOLD_LANES_TARGET void convolve_block(const convolve_task<T, O>& task, const host_block& block, const A* mask,
                                          std::int64_t kx, std::int64_t ky) {
    const T* const image = task.in + block.image * task.distance;
    O* const out = task.out + block.image * task.out_distance + block.y * task.out_pitch + block.x;
    const sample_rows<A, T, O> rows(task, image, block.x - task.lead_x, block.y - task.lead_y,
                                    most_columns<A>(block.columns) + kx - 1, block.rows + ky - 1);
    correlate_block(out, task.out_pitch, block.columns, block.rows, rows.from(0), mask, kx, ky);
}

template <class A, class T, class O>
WARPFOLD_LANES_TARGET void convolve_block_separable(const convolve_task<T, O>& task, const host_block& block,
                                                    const A* across, std::int64_t kx, const A* down, std::int64_t ky) {
    const T* const image = task.in + block.image * task.distance;
    O* const out = task.out + block.image * task.out_distance + block.y * task.out_pitch + block.x;
    const std::int64_t count = block.rows + ky - 1, columns = most_columns<A>(block.columns);
    const sample_rows<A, T, O> rows(task, image, block.x - task.lead_x, block.y - task.lead_y, columns + kx - 1, count);
    const std::unique_ptr<A[]> sums(new A[static_cast<std::size_t>(columns * count)]);
    std::vector<const A*> row(static_cast<std::size_t>(count));
    for (std::int64_t r = 0; r < count; ++r) {
        row[static_cast<std::size_t>(r)] = sums.get() + r * columns;
    }
    correlate_block(sums.get(), columns, columns, count, rows.from(0), across, kx, 1);
    correlate_block(out, task.out_pitch, block.columns, block.rows, row.data(), down, 1, ky);
}

} // namespace warpfold::detail::WARPFOLD_LANES_NAME

#undef WARPFOLD_LANES_NAME
#undef WARPFOLD_LANES_BYTES
#undef WARPFOLD_LANES_TARGET
#endif
