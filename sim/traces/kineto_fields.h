#pragma once

// The members of Kineto's JSON that are read, and the categories of its events.

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard {

enum class KinetoField : std::uint8_t {
    other,
    // of the file
    trace_events,
    base_time,
    distributed,
    devices,
    simulated_by,
    world_size,
    backend,
    groups,
    group_name,
    group_purpose,
    group_size,
    group_ranks,
    // of an event
    phase_of_event,
    category,
    name,
    pid,
    tid,
    ts,
    dur,
    args,
    // of its arguments, from `external` on
    external,
    correlation,
    device,
    stream,
    bytes,
    shapes,
    types,
    collective,
    in_elements,
    out_elements,
    message_size,
    dtype,
    message_group,
    message_purpose,
    message_ranks,
    to_rank,
    from_rank,
    moving_from,
    phase,
    rank
};

KinetoField kineto_field(std::string_view key);

constexpr bool is_argument(KinetoField field)
{
    return field >= KinetoField::external;
}

// What is kept of events of a category.
enum class KinetoCategory : std::uint8_t {
    unknown, // of another tool
    not_kept,
    kernel,
    copy,
    set,
    op,
    call,
    annotation
};

KinetoCategory kineto_category(std::string_view name);

} // namespace trainyard
