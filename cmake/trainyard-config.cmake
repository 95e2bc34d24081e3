# find_package(trainyard) gives one target per folder: trainyard::base ... trainyard::report.

include(${CMAKE_CURRENT_LIST_DIR}/TrainyardDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/trainyard-targets.cmake)
