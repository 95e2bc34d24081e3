// toml++ for programs that must run where it is not installed; our sources are compiled against the
// library, not the headers alone.

#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
