#pragma once

// Catch2 with the same names in version 2 (one header) and 3 (many).

#if TRAINYARD_CATCH2_MAJOR < 3

#include <catch2/catch.hpp>

inline auto ContainsSubstring(const std::string& part)
{
    return Catch::Matchers::Contains(part);
}

#else

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

#endif

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
