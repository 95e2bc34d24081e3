# The test suite, if Catch2 is here: 2.13 on Debian 12, 3.x elsewhere; tests/catch.h serves both.

set(TRAINYARD_TESTS AUTO CACHE STRING "Build the test suite: ON, OFF, or AUTO (if Catch2 is found)")
set_property(CACHE TRAINYARD_TESTS PROPERTY STRINGS AUTO ON OFF)
if(NOT TRAINYARD_TESTS)
    return()
endif()

find_package(Catch2 3 QUIET)
if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 QUIET)
endif()
if(NOT Catch2_FOUND)
    if(NOT TRAINYARD_TESTS STREQUAL "AUTO")
        message(FATAL_ERROR "The test suite needs Catch2 (package catch2)")
    endif()
    message(STATUS "Test suite: skipped, Catch2 not found (package catch2)")
    return()
endif()
message(STATUS "Test suite: with Catch2 ${Catch2_VERSION}")
include(Catch)

# The test runner's main, compiled once.
add_library(trainyard_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_link_libraries(trainyard_test_main PUBLIC trainyard::options Catch2::Catch2)
target_compile_options(trainyard_test_main PRIVATE $<$<CONFIG:Release>:-O1>)
target_compile_definitions(trainyard_test_main PUBLIC
    TRAINYARD_CATCH2_MAJOR=${Catch2_VERSION_MAJOR})

# How far release builds optimise the tests listed after it: what is tested is optimised in full, they
# themselves only so far that they build quickly. At -O0 they build in two thirds of the time; of code
# that both instantiate, the linker then takes the slow copy, so it is for those that compute little.
set(trainyard_test_level -O1)

# What nearly every test reads, for each level. Builds without it see to it that each includes what it
# needs.
if(TRAINYARD_FROM_SCRATCH)
    file(TOUCH ${PROJECT_BINARY_DIR}/precompiled.cpp)
    foreach(level -O0 -O1)
        set(headers trainyard_test_headers${level})
        add_library(${headers} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
        target_link_libraries(${headers} PRIVATE
            trainyard_test_main trainyard::warnings fmt::fmt tl::expected)
        target_compile_options(${headers} PRIVATE $<$<CONFIG:Release>:${level}>)
        target_precompile_headers(${headers} PRIVATE
            ${PROJECT_SOURCE_DIR}/tests/catch.h <algorithm> <array> <cmath> <filesystem> <functional>
            <map> <memory> <optional> <set> <span> <string> <vector> <fmt/format.h> <tl/expected.hpp>)
    endforeach()
endif()

# How tests are compiled.
function(trainyard_compiled_as_test target)
    target_link_libraries(${target} PRIVATE trainyard_test_main trainyard::warnings)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${trainyard_test_level}>)
    if(TRAINYARD_FROM_SCRATCH)
        target_precompile_headers(${target} REUSE_FROM trainyard_test_headers${trainyard_test_level})
    endif()
    trainyard_batched(${target} ${ARGN})
endfunction()

# trainyard_test_library(<name> SOURCES a.cpp ... [LINKS target ...])
#
# What several test programs are made with, compiled once: for their LINKS.
function(trainyard_test_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
    add_library(${name} OBJECT ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC ${arg_LINKS})
    trainyard_compiled_as_test(${name})
endfunction()

# trainyard_test(<name> [SLOW] [SOURCES a.cpp ...] [LINKS target ...] [ALONE a.cpp ...])
#
# The executable <name> with one CTest test per TEST_CASE. SLOW tests carry the label `slow` and run
# only with `./run-tests --all`. ALONE: see trainyard_batched. Without sources nothing is made.
function(trainyard_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "" "SOURCES;LINKS;ALONE")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "trainyard_test(${name}): stray ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LINKS})
    trainyard_compiled_as_test(${name} ALONE ${arg_ALONE})
    set(arguments "")
    if(Catch2_VERSION VERSION_LESS 3)
        set(arguments EXTRA_ARGS --warn NoTests) # a name that selects nothing is a failure
    endif()
    set(properties "")
    if(arg_SLOW)
        set(properties PROPERTIES LABELS slow)
    endif()
    catch_discover_tests(${name}
        TEST_PREFIX "${name}: "
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        ${arguments}
        ${properties})
endfunction()

enable_testing()
# The longest to compile come first: what is short fills both cores at the end.
if(TARGET trainyard_gui)
    add_subdirectory(gui/tests)
endif()
add_subdirectory(tests)
