# find_package(trainyard) gives one target per folder: trainyard::base ... trainyard::report.
@PACKAGE_INIT@
set(trainyard_data "@PACKAGE_trainyard_data@") # before other packages have their say

include(${CMAKE_CURRENT_LIST_DIR}/TrainyardDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/trainyard-targets.cmake)

# Programs of clients lie anywhere: this source of each tells where the data of the installation are.
set(trainyard_told ${CMAKE_CURRENT_BINARY_DIR}/trainyard_data.cpp)
file(CONFIGURE OUTPUT ${trainyard_told} CONTENT "
#include \"sim/base/build_info.h\"

namespace {
[[maybe_unused]] const bool told = (trainyard::set_data_dir(\"${trainyard_data}\"), true);
}
")
set_property(TARGET trainyard::base APPEND PROPERTY INTERFACE_SOURCES ${trainyard_told})
