# Libraries that the core needs. All are distribution packages; CMAKE_PREFIX_PATH serves other places.

find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Boost 1.74 REQUIRED) # headers: Boost.Graph
find_package(ZLIB REQUIRED)
