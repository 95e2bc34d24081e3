#include "sim/traces/event_draft.h"

#include "sim/base/field_names.h"
#include "sim/base/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace trainyard {
namespace {

constexpr std::int64_t latest = 2'500'000'000'000'000'000; // nanoseconds: in 2049

// Of "stream 7" the 7; any other text its hash.
std::int64_t number_of(std::string_view text)
{
    const std::size_t digits = text.find_last_not_of("0123456789") + 1;
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + digits, text.data() + text.size(), value);
    if (digits < text.size() && error == std::errc{})
        return value;
    return static_cast<std::int64_t>(std::hash<std::string_view>{}(text) >> 1);
}

std::uint64_t count_of(std::int64_t value)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

int small(std::int64_t value)
{
    return static_cast<int>(std::clamp<std::int64_t>(value, -1, std::numeric_limits<int>::max()));
}

template <class Number>
Number within(std::int64_t value)
{
    return static_cast<Number>(
        std::clamp<std::int64_t>(value, 0, std::numeric_limits<Number>::max()));
}

bool is_time(KinetoField field)
{
    return field == KinetoField::ts || field == KinetoField::dur ||
           field == KinetoField::moving_from;
}

std::optional<TraceTime> nanoseconds(double microseconds)
{
    const double value = microseconds * 1e3;
    if (!(std::abs(value) <= static_cast<double>(latest)))
        return std::nullopt;
    return TraceTime(std::llround(value));
}

} // namespace

std::optional<TraceTime> nanoseconds(std::string_view microseconds)
{
    const std::size_t point = std::min(microseconds.find('.'), microseconds.size());
    const auto whole = to_number<std::int64_t>(microseconds.substr(0, point));
    if (!whole || std::abs(*whole) > latest / 1000)
        return std::nullopt;
    std::int64_t fraction = 0;
    std::int64_t scale = 1000;
    for (std::size_t i = point + 1; i < microseconds.size() && scale > 1; ++i) {
        if (microseconds[i] < '0' || microseconds[i] > '9')
            return std::nullopt;
        fraction = fraction * 10 + (microseconds[i] - '0');
        scale /= 10;
    }
    fraction *= scale;
    return TraceTime(*whole * 1000 + (microseconds.front() == '-' ? -fraction : fraction));
}

void EventDraft::clear()
{
    complete_ = false;
    good_times_ = true;
    readable_times_ = true;
    backwards_ = false;
    category_ = KinetoCategory::not_kept;
    process_ = 0;
    thread_ = 0;
    start_ = length_ = moving_from_ = TraceTime();
    stream_.reset();
    device_.reset();
    correlation_ = external_ = bytes_ = in_elements_ = out_elements_ = 0;
    group_size_ = 0;
    peer_ = -1;
    phase_.reset();
    for (std::string* text :
         {&name_, &shapes_, &types_, &collective_, &dtype_, &group_, &purpose_, &ranks_})
        text->clear();
}

void EventDraft::text(KinetoField field, std::string_view value)
{
    switch (field) {
    case KinetoField::phase_of_event:
        complete_ = value == "X";
        break;
    case KinetoField::category:
        category_ = kineto_category(value);
        break;
    case KinetoField::name:
        name_ = value;
        break;
    case KinetoField::collective:
        collective_ = value;
        break;
    case KinetoField::dtype:
        dtype_ = value;
        break;
    case KinetoField::message_group:
        group_ = value;
        break;
    case KinetoField::message_purpose:
        purpose_ = value;
        break;
    case KinetoField::message_ranks:
        ranks_ = value;
        break;
    case KinetoField::phase:
        phase_ = from_name<Phase>(value);
        break;
    case KinetoField::pid:
    case KinetoField::tid:
    case KinetoField::stream:
        integer(field, number_of(value));
        break;
    default:
        number_as_text(field, value);
        break;
    }
}

// Some tools write numbers as text.
void EventDraft::number_as_text(KinetoField field, std::string_view value)
{
    if (const auto parsed = to_number<double>(value))
        number(field, *parsed, value);
    else if (is_time(field))
        readable_times_ = false;
}

void EventDraft::time(KinetoField field, TraceTime value)
{
    if (field == KinetoField::ts)
        start_ = value;
    else if (field == KinetoField::dur) {
        backwards_ = value < TraceTime(); // of clocks that were mended
        length_ = std::max(value, TraceTime());
    } else
        moving_from_ = value;
}

