# Packages, by CPack: target `packages` makes them in <build>/packages.
#
# A tarball that runs from any folder (TrainyardPortable.cmake), and .debs for the distribution
# that they are built on, with what dpkg-shlibdeps says of their libraries:
#
#   trainyard          the program, scenarios, topologies, profiles; its manual and completion
#   trainyard-mpi      the module that spreads plans over ranks
#   trainyard-measure  trainyard calibrate, with the modules that this build has
#   trainyard-gui      the window (GPL-3.0-or-later)
#   trainyard-dev      libraries, headers and the CMake package

add_custom_target(packages)
include(TrainyardPortable)
set(CPACK_PACKAGE_VENDOR "Trainyard")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME trainyard-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0) # as many as there are
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/packages/generators.cmake)

# The parts that this build has.
set(parts cli)
if(TARGET trainyard_ranks_mpi)
    list(APPEND parts mpi)
endif()
list(APPEND parts measure)
if(TARGET trainyard_gui_program)
    list(APPEND parts gui)
endif()
list(APPEND parts dev)
get_property(backends GLOBAL PROPERTY TRAINYARD_BACKENDS)
add_dependencies(packages trainyard trainyard_measure_program ${libraries} ${backends})
if(TARGET trainyard_gui_program)
    add_dependencies(packages trainyard_gui_program)
endif()

# trainyard_written(<part> <folder of the build> <destination> [OUTPUT <file>] [AS_IS]
#     DEPENDS <program> COMMAND ...)
#
# What a program writes about itself, into a folder or as its OUTPUT, installed with a part; compressed
# but where AS_IS.
find_program(TRAINYARD_GZIP gzip REQUIRED)
mark_as_advanced(TRAINYARD_GZIP)
function(trainyard_written part folder destination)
    cmake_parse_arguments(PARSE_ARGV 3 arg "AS_IS" "OUTPUT" "DEPENDS;COMMAND")
    set(written ${PROJECT_BINARY_DIR}/written/${folder})
    set(gzip ${TRAINYARD_GZIP})
    if(arg_AS_IS)
        set(gzip "")
    endif()
    add_custom_command(OUTPUT ${written}.stamp
        COMMAND ${CMAKE_COMMAND} -DINTO=${written} -DOUTPUT=${arg_OUTPUT} -DGZIP=${gzip}
            -P ${PROJECT_SOURCE_DIR}/cmake/packages/write.cmake -- ${arg_COMMAND}
        COMMAND ${CMAKE_COMMAND} -E touch ${written}.stamp
        DEPENDS ${arg_DEPENDS} ${PROJECT_SOURCE_DIR}/cmake/packages/write.cmake
        COMMENT "Writing ${folder}"
        VERBATIM)
    string(MAKE_C_IDENTIFIER written_${folder} target)
    add_custom_target(${target} ALL DEPENDS ${written}.stamp)
    add_dependencies(packages ${target})
    install(DIRECTORY ${written}/ DESTINATION ${destination} COMPONENT ${part})
endfunction()

set(pages ${CMAKE_INSTALL_MANDIR}/man1)
trainyard_written(cli_doc manual/cli ${pages} DEPENDS trainyard
    COMMAND $<TARGET_FILE:trainyard> manual -o .)
trainyard_written(measure_doc manual/measure ${pages} OUTPUT trainyard-calibrate.1
    DEPENDS trainyard_measure_program
    COMMAND $<TARGET_FILE:trainyard_measure_program> --manual)
# Also under the name of the program, which `trainyard calibrate` runs.
trainyard_written(measure_doc manual/measure_program ${pages} OUTPUT trainyard-measure.1
    COMMAND ${CMAKE_COMMAND} -E echo ".so man1/trainyard-calibrate.1")
if(TARGET trainyard_gui_program)
    trainyard_written(gui_doc manual/gui ${pages} OUTPUT trainyard-gui.1 DEPENDS trainyard_gui_program
        COMMAND $<TARGET_FILE:trainyard_gui_program> --manual)
endif()
foreach(shell IN ITEMS bash:bash-completion/completions/trainyard zsh:zsh/vendor-completions/_trainyard
        fish:fish/vendor_completions.d/trainyard.fish)
    string(REGEX MATCH "^(.*):(.*)/([^/]*)$" shell ${shell})
    trainyard_written(cli_doc completion/${CMAKE_MATCH_1} ${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2}
        AS_IS OUTPUT ${CMAKE_MATCH_3} DEPENDS trainyard
        COMMAND $<TARGET_FILE:trainyard> completion ${CMAKE_MATCH_1})
endforeach()

# What each package says of itself: who may copy it, and what is new.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
if(EXISTS /etc/os-release)
    file(STRINGS /etc/os-release os REGEX "^(ID|VERSION_ID)=")
    list(TRANSFORM os REPLACE "^[A-Z_]+=\"?([^\"]*)\"?$" "\\1")
    list(SORT os ORDER DESCENDING) # the name before the number
    list(JOIN os "" os)
    string(APPEND CPACK_DEBIAN_PACKAGE_RELEASE "~${os}")
endif()
set(TRAINYARD_MAINTAINER "Trainyard developers <developers@trainyard.invalid>" CACHE STRING
    "Whom packages name as their maintainer: name <address>")
