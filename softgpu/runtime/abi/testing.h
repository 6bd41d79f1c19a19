// SPDX-License-Identifier: MIT
// What the software GPU's libcudart exports for tests, beside CUDA's own calls: plain C, looked up by name with dlsym, so
// that a program that uses it also runs with NVIDIA's library. include/warpfold/testing/counters.hpp is how to use it.
// Functions and fields of a version stay as they are in later ones. Texts are never null where not said otherwise.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SOFTGPU_TESTING_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

struct softgpu_recording; // what happens on the device between its begin and its end

struct softgpu_recording_options {
    size_t bytes; // of this structure
    // Checks to make meanwhile, as SOFTGPU_CHECK names them; "" for none; null: those that are made already. Where it is
    // not null, what they find belongs to the recording, and nobody else reports it.
    const char* checks;
    int32_t schedule; // 0: as it is, 1: fair, 2: adversarial
    uint64_t seed;    // of the adversarial schedule
};

struct softgpu_recorded_launch {
    size_t bytes;       // of this structure, set by the caller
    const char* kernel; // demangled
    const char* symbol; // as in the PTX
    const char* fault;  // "": it ran to its end
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
    const char* kernel;  // "": the host's own doing
    const char* file;    // of the first access; "": not known
    const char* text;    // the paragraph that a report has
    uint64_t line;
    uint64_t times;
    int32_t is_note; // worth knowing, and no mistake
};

typedef uint32_t softgpu_testing_version_function(void);
// Not 0: the program has registered kernels with this library, so this is the runtime that it uses.
typedef int32_t softgpu_testing_in_use_function(void);
// The thread's last error as "NAME (TEXT)", "" where there is none; it stays. Until the thread's next call.
typedef const char* softgpu_testing_last_error_function(void);
// The counters' names and meanings by number, from 0 on; null behind the last.
typedef const char* softgpu_counter_name_function(uint32_t number);
typedef const char* softgpu_counter_meaning_function(uint32_t number);

// Waits for all work of the device, then every launch that is issued is recorded. Recordings may overlap; what a later one
// asks for counts. null, or one line that says what is wrong, until the thread's next call.
typedef const char* softgpu_recording_begin_function(const struct softgpu_recording_options* options,
                                                     struct softgpu_recording** recording);
// Waits for all work; checks and schedule are again what they were without this recording. Likewise.
typedef const char* softgpu_recording_end_function(struct softgpu_recording* recording);
// After the end. Texts live as long as the recording does.
typedef size_t softgpu_recording_launches_function(const struct softgpu_recording* recording);
typedef void softgpu_recording_launch_function(const struct softgpu_recording* recording, size_t number,
                                               struct softgpu_recorded_launch* out);
// The launch's counters, by number; of one barrier interval where interval is less than `intervals`, else of all.
typedef void softgpu_recording_counters_function(const struct softgpu_recording* recording, size_t number, size_t interval,
                                                 uint64_t* values, size_t count);
typedef size_t softgpu_recording_findings_function(const struct softgpu_recording* recording);
typedef void softgpu_recording_finding_function(const struct softgpu_recording* recording, size_t number,
                                                struct softgpu_recorded_finding* out);
// Ends it first where that was not done.
typedef void softgpu_recording_free_function(struct softgpu_recording* recording);

#ifdef __cplusplus
}
#endif
