// The core of the simulator: everything that does not depend on a kernel's text, compiled once; and its C interface.
#include <new>

#include "launches.h"

#define STENCIL_SIM_PUBLIC extern "C" __attribute__((visibility("default"), used))

STENCIL_SIM_PUBLIC void* stencil_sim_create() { return new (std::nothrow) stencil::sim::Context; }
STENCIL_SIM_PUBLIC void stencil_sim_destroy(void* context) { delete static_cast<stencil::sim::Context*>(context); }

// One JSON object a line, empty when nothing was found; valid until the next call with this context.
STENCIL_SIM_PUBLIC const char* stencil_sim_errors(void* context) {
  return static_cast<stencil::sim::Context*>(context)->errors.c_str();
}

// Forgets errors, counters, trace and sector counts, not which cells hold values.
STENCIL_SIM_PUBLIC void stencil_sim_reset(void* context) {
  auto& c = *static_cast<stencil::sim::Context*>(context);
  c.errors.clear();
  c.seen.clear();
  c.counters = {};
  c.trace.clear();
  c.sectors.clear();
  c.cancelled = false;
  for (auto& region : c.regions) region.last_launch = 0;
}

// From any thread: the running launch ends after the block it is in. Holds until stencil_sim_reset.
STENCIL_SIM_PUBLIC void stencil_sim_cancel(void* context) {
  static_cast<stencil::sim::Context*>(context)->cancelled = true;
}

STENCIL_SIM_PUBLIC const stencil_sim_counters_t* stencil_sim_counters(void* context) {
  return &static_cast<stencil::sim::Context*>(context)->counters;
}

STENCIL_SIM_PUBLIC const stencil_sim_event* stencil_sim_trace(void* context, long long* count) {
  const auto& trace = static_cast<stencil::sim::Context*>(context)->trace;
  *count = static_cast<long long>(trace.size());
  return trace.data();
}

// One JSON object a line for every place in the text that touches global memory.
STENCIL_SIM_PUBLIC const char* stencil_sim_sectors(void* context) {
  auto& c = *static_cast<stencil::sim::Context*>(context);
  c.text.clear();
  for (const auto& entry : c.sectors) {
    const auto& s = entry.second;
    c.text += "{\"array\": " + stencil::sim::quoted(s.array) + ", \"line\": " + std::to_string(entry.first.line) +
              ", \"store\": " + (entry.first.store ? "true" : "false") + ", \"warp_accesses\": " +
              std::to_string(s.warp_accesses) + ", \"lanes\": " + std::to_string(s.lanes) + ", \"sectors32\": " +
              std::to_string(s.sectors32) + ", \"sectors128\": " + std::to_string(s.sectors128) + "}\n";
  }
  return c.text.c_str();
}
