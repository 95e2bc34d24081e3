#include "calibrate/measure/discover/pci_address.h"

#include "calibrate/import/log_text.h"

#include <fmt/core.h>

namespace trainyard {

std::string pci_address(std::string_view text)
{
    const std::string lower = lower_case(trimmed(text));
    std::vector<unsigned> parts; // from the last: function, device, bus, domain
    std::size_t end = lower.size();
    while (parts.size() < 4 && end > 0) {
        const std::size_t at = lower.find_last_of(":.", end - 1);
        const std::size_t start = at == std::string::npos ? 0 : at + 1;
        unsigned value = 0;
        const auto read = std::from_chars(lower.data() + start, lower.data() + end, value, 16);
        const bool whole = read.ec == std::errc{} && read.ptr == lower.data() + end;
        const bool parted = start == 0 || lower[at] == (parts.empty() ? '.' : ':');
        if (!whole || !parted)
            return {};
        parts.push_back(value);
        end = start == 0 ? 0 : at;
        if (start != 0 && at == 0)
            return {};
    }
    if (end != 0 || parts.size() < 3 || parts[0] > 7 || parts[1] > 31 || parts[2] > 255)
        return {};
    const unsigned domain = parts.size() > 3 ? parts[3] : 0;
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", domain, parts[2], parts[1], parts[0]);
}

} // namespace trainyard
