# Libraries that the core needs. All are distribution packages; CMAKE_PREFIX_PATH serves other places.

find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 REQUIRED) # headers: Boost.Graph
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
if(NOT TRAINYARD_CORE_ONLY) # these read files
    find_package(pugixml REQUIRED) # NCCL's topology files
    find_package(tomlplusplus REQUIRED) # torchtitan's configurations
    find_package(SQLite3 3.35 REQUIRED) # what plans have found
    find_package(yaml-cpp REQUIRED) # Megatron-LM's tests
    if(NOT TARGET yaml-cpp::yaml-cpp) # before 0.8
        add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
    endif()
endif()

# Not every package of tl::expected comes with its CMake files; the header is all of it.
find_package(tl-expected QUIET)
if(NOT TARGET tl::expected)
    find_path(TRAINYARD_TL_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
    add_library(tl::expected INTERFACE IMPORTED GLOBAL)
    target_include_directories(tl::expected SYSTEM INTERFACE ${TRAINYARD_TL_EXPECTED_INCLUDE})
endif()
