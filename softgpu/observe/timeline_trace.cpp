// SPDX-License-Identifier: MIT
#include "softgpu/observe/timeline_trace.hpp"

#include <map>
#include <string>
#include <vector>

#include "softgpu/observe/json_parts.hpp"
#include "softgpu/observe/whole_file.hpp"

namespace softgpu::observe {
namespace {

using json = nlohmann::ordered_json;

json name_event(const char* what, int process, int thread, const std::string& name) {
    return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

json place_event(const char* what, const char* key, int process, int thread, int place) {
    return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{key, place}}}};
}

class trace {
public:
    void add(const traced& t) {
        machines_[t.name] = t.what->machine;
        const int devices = t.what->devices();
        for (int device = 0; device < devices; ++device) {
            add(t, device, devices == 1 ? t.name : t.name + ", device " + std::to_string(device));
        }
    }

    [[nodiscard]] std::string text() const {
        std::string out = "{\"displayTimeUnit\":\"ns\",\n\"otherData\":" + text_of({{"machines", machines_}}) +
                          ",\n\"traceEvents\":[";
        const char* separator = "\n";
        for (const json& e : events_) {
            out += separator + text_of(e);
            separator = ",\n";
        }
        return out + "\n]}\n";
    }

private:
    void add(const traced& t, int device, const std::string& name) {
        const std::string how = t.what->modelled ? " (model)" : "";
        const int by_engine = ++processes_;
        const int by_stream = ++processes_;
        begin_process(by_engine, name + ": engines" + how);
        begin_process(by_stream, name + ": streams" + how);
        std::map<engine, int> of_engine;
        std::map<std::string, int> of_stream;
        for (const timeline_event& e : t.what->events) { // streams in the order in which they were first used
            if (e.device != device) {
                continue;
            }
            if (of_engine.emplace(e.on, static_cast<int>(e.on)).second) {
                begin_thread(by_engine, static_cast<int>(e.on), name_of(e.on));
            }
            const int next = static_cast<int>(of_stream.size()) + 1;
            if (of_stream.emplace(e.stream, next).second) {
                begin_thread(by_stream, next, e.stream);
            }
        }
        for (std::size_t k = 0; k < t.what->events.size(); ++k) {
            const timeline_event& e = t.what->events[k];
            if (e.device != device) {
                continue;
            }
            events_.push_back(event_of(k, e, by_engine, of_engine[e.on]));
            events_.push_back(event_of(k, e, by_stream, of_stream[e.stream]));
        }
    }

    void begin_process(int process, const std::string& name) {
        events_.push_back(name_event("process_name", process, 0, name));
        events_.push_back(place_event("process_sort_index", "sort_index", process, 0, process));
    }

    void begin_thread(int process, int thread, const std::string& name) {
        events_.push_back(name_event("thread_name", process, thread, name));
        events_.push_back(place_event("thread_sort_index", "sort_index", process, thread, thread));
    }

    static json event_of(std::size_t k, const timeline_event& e, int process, int thread) {
        json args{{"operation", k}, {"engine", name_of(e.on)}, {"stream", e.stream}, {"issued_us", e.issued * 1e6}};
        if (e.bytes != 0) {
            args["bytes"] = e.bytes;
            args["pageable"] = e.pageable;
        }
        args["after"] = e.after;
        return {{"name", e.name},      {"cat", name_of(e.on)},           {"ph", "X"},
                {"ts", e.start * 1e6}, {"dur", (e.end - e.start) * 1e6}, {"pid", process},
                {"tid", thread},       {"args", std::move(args)}};
    }

    int processes_ = 0;
    std::vector<json> events_;
    json machines_ = json::object();
};

} // namespace

std::string trace_of(std::span<const traced> timelines) {
    trace all;
    for (const traced& t : timelines) {
        all.add(t);
    }
    return all.text();
}

void write_trace(const std::string& path, std::span<const traced> timelines, bool finished) {
    whole_file file(path);
    std::string text = trace_of(timelines);
    if (!finished) {
        text.insert(1, "\"unfinished\":true,\n");
    }
    file.put(text);
    file.commit();
}

} // namespace softgpu::observe
