# SPDX-License-Identifier: MIT
"""The library's targets, by card, and why some are missed. targets.py compares them with the tables."""
# (name, page, what, types, range of log2 n, figure, bound). A figure is a column of the pages. "at most" bounds times and their ratios
# to the peer's, "at least" bounds shares and rates.
H100 = [
    ("sum, 4-byte types, 2^13 to 2^20: CUB's time, two launches", "reduce", r"sum", ("i32", "f32"), (13, 20), "ratio", 0.6),
    ("sum, all types, to 2^20: CUB's time", "reduce", r"sum", None, (8, 20), "ratio", 1.0),
    ("sum, 2^22: CUB's time", "reduce", r"sum", ("i32", "f32"), (22, 22), "ratio", 0.75),
    ("sum, 2^24: CUB's time", "reduce", r"sum", ("i32", "f32"), (24, 24), "ratio", 0.9),
    ("sum, 2^26 elements and more, all types: of read", "reduce", r"sum", None, (26, 40), "share", 99),
    ("max, arg_max, min_max, 2^28: of read", "reduce", r"max|arg_max|min_max", None, (28, 28), "share", 97),
    ("scan, 4 and 8 bytes, 2^28: of copy", "scan", r"\w+_scan", ("i32", "f32", "f64"), (28, 28), "share", 95),
    ("scan, 1 and 2 bytes, 2^28: of copy", "scan", r"\w+_scan", ("u8", "i16"), (28, 28), "share", 80),
    ("scan, to 2^18: CUB's time", "scan", r"\w+_scan", None, (0, 18), "ratio", 0.6),
    ("scan, 2^22: CUB's time", "scan", r"\w+_scan", None, (22, 22), "ratio", 0.8),
    ("histogram, bytes, 256 bins, 2^28: of read", "histogram", r"256 bins (uniform|skewed|constant)", ("u8",), (28, 28), "share", 93),
    ("histogram, 256 bins, 2^28: of read", "histogram", r"256 bins (uniform|skewed|constant)", ("i32", "f32"), (28, 28), "share", 90),
    ("histogram, 2,048 bins, 2^28: of read", "histogram", r"2048 bins \w+", ("i32", "f32"), (28, 28), "share", 90),
    ("histogram, 16,384 bins, 2^28: of read", "histogram", r"16384 bins (uniform|skewed|constant)", ("i32", "f32"), (28, 28), "share", 70),
    ("histogram, 65,536 bins, 2^28: of read", "histogram", r"65536 bins \w+", ("i32", "f32"), (28, 28), "share", 45),
    ("histogram, 2^20 bins, uniform, 2^28: of read", "histogram", r"1048576 bins (uniform|constant)", ("i32", "f32"), (28, 28), "share", 20),
    ("histogram, 2^20 bins, skewed, 2^28: of read", "histogram", r"1048576 bins skewed", ("i32", "f32"), (28, 28), "share", 20),
    *[(f"segmented sum, {name}, 2^28: of read", "segmented-reduce", pattern, ("f32",), (28, 28), "share", 85)
      for name, pattern in [("segments of 1", "(equal )?segments of 1"), ("segments of 16", "(equal )?segments of 16"),
                            ("segments of 64", "(equal )?segments of 64"), ("segments of 256", "(equal )?segments of 256"),
                            ("segments of 1,024", "(equal )?segments of 1024"),
                            ("segments of 2^20", "(equal )?segments of 1048576"),
                            ("segments of 2^26", "(equal )?segments of 67108864"), ("power law", "power law"),
                            ("a million of 1 and a long one", "a million of 1.*")]],
    ("exact_sum of 1 GiB: of read", "exact-sum", r"exact_sum", None, (27, 28), "share", 90),
    ("exact_dot of 1 GiB: of read", "exact-sum", r"exact_dot", None, (26, 27), "share", 90),
    ("exact_sum, 2^20: our plain sum's time", "exact-sum", r"exact_sum/sum", None, (20, 20), "ratio", 1.5),
    ("convolve 1D, 2^26, k = 5 and 9: of copy", "convolve", r"1d (5|9)", ("f32",), (26, 26), "share", 93),
    ("convolve 1D, 2^26, k = 33: of copy", "convolve", r"1d 33", ("f32",), (26, 26), "share", 85),
    ("convolve 1D, 2^26, k = 129: TFLOP/s", "convolve", r"1d 129", ("f32",), (26, 26), "TFLOP/s", 30),
    ("convolve 2D, 8192 x 8192, k = 3: of copy", "convolve", r"2d 3", ("f32",), (26, 26), "share", 90),
    ("convolve 2D, k = 5: of copy", "convolve", r"2d 5", ("f32",), (26, 26), "share", 88),
    ("convolve 2D, k = 7: of copy", "convolve", r"2d 7", ("f32",), (26, 26), "share", 80),
    ("convolve 2D, k = 15: TFLOP/s", "convolve", r"2d 15", ("f32",), (26, 26), "TFLOP/s", 30),
    ("convolve 2D, k = 31: TFLOP/s", "convolve", r"2d 31", ("f32",), (26, 26), "TFLOP/s", 35),
    ("separable, 15 and 31: of two copies", "convolve", r"separable (15|31)", ("f32",), (26, 26), "two copies", 80),
]
HOST_OF_H100 = [
    ("host, 2^26 floats, sum, min-max, exact_sum: of read", r"(sum|min-max) f32|exact_sum, f32", "share", 90),
    ("host, scan: of copy", r"\w+clusive_scan f32", "share", 85),
    ("host, histogram: times the best peer's speed", r"histogram .*", "factor", 1.5),
    ("host, convolve: times the best peer's speed", r".*convolve .*", "factor", 1.5),
]
COMPILING = ("a file with one call: what it adds over what CUB's adds", 0.6)

