// SPDX-License-Identifier: MIT
#include "ladder/streams/timeline_claims.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace warpfold::ladder::streams {

namespace {

constexpr std::uint64_t enough = 1u << 15; // elements; with fewer, calls take longer than work
constexpr double jitter = 20e-6;           // of times by device events around single operations

double slack(const timeline& t) { return t.modelled ? 1e-9 : jitter; }

// On a GPU the smaller of the two medians: the L2 cache is of no matter here, and the host's memory is now and then slow.
double seconds_of(const step_result& step) {
    return step.cold && step.warm ? std::min(step.cold->median, step.warm->median) : step.timeline->seconds();
}

engine::check compared(std::string other, std::function<bool(double)> holds) {
    return on_timeline(
        [other = std::move(other), holds = std::move(holds)](const engine::evidence& e, const timeline&) {
            const step_result* const before = e.other(other);
            if (before == nullptr || !before->timeline || before->n != e.n()) {
                return unseen("needs step " + other);
            }
            const double mine = seconds_of(e.step);
            const double theirs = seconds_of(*before);
            return seen(holds(mine / theirs), microseconds(mine) + ", " + microseconds(theirs) + " in step " + other +
                                                  ": " + number(theirs / mine, 2) + "x as fast");
        });
}

} // namespace

engine::check on_timeline(timeline_check inner) {
    return [inner = std::move(inner)](const engine::evidence& e) {
        if (!e.step.timeline || e.n() < enough) {
            return unseen("needs a timeline of " + std::to_string(enough) + " elements or more");
        }
        return inner(e, *e.step.timeline);
    };
}

std::string microseconds(double seconds) { return number(seconds * 1e6, 1) + " µs"; }

double overlap(const timeline_event& a, const timeline_event& b) {
    return std::max(0.0, std::min(a.end, b.end) - std::max(a.start, b.start));
}

double overlap(const timeline& t, device_engine a, device_engine b) {
    double both = 0; // an engine does one thing at a time
    for (const timeline_event& one : t.events) {
        for (const timeline_event& other : t.events) {
            both += one.on == a && other.on == b ? overlap(one, other) : 0;
        }
    }
    return both;
}

engine::check streams_are_in_order() {
    return on_timeline([](const engine::evidence& /*e*/, const timeline& t) {
        std::map<std::string, double> over; // when the stream's last operation was
        std::size_t early = 0;
        for (const timeline_event& e : t.events) {
            double& before = over[e.stream];
            early += e.start + slack(t) < before ? 1 : 0;
            before = e.end;
        }
        return seen(early == 0, std::to_string(t.events.size()) + " operations in " + std::to_string(over.size()) +
                                    (over.size() == 1 ? " stream, " : " streams, ") + std::to_string(early) +
                                    " began before the one before them was over");
    });
}

engine::check engines_overlap(device_engine a, device_engine b) {
    return on_timeline([a, b](const engine::evidence& /*e*/, const timeline& t) {
        const double both = overlap(t, a, b);
        return seen(both > t.seconds() / 50, std::string(name_of(a)) + " and " + name_of(b) + " at the same time for " +
                                                 microseconds(both) + " of " + microseconds(t.seconds()));
    });
}

engine::check engines_never_overlap() {
    return on_timeline([](const engine::evidence& /*e*/, const timeline& t) {
        const double both = overlap(t, device_engine::compute, device_engine::to_device) +
                            overlap(t, device_engine::compute, device_engine::to_host) +
                            overlap(t, device_engine::to_device, device_engine::to_host);
        return seen(both <= 3 * slack(t),
                    "two engines at the same time for " + microseconds(both) + " of " + microseconds(t.seconds()));
    });
}

engine::check shorter_than(std::string other) {
    return compared(std::move(other), [](double ratio) { return ratio < 0.9; });
}

engine::check as_long_as(std::string other) {
    return compared(std::move(other), [](double ratio) { return ratio > 0.9 && ratio < 1.1; });
}

} // namespace warpfold::ladder::streams
