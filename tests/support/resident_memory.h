#pragma once

// Memory that the process holds, as the kernel counts it.

#include <malloc.h>

#include <cstddef>
#include <fstream>
#include <string>

#ifdef __SANITIZE_ADDRESS__
extern "C" std::size_t __sanitizer_get_current_allocated_bytes(void); // GCC ships no header of it
#endif

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
        before_ = most();
    }
    double megabytes() const { return (most() - before_) * 1e-6; }

private:
    static double most()
    {
#ifdef __SANITIZE_ADDRESS__
        // The sanitizer holds back hundreds of megabytes that were freed: what is in use now
        // counts.
        return static_cast<double>(__sanitizer_get_current_allocated_bytes());
#else
        return resident_bytes("VmHWM");
#endif
    }

    double before_ = 0;
};

} // namespace trainyard::test