foreach(part IN LISTS parts)
    set(name trainyard)
    if(NOT part STREQUAL "cli")
        set(name trainyard-${part})
    endif()
    set(destination ${CMAKE_INSTALL_DATADIR}/doc/${name})
    trainyard_written(${part}_doc doc/${part} ${destination}
        DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/cmake/packages/changelog.cmake
        COMMAND ${CMAKE_COMMAND} -DCHANGELOG=${PROJECT_SOURCE_DIR}/CHANGELOG.md -DPACKAGE=${name}
            -DVERSION=${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}
            -DMAINTAINER=${TRAINYARD_MAINTAINER}
            -P ${PROJECT_SOURCE_DIR}/cmake/packages/changelog.cmake)
    install(FILES cmake/packages/copyright DESTINATION ${destination} COMPONENT ${part}_doc)
endforeach()
install(FILES cmake/packages/lintian-trainyard-mpi RENAME trainyard-mpi
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT mpi_doc EXCLUDE_FROM_ALL)
string(REGEX MATCH "^[0-9]+" compiler ${CMAKE_CXX_COMPILER_VERSION})
# The notices of libraries of which the tarball holds parts, as their packages have them.
foreach(package IN ITEMS libboost-dev libcli11-dev libeigen3-dev libexpected-dev libfmt-dev
        libpugixml-dev libsqlite3-dev libstdc++-${compiler}-dev libtomlplusplus-dev libyaml-cpp-dev
        nlohmann-json3-dev zlib1g-dev)
    install(FILES /usr/share/doc/${package}/copyright OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/trainyard/libraries RENAME ${package}
        COMPONENT portable EXCLUDE_FROM_ALL)
endforeach()

find_program(TRAINYARD_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(TRAINYARD_SHLIBDEPS)
set(CPACK_GENERATOR "")
if(TARGET portable)
    list(APPEND CPACK_GENERATOR TGZ)
    add_dependencies(packages portable)
endif()
if(TRAINYARD_SHLIBDEPS)
    list(APPEND CPACK_GENERATOR DEB)
    message(STATUS "Packages: ${CPACK_GENERATOR} (target packages)")
else()
    message(STATUS "Packages: no .debs, dpkg-shlibdeps not found (package dpkg-dev)")
endif()

set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${TRAINYARD_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)

# trainyard_debian(<part> <summary> <text> [SECTION section] [DEPENDS packages] [SUGGESTS packages])
macro(trainyard_debian part summary text)
    cmake_parse_arguments(deb "" "SECTION;DEPENDS;SUGGESTS" "" ${ARGN})
    string(TOUPPER ${part} key)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME trainyard-${part})
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${text}")
    set(CPACK_DEBIAN_${key}_PACKAGE_SECTION "${deb_SECTION}")
    set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${deb_DEPENDS}")
    set(CPACK_DEBIAN_${key}_PACKAGE_SUGGESTS "${deb_SUGGESTS}")
endmacro()
set(whole "trainyard (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
trainyard_debian(cli "simulator and capacity planner for distributed training"
"From a model, a strategy and a cluster it says how long a training step takes,
where the time goes, whether it fits in memory, and how far the answer can be
trusted." SECTION science SUGGESTS "trainyard-gui, trainyard-measure, trainyard-mpi")
set(CPACK_DEBIAN_CLI_PACKAGE_NAME trainyard)
trainyard_debian(mpi "simulator for distributed training - plans over several ranks"
"The module with which ranks that mpirun or srun started share the work of a
plan." SECTION science DEPENDS "${whole}")
trainyard_debian(measure "simulator for distributed training - measuring clusters"
"Measures collectives, pairs of ranks, kernels and what they lose to one
another, and writes profiles and topologies that simulations trust."
    SECTION science DEPENDS "${whole}")
trainyard_debian(gui "simulator for distributed training - window"
"Shows a step's timeline, the cluster's links, strategies and curves of
measurements; every change of a scenario is simulated at once."
    SECTION science DEPENDS "${whole}, fonts-dejavu-core")
# As in TrainyardDependencies.cmake, which users of the package read.
set(needed libboost-graph-dev libcli11-dev libeigen3-dev libexpected-dev libfmt-dev libpugixml-dev
    libsqlite3-dev libtomlplusplus-dev libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev)
list(JOIN needed ", " needed)
trainyard_debian(dev "simulator for distributed training - libraries"
"Static libraries, headers and the package for CMake's find_package(trainyard)."
    SECTION libdevel DEPENDS "${whole}, ${needed}")

# Components that belong to one package, and those of each kind of package (generators.cmake).
foreach(part IN LISTS parts)
    string(TOUPPER ${part} key)
    set(CPACK_COMPONENT_${key}_GROUP ${part})
    set(CPACK_COMPONENT_${key}_DOC_GROUP ${part})
endforeach()
set(CPACK_COMPONENT_DATA_GROUP cli)
set(TRAINYARD_DEBIAN_COMPONENTS data ${parts})
list(TRANSFORM parts APPEND _doc OUTPUT_VARIABLE documents)
list(APPEND TRAINYARD_DEBIAN_COMPONENTS ${documents})
set(TRAINYARD_ARCHIVE_COMPONENTS portable data cli_doc measure_doc)
foreach(kind DEBIAN ARCHIVE)
    set(CPACK_TRAINYARD_${kind}_COMPONENTS ${TRAINYARD_${kind}_COMPONENTS})
endforeach()
set(CPACK_COMPONENTS_ALL ${CPACK_TRAINYARD_DEBIAN_COMPONENTS} portable)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
include(CPack)
add_custom_command(TARGET packages POST_BUILD
    COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} USES_TERMINAL)