void EventDraft::number(KinetoField field, double value, std::string_view written)
{
    if (is_time(field)) {
        std::optional<TraceTime> exact = nanoseconds(written);
        if (!exact)
            exact = nanoseconds(value);
        good_times_ = good_times_ && exact.has_value();
        time(field, exact.value_or(TraceTime()));
    } else if (std::abs(value) < 9e18) {
        integer(field, static_cast<std::int64_t>(value));
    }
}

void EventDraft::integer(KinetoField field, std::int64_t value)
{
    switch (field) {
    case KinetoField::ts:
    case KinetoField::dur:
    case KinetoField::moving_from:
        good_times_ = good_times_ &&
                      std::abs(static_cast<double>(value)) <= static_cast<double>(latest) / 1000;
        time(field, good_times_ ? TraceTime(value * 1000) : TraceTime());
        break;
    case KinetoField::pid:
        process_ = value;
        break;
    case KinetoField::tid:
        thread_ = static_cast<std::uint64_t>(value);
        break;
    case KinetoField::stream:
        stream_ = value;
        break;
    case KinetoField::device:
        device_ = value;
        break;
    case KinetoField::correlation:
        correlation_ = count_of(value);
        break;
    case KinetoField::external:
        external_ = count_of(value);
        break;
    case KinetoField::bytes:
        bytes_ = count_of(value);
        break;
    case KinetoField::in_elements:
        in_elements_ = count_of(value);
        break;
    case KinetoField::out_elements:
        out_elements_ = count_of(value);
        break;
    case KinetoField::message_size:
        group_size_ = small(value);
        break;
    case KinetoField::to_rank:
    case KinetoField::from_rank:
        peer_ = small(value);
        break;
    default:
        break;
    }
}

bool EventDraft::take_id(KinetoField field, std::uint64_t value)
{
    if (field != KinetoField::correlation && field != KinetoField::external)
        return false;
    (field == KinetoField::correlation ? correlation_ : external_) = value;
    return true;
}

bool EventDraft::on_device() const
{
    return complete_ && (category_ == KinetoCategory::kernel || category_ == KinetoCategory::copy ||
                         category_ == KinetoCategory::set);
}

std::uint32_t EventDraft::keep_message(RankTrace& rank) const
{
    if (collective_.empty())
        return 0;
    const auto intern = [&](const std::string& text) { return rank.names.intern(text); };
    rank.messages.push_back({intern(collective_), intern(dtype_), intern(group_), intern(purpose_),
                             intern(ranks_), in_elements_, out_elements_, group_size_, peer_,
                             moving_from_});
    return static_cast<std::uint32_t>(rank.messages.size());
}

void EventDraft::keep_device_event(RankTrace& rank) const
{
    DeviceEvent event;
    event.span = {start_, start_ + length_};
    event.name = rank.names.intern(name_);
    event.correlation = correlation_;
    // Before 2.1 kernels were given their correlation where the id of the op should be.
    event.external = external_ == correlation_ ? 0 : external_;
    event.bytes = bytes_;
    event.stream = within<std::uint32_t>(stream_.value_or(static_cast<std::int64_t>(thread_)));
    event.device = within<std::uint16_t>(device_.value_or(process_));
    event.message = keep_message(rank);
    event.phase = phase_;
    if (category_ != KinetoCategory::kernel)
        event.activity =
            category_ == KinetoCategory::copy ? DeviceActivity::copy : DeviceActivity::set;
    rank.backwards += backwards_ ? 1 : 0;
    rank.device_events.push_back(event);
}

void EventDraft::keep_host_event(RankTrace& rank) const
{
    HostEvent event;
    event.span = {start_, start_ + length_};
    event.name = rank.names.intern(name_);
    if (!shapes_.empty())
        event.shapes = rank.names.intern(shapes_);
    if (!types_.empty())
        event.types = rank.names.intern(types_);
    event.thread = thread_;
    event.correlation = correlation_;
    event.external = external_;
    event.message = keep_message(rank);
    if (category_ == KinetoCategory::call)
        event.activity = HostActivity::call;
    else if (category_ == KinetoCategory::annotation)
        event.activity = HostActivity::annotation;
    rank.host_events.push_back(event);
}

bool EventDraft::kept() const
{
    return complete_ && category_ != KinetoCategory::unknown &&
           category_ != KinetoCategory::not_kept;
}

void EventDraft::keep(RankTrace& rank) const
{
    if (!kept())
        return;
    if (on_device())
        keep_device_event(rank);
    else
        keep_host_event(rank);
}

} // namespace trainyard
