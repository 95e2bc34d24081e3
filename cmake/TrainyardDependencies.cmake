# Libraries that the core needs. All are distribution packages; CMAKE_PREFIX_PATH serves other places.

find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 REQUIRED) # headers: Boost.Graph
find_package(ZLIB REQUIRED)

# Not every package of tl::expected comes with its CMake files; the header is all of it.
find_package(tl-expected QUIET)
if(NOT TARGET tl::expected)
    find_path(TRAINYARD_TL_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
    add_library(tl::expected INTERFACE IMPORTED GLOBAL)
    target_include_directories(tl::expected SYSTEM INTERFACE ${TRAINYARD_TL_EXPECTED_INCLUDE})
endif()

# The test suite: Catch2 is 2.13 on Debian 12 and 3.x elsewhere.
set(TRAINYARD_TESTS AUTO CACHE STRING "Build the test suite: ON, OFF, or AUTO (if Catch2 is found)")
set_property(CACHE TRAINYARD_TESTS PROPERTY STRINGS AUTO ON OFF)
set(TRAINYARD_TESTS_FOUND OFF)
if(TRAINYARD_TESTS)
    find_package(Catch2 3 QUIET)
    if(NOT Catch2_FOUND)
        find_package(Catch2 2.13 QUIET)
    endif()
    set(TRAINYARD_TESTS_FOUND ${Catch2_FOUND})
    if(Catch2_FOUND)
        message(STATUS "Test suite: with Catch2 ${Catch2_VERSION}")
    elseif(TRAINYARD_TESTS STREQUAL "AUTO")
        message(STATUS "Test suite: skipped, Catch2 not found (package catch2)")
    else()
        message(FATAL_ERROR "The test suite needs Catch2 (package catch2)")
    endif()
endif()
