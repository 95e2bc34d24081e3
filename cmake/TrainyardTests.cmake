# Catch2 is 2.13 on Debian 12 and 3.x elsewhere; tests/catch.h and this file serve both.

find_package(Catch2 3 QUIET)
if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 REQUIRED)
endif()
include(Catch)

# The test runner's main, compiled once.
add_library(trainyard_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_link_libraries(trainyard_test_main PUBLIC trainyard::options Catch2::Catch2)
target_compile_definitions(trainyard_test_main PUBLIC
    TRAINYARD_CATCH2_MAJOR=${Catch2_VERSION_MAJOR})

# trainyard_test(<name> [SLOW] [SOURCES a.cpp ...] [LINKS target ...])
#
# The executable <name> with one CTest test per TEST_CASE. SLOW tests carry the label `slow` and run
# only with `./run-tests --all`. Without sources nothing is made.
function(trainyard_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "" "SOURCES;LINKS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "trainyard_test(${name}): stray ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE trainyard_test_main trainyard::warnings ${arg_LINKS})
    set(properties "")
    if(arg_SLOW)
        set(properties PROPERTIES LABELS slow)
    endif()
    catch_discover_tests(${name}
        TEST_PREFIX "${name}: "
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        ${properties})
endfunction()