# Why a target is missed. LOOKED_AT is the day of the measurements that the texts quote; shares of time and stalls are
# Nsight Compute's, of the same H100. {met} is the number of rows that meet it.
LOOKED_AT = "2026-11-21"
EXACT_LEVELS = ("Numbers are converted to double and their magnitudes compared before they are added, and levels of integers are added over "
                "lanes, warps and blocks and rounded by one thread (decision 15).")
FIRST_TILES = ("In a steady state blocks move what a copy does, but the first two tiles of each take four and twice that time, since all "
               "blocks read, fold and wait at the same time (decision 51).")
MIDDLE_SIZES = ("The others are of 64 MiB, more tiles than read each other's totals at once and fewer than pay for blocks that stay "
                "(decisions 35 and 72); and of 1 GiB run lengths, reductions by key in runs of 2 and 1 % of uint64 selected.")
LAUNCH = ("Beside the reading a launch takes 1.9 to 2.5 us in a graph: the node itself, the first trip to memory, the posts "
          "of all blocks, and the last block's collecting.")
CARDS = ("Cards of one name differ: on 2026-11-22 two others summed 2^28 floats at 97.5 and 98.8 % of what was read there, and "
         "did segments of 16 at 83 and 84 %.")
REASONS_OF_H100 = {
    "sum, 4-byte types, 2^13 to 2^20: CUB's time, two launches":
        f"{LAUNCH} That is most of every row here. CUB's second launch costs it 1.25 us (floats: 1.30 us for 2^12 in "
        "one launch, 2.55 for 2^13 in two), which is what there is to win. Clusters, fewer and more blocks were tried and are slower (decisions 11 and 12).",
    "sum, 2^22: CUB's time":
        f"{LAUNCH} 16 MiB take 5.3 us at the read ceiling: the target leaves 1.1 us beside it.",
    "sum, 2^24: CUB's time":
        f"{LAUNCH} 64 MiB take 21.1 us at the read ceiling: the target leaves 1.9 us beside it.",
    "sum, 2^26 elements and more, all types: of read":
        f"{LAUNCH} That is half a percent of 1 GiB, and 10 % of the 64 MiB that 2^26 bytes are. {CARDS}",
    "scan, to 2^18: CUB's time":
        "{met} rows do; the others are nearly all of doubles and int32 to int64, or of 2^15 to 2^16 elements: 2.5 to "
        "2.9 us, where a launch that adds up 256 elements takes 1.0; warps wait at their block's barriers most of the rest.",
    "scan, 2^22: CUB's time":
        "At the copy ceiling 16 MiB in and as many out take 11.1 us, and int32 takes 16.6, CUB 19.1. Of doubles and of int32 to "
        "int64 CUB is at 73 and 66 % of copy, which leaves less to win; 1- and 2-byte types are at 0.46 and 0.65.",
    "histogram, bytes, 256 bins, 2^28: of read":
        "{met} rows do, the others miss it by up to 1.3 percent: 256 MiB take 84 us at the read ceiling, and "
        "beginning and adding up the blocks' counters 7.",
    "segmented sum, segments of 16, 2^28: of read":
        "Those of equal length reach 88 %. By offsets tiles pass through shared memory: an instruction is issued in 49 % of the "
        "cycles, and a warp spends half of its time waiting for one before, at 81 % of the memory's rate.",
    "segmented sum, power law, 2^28: of read":
        "Most of its segments are shorter than a lane's run and go the way of those of 16, a few are long; nothing that was tried "
        "(more waves of blocks, fewer of them, asking the L2 cache beforehand) is faster.",
    "scan, 4 and 8 bytes, 2^28: of copy":
        "{met} rows do, the others reach 94.7 and 94.8 % (2026-11-27); on 2026-11-22 all four did, the least with 96.2.",
    "exact_sum, 2^20: our plain sum's time": f"On 2026-11-27 1.28 and 1.24. {EXACT_LEVELS}",
    "in order: CUB's time": "{met} rows do, the others take at most 1.03 of it (2026-11-27).",
    "scan, 4 bytes, 2^22 to 2^25: CUB's time": f"{{met}} rows do. {FIRST_TILES}",
    "segmented sum, segments of 0 to 7, 2^28: of read": "Half of the bytes are offsets and results, and tiles pass through shared memory.",
    "compactions: CUB's time": f"{{met}} rows do. {MIDDLE_SIZES}",
    "compactions, 2^28: of copy":
        "{met} rows do. Of 4 bytes 49 to 99 %, CUB 51 to 76 (2026-11-27): instructions and tiles that wait for each other bound the rest. "
        "The least are bytes, of which as many are 256 MiB only, at about twice CUB's speed.",
    "sums of rows and columns, 2^24 and more: of copy":
        "{met} rows do. Of the others all but one, columns whose rows end within a sector, have 2^24 elements, of which a launch takes about "
        "2 us.",
    "scans of rows and columns, 2^24 and more: of copy":
        "{met} rows do. Columns take one pass (decision 93). Of three and four columns all shares wait for each other: 67 to 82 %. Those of which "
        "rows end within a sector take 64 %: supposedly since two blocks write it.",
    "a call without a graph, to 10,000 elements: the host's time":
        "2.5 to 3.0 us, where a launch of an empty kernel takes the host 2.8 to 3.3 in the same run (2026-11-27).",
    "host, 2^26 floats, sum, min-max, exact_sum: of read":
        "Of five repetitions on two cores that are not alone in their machine: fifteen on the same day (2026-11-24) have medians of "
        "91 and 92 % for min-max.",
    "host, histogram: times the best peer's speed":
        "{met} rows do. Most of the others have as many different bins as their samples: each sample is a store to a "
        "counter, for a oneTBB loop with tables of its own too, and what is gained is a quicker way from a sample to its bin.",
}

