// SPDX-License-Identifier: MIT
#include "ladder/streams/timeline_claims.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace warpfold::ladder::streams {

namespace {

constexpr std::uint64_t enough = 1u << 15; // elements; with fewer, calls take longer than work
constexpr double jitter = 20e-6;           // of times by device events around single operations

double slack(const timeline& t) { return t.modelled ? 1e-9 : jitter; }

// Of the step's time. On a GPU of the timing with the smaller median: the L2 cache is of no matter here, and the host's
// memory is now and then slow.
timing time_of(const step_result& step) {
    if (!step.cold || !step.warm) {
        const double seconds = step.timeline->seconds();
        return {seconds, seconds, seconds, 1};
    }
    return step.cold->median < step.warm->median ? *step.cold : *step.warm;
}

engine::check compared(const std::string& other,
                       std::function<verdict(const timing&, const timing&, std::string)> inner) {
    return on_timeline([other, inner = std::move(inner)](const engine::evidence& e, const timeline&) {
        const step_result* const before = e.other(other);
        if (before == nullptr || !before->timeline || before->n != e.n()) {
            return unseen("needs step " + other);
        }
        const timing mine = time_of(e.step);
        const timing theirs = time_of(*before);
        return inner(mine, theirs,
                     microseconds(mine.median) + ", " + microseconds(theirs.median) + " in step " + other + ": " +
                         number(theirs.median / mine.median, 2) + "x as fast");
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
    const engine::check in_order = on_timeline([](const engine::evidence& /*e*/, const timeline& t) {
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
    return in_order.refuted_by(
        retimed("an operation that begins with the one before it", [](std::vector<timeline_event>& events) {
            const timeline_event& first = events.at(0);
            const auto next = std::find_if(std::next(events.begin()), events.end(),
                                           [&](const timeline_event& e) { return e.stream == first.stream; });
            if (next != events.end()) {
                next->start = first.start;
            }
        }));
}

engine::check engines_overlap(device_engine a, device_engine b) {
    return on_timeline([a, b](const engine::evidence& /*e*/, const timeline& t) {
               const double both = overlap(t, a, b);
               return seen(both > t.seconds() / 50, std::string(name_of(a)) + " and " + name_of(b) +
                                                        " at the same time for " + microseconds(both) + " of " +
                                                        microseconds(t.seconds()));
           })
        .refuted_by(engine::step_in_place("one"));
}

engine::check engines_never_overlap() {
    return on_timeline([](const engine::evidence& /*e*/, const timeline& t) {
               const double both = overlap(t, device_engine::compute, device_engine::to_device) +
                                   overlap(t, device_engine::compute, device_engine::to_host) +
                                   overlap(t, device_engine::to_device, device_engine::to_host);
               return seen(both <= 3 * slack(t), "two engines at the same time for " + microseconds(both) + " of " +
                                                     microseconds(t.seconds()));
           })
        .refuted_by(engine::step_in_place("two"));
}

engine::check shorter_than(const std::string& other) {
    return compared(other, engine::shorter).refuted_by(engine::step_in_place(other));
}

engine::check longer_than(const std::string& other) {
    return compared(other, [](const timing& mine, const timing& theirs,
                              std::string figure) { return engine::shorter(theirs, mine, std::move(figure)); })
        .refuted_by(engine::step_in_place(other));
}

engine::check as_long_as(const std::string& other) {
    return compared(other,
                    [](const timing& mine, const timing& theirs, std::string figure) {
                        const double ratio = mine.median / theirs.median;
                        return seen(ratio > 0.9 && ratio < 1.1, std::move(figure));
                    })
        .refuted_by(engine::step_in_place("one"));
}

engine::counterexample retimed(std::string what, std::function<void(std::vector<timeline_event>&)> change) {
    return engine::planted(std::move(what), [change = std::move(change)](engine::altered_evidence& e) {
        change(e.step.timeline.value().events);
    });
}

} // namespace warpfold::ladder::streams
