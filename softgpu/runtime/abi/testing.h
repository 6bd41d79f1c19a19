// SPDX-License-Identifier: MIT
// The functions that the software GPU's libcudart exports for tests, beside CUDA's own calls. They are plain C and are looked
// up by name with dlsym, so that the same program runs with NVIDIA's library. include/warpfold/testing/counters.hpp uses them.
// Later versions keep all functions and fields. Texts are not null unless a comment says so.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SOFTGPU_TESTING_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif

struct softgpu_recording; // the launches and findings between its begin and its end

struct softgpu_recording_options {
    size_t bytes; // of this structure
    // Checks during the recording, as SOFTGPU_CHECK names them; "" for none; null: unchanged. If it is not null, findings go
    // to the recording and are not reported elsewhere.
    const char* checks;
    int32_t schedule; // 0: unchanged, 1: fair, 2: adversarial
    uint64_t seed;    // of the adversarial schedule
};

struct softgpu_recorded_launch {
    size_t bytes;       // of this structure, set by the caller
    const char* kernel; // demangled
    const char* symbol; // as in the PTX
    const char* fault;  // "": none
    uint32_t grid[3];
    uint32_t block[3];
    uint64_t dynamic_shared_bytes;
    uint64_t static_shared_bytes;
    double seconds; // on the host
    size_t intervals;
};

struct softgpu_recorded_finding {
    size_t bytes;        // of this structure, set by the caller
    const char* check;   // "race"
    const char* kind;    // "race in shared memory"
    const char* message; // one sentence
    const char* kernel;  // "": a finding about a call of the host
    const char* file;    // of the first access; "": unknown
    const char* text;    // the paragraph in a report
    uint64_t line;
    uint64_t times;
    int32_t is_note; // worth knowing, but no error
};

// What the model of a card says of a launch (docs/model.md). Since version 2.
struct softgpu_recorded_prediction {
    size_t bytes;           // of this structure, set by the caller
    const char* card;       // "h100"
    const char* bound;      // "dram"
    const char* next_bound; // "": none
    double nanoseconds;
    double cold_nanoseconds;
    double share_of_roof;
    double l1_load_hit_rate;
    double l2_read_hit_rate;
    uint64_t dram_read_bytes;
    uint64_t dram_write_bytes;
    uint64_t cold_dram_read_bytes;
    uint64_t cold_dram_write_bytes;
};

typedef uint32_t softgpu_testing_version_function(void);
// Nonzero: the program has registered kernels with this library, so it uses this runtime.
typedef int32_t softgpu_testing_in_use_function(void);
// The thread's last error as "NAME (TEXT)", "" for none. Does not reset it. Valid until the thread's next call.
typedef const char* softgpu_testing_last_error_function(void);
// The counters' names and meanings by number, from 0 on; null after the last.
typedef const char* softgpu_counter_name_function(uint32_t number);
typedef const char* softgpu_counter_meaning_function(uint32_t number);

// Waits for all work of the device, and records every launch from then on. Recordings may overlap; the options of the latest
// one apply. Returns null or a line about the error, valid until the thread's next call.
typedef const char* softgpu_recording_begin_function(const struct softgpu_recording_options* options,
                                                     struct softgpu_recording** recording);
// Waits for all work and restores checks and schedule. Returns the same.
typedef const char* softgpu_recording_end_function(struct softgpu_recording* recording);
// To be called after the end. Texts are valid for as long as the recording exists.
typedef size_t softgpu_recording_launches_function(const struct softgpu_recording* recording);
typedef void softgpu_recording_launch_function(const struct softgpu_recording* recording, size_t number,
                                               struct softgpu_recorded_launch* out);
// The launch's counters by number: of one barrier interval if interval is less than `intervals`, else of the whole launch.
typedef void softgpu_recording_counters_function(const struct softgpu_recording* recording, size_t number,
                                                 size_t interval, uint64_t* values, size_t count);
// Nonzero: the launch has a prediction of this number, from 0 on; it is in `out`. Since version 2.
typedef int32_t softgpu_recording_prediction_function(const struct softgpu_recording* recording, size_t launch,
                                                      size_t number, struct softgpu_recorded_prediction* out);
typedef size_t softgpu_recording_findings_function(const struct softgpu_recording* recording);
typedef void softgpu_recording_finding_function(const struct softgpu_recording* recording, size_t number,
                                                struct softgpu_recorded_finding* out);
// For a test runner with checks on in the whole process (SOFTGPU_CHECK): waits for all work of the device and gives the
// findings since the last call as an ended recording without launches. They stay in the file of SOFTGPU_CHECK_JSON and are
// not printed, unless a kernel's fault has printed them already. A process without a CUDA call, or without checks, has none.
// Returns the same as begin.
typedef const char* softgpu_take_findings_function(struct softgpu_recording** taken);
// Nonzero: a kernel has failed, so that all calls return its error until the device is reset.
typedef int32_t softgpu_testing_device_failed_function(void);
// Ends the recording first if that was not done.
typedef void softgpu_recording_free_function(struct softgpu_recording* recording);

#ifdef __cplusplus
}
#endif