H200 = [
    ("in order: CUB's time", "reduce", r"in order", None, (0, 40), "ratio", 1.0),
    ("in order, 2^28 and more: of read", "reduce", r"in order", None, (28, 40), "share", 95),
    ("scan, 4 bytes, 2^22 to 2^25: CUB's time", "scan", r"\w+_scan", ("i32", "f32"), (22, 25), "ratio", 0.85),
    ("exact_sum of 1 GiB: of read", "exact-sum", r"exact_sum", None, (27, 28), "share", 95),
    ("exact_sum, 2^20: our plain sum's time", "exact-sum", r"exact_sum/sum", None, (20, 20), "ratio", 1.2),
    ("histogram, 100,000 bins, 2^28: of read", "histogram", r"100000 bins .*", None, (28, 28), "share", 75),
    ("histogram, 2^20 bins, skewed, 2^28: of read", "histogram", r"1048576 bins skewed.*", None, (28, 28), "share", 25),
    ("histogram, 3,000,000 bins, uniform and Zipf, 2^28: of read", "histogram", r"3000000 bins .*", None, (28, 28), "share", 25),
    ("histogram, 2^24 bins, 2^28: of read", "histogram", r"16777216 bins .*", None, (28, 28), "share", 10),
    ("histogram of exact weights, 2,048 bins, 2^26: weighted_histogram's time", "histogram", r"2048 bins, exact weights.*", None, (26, 26),
     "ratio", 3),
    ("segmented sum, segments of 0 to 7, 2^28: of read", "segmented-reduce", r"segments of 0 to 7", None, (28, 28), "share", 80),
    ("segmented sum, power law, 2^28: of read", "segmented-reduce", r"power law", None, (28, 28), "share", 85),
    ("compactions: CUB's time", "compact", r"(select|partition|unique|run_length|reduce_by_key).*", None, (0, 40), "ratio", 1.0),
    ("compactions, 2^28: of copy", "compact", r"(select|partition|unique|run_length|reduce_by_key).*", None, (28, 40), "share", 90),
    ("sums of rows and columns, 2^24 and more: of copy", "along-axis", r"sum of (rows|columns).*", None, (23.99, 40), "share", 85),
    ("scans of rows and columns, 2^24 and more: of copy", "along-axis", r"inclusive_scan of (rows|columns).*", None, (23.99, 40), "share", 85),
    ("a call without a graph, to 10,000 elements: the host's time", "calls", r".*", None, (0, 13.3), "host", 2.5),
]
HOST_OF_H200 = [
    ("host, scan: of copy", r"\w+clusive_scan .*", "share", 85),
    ("host, sum, min-max, arg_max, exact and segmented sums: of read",
     r"(sum|min-max|arg_max) f32|exact_(sum|dot), f\d\d|segmented sum .*", "share", 90),
    ("host, histogram: times the best peer's speed", r"histogram .*", "factor", 1.3),
]
# Figures of the H200 are of the pages beside the targets' and of the decisions that the texts name.
REASONS_OF_H200 = {
    "in order: CUB's time":
        "{met} rows do. Of the others two have 1 GiB and are within half a percent; three have 2^20 elements and take 3.4 to 5.1 us, of which "
        "a launch is 1.9 to 2.5, and the blocks' values are joined in order after the last one.",
    "scan, 4 bytes, 2^22 to 2^25: CUB's time":
        "{met} rows do. Of the others two have 2^24 elements and 0.853 and 0.859, three 2^25. Blocks begin in turn since 2026-11-28, but in long "
        "arrays the first rounds of those that stay still leave memory idle for some 10 us (decision 97).",
    "exact_sum, 2^20: our plain sum's time":
        f"1.0 to 1.4 us more than a plain sum from 2^14 to 2^20. {EXACT_LEVELS}",
    "histogram, 100,000 bins, 2^28: of read":
        "Two blocks look at each sample, each for its own bins; counters of 16 bits in one block are slower for skewed samples (decision 98). "
        "On an H100, whose memory is slower, it is 79 %.",
    "histogram, 3,000,000 bins, uniform and Zipf, 2^28: of read":
        "Zipf reaches 25.3 %, uniform 24.9. Samples are sorted by partition and then counted (decision 70); on an H100, whose memory is slower, "
        "it is 31 %.",
    "segmented sum, segments of 0 to 7, 2^28: of read":
        "Lanes fold such segments; instructions, bank conflicts and memory bound them about as much (decision 100). Segments of 1 and 16 "
        "are at 86 and 82 %.",
    "segmented sum, power law, 2^28: of read":
        "Most of its segments are shorter than a lane's run and go the way of those of 16, a few are long; nothing that was tried "
        "(more waves of blocks, fewer of them, asking the L2 cache beforehand) is faster (decision 14).",
    "compactions: CUB's time":
        "{met} rows do, all of up to 2^20 among them. The others are of 64 MiB: 99 % selected, which fit into no shared memory, a "
        "partition, for which as much counts, and run lengths of runs of 2, which are 2 % behind at 2^28, too (decisions 35, 72, 97 and 99).",
    "compactions, 2^28: of copy":
        "{met} rows do: those that select few, which are kept in shared memory (decision 99), and run lengths and sums of runs of 10,000, "
        "whose keys are read once (decision 102). Other selections of 4 and 8 bytes have 74 to 90 %, run lengths and sums of shorter runs "
        "52 to 67: they read keys twice, and tiles wait for each other. The least are bytes, of which "
        "as many are 256 MiB only, at about twice CUB's speed.",
    "sums of rows and columns, 2^24 and more: of copy":
        "{met} rows do, all of 2^27 elements and more. Of the others, of 2^24, a launch costs 2 of 16 us.",
    "scans of rows and columns, 2^24 and more: of copy":
        "{met} rows do. Columns take one pass (decision 93): 80 to 94 % of 2^28, 69 to 84 % of 2^24, where a launch is 2 of 40 us. Three and "
        "four columns take 55 to 71 %, since all shares wait for each other, those of which rows end within a sector 61 to 64 %, and rows "
        "58 to 97 %.",
    "a call without a graph, to 10,000 elements: the host's time":
        "A launch of an empty kernel takes the host 3.3 to 3.5 us there, in the same run; the calls take 3.2 to 3.5.",
    "host, sum, min-max, arg_max, exact and segmented sums: of read":
        "{met} rows do. Segments of 1 and 16 elements have offsets and results, which are written: 18 and 21 GB/s where a copy makes 26. "
        "exact_sum and exact_dot of floats take 22 to 25 GB/s of a thread in the cache, which memory hides only in part (decision 95).",
    "host, histogram: times the best peer's speed":
        "{met} rows do; of 2^20 bins of float each sample is a store to a counter, for the peer too (decision 59).",
    "Python, 10^6 elements and more: the time of the arrays' package":
        "{met} rows do; python-h200.md has the reason of each of the others.",
}
# Targets whose rows the tables may not have yet; any other one without rows is a mistake.
AWAITED = {"histogram, 100,000 bins, 2^28: of read", "histogram, 3,000,000 bins, uniform and Zipf, 2^28: of read",
           "segmented sum, segments of 0 to 7, 2^28: of read", "a call without a graph, to 10,000 elements: the host's time"}
# (card): its targets, those of the host, and reasons with the day of the measurements that they quote. The later ones count for both.
OF_CARD = {"h100": (list({t[0]: t for t in H100 + H200}.values()), HOST_OF_H100, REASONS_OF_H100, LOOKED_AT), "h200": (H200, HOST_OF_H200, REASONS_OF_H200, "2026-11-29")}
PYTHON = ("Python, 10^6 elements and more: the time of the arrays' package", 1.0)
