# Installation: the program, its data, and the libraries for CMake users (find_package(trainyard)).
# Components are what TrainyardPackages.cmake makes packages of.

include(CMakePackageConfigHelpers)

install(TARGETS trainyard RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)

# The data keep their paths below the root of the source tree, so that data_dir() reads the same
# layout in a build tree and in an installation.
install(DIRECTORY calibrate/profiles calibrate/accuracy calibrate/reference
    DESTINATION ${CMAKE_INSTALL_DATADIR}/trainyard/calibrate COMPONENT data)
install(DIRECTORY topologies scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/trainyard COMPONENT data)
install(PROGRAMS scenarios/slurm/calibrate.sbatch scenarios/slurm/merge.sbatch scenarios/slurm/plan.sbatch
        scenarios/slurm/plan.sh
    DESTINATION ${CMAKE_INSTALL_DATADIR}/trainyard/scenarios/slurm COMPONENT data)

get_property(folders GLOBAL PROPERTY TRAINYARD_FOLDERS)
list(TRANSFORM folders PREPEND trainyard_ OUTPUT_VARIABLE libraries)
foreach(folder IN LISTS folders)
    set_target_properties(trainyard_${folder} PROPERTIES EXPORT_NAME ${folder})
endforeach()
set_target_properties(trainyard_options PROPERTIES EXPORT_NAME options)
target_include_directories(trainyard_options INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/trainyard>)

install(TARGETS trainyard_options ${libraries} EXPORT trainyard
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY sim calibrate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trainyard COMPONENT dev
    FILES_MATCHING PATTERN "*.h")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trainyard)
install(EXPORT trainyard NAMESPACE trainyard:: DESTINATION ${package_dir}
    FILE trainyard-targets.cmake COMPONENT dev)
write_basic_package_version_file(trainyard-config-version.cmake COMPATIBILITY SameMinorVersion)
set(trainyard_data ${CMAKE_INSTALL_DATADIR}/trainyard)
configure_package_config_file(cmake/trainyard-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/trainyard-config.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS trainyard_data)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/trainyard-config.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/trainyard-config-version.cmake
    DESTINATION ${package_dir} COMPONENT dev)
# The package looks for the same libraries as the build.
install(FILES cmake/TrainyardDependencies.cmake DESTINATION ${package_dir} COMPONENT dev)
