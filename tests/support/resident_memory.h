#pragma once

// Memory that the process holds, as the kernel counts it.

#include <malloc.h>

#include <fstream>
#include <string>

namespace trainyard::test {

// In bytes, of a line of /proc/self/status: "VmRSS" is what is resident now, "VmHWM" the most so
// far.
inline double resident_bytes(const char* line_name)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(line_name))
            return 1024.0 * std::stod(line.substr(line.find(':') + 1));
    return 0;
}

// By how much resident memory rises at most beyond what it is when this is made.
class MemoryRise {
public:
    MemoryRise()
    {
        malloc_trim(0);                              // what others have freed
        std::ofstream("/proc/self/clear_refs") << 5; // the most so far is what is resident now
        before_ = resident_bytes("VmHWM");
    }
    double megabytes() const { return (resident_bytes("VmHWM") - before_) * 1e-6; }

private:
    double before_ = 0;
};

} // namespace trainyard::test
