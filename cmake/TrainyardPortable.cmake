# The programs of the tarball: the same objects as those of the build, linked so that they run where
# our libraries' packages are not installed. glibc stays shared (programs open MPI, NCCL and NVML while
# they run); what opens C++ modules shares their C++ library too.

set(portable_lacks "")
foreach(name pugixml yaml-cpp sqlite3 z)
    find_library(TRAINYARD_STATIC_${name} lib${name}.a)
    mark_as_advanced(TRAINYARD_STATIC_${name})
    if(NOT TRAINYARD_STATIC_${name})
        string(APPEND portable_lacks " lib${name}.a")
    endif()
    list(APPEND portable_archives ${TRAINYARD_STATIC_${name}})
endforeach()
if(portable_lacks OR NOT fmt_VERSION MATCHES "^9[.]")
    message(STATUS "Tarball: skipped, needs fmt 9 (here ${fmt_VERSION}) and static libraries; lacking:${portable_lacks}")
    return()
endif()

# fmt and toml++ as static libraries, which distributions leave out.
add_library(trainyard_static_parts STATIC EXCLUDE_FROM_ALL
    ${CMAKE_CURRENT_LIST_DIR}/packages/fmt.cpp
    ${CMAKE_CURRENT_LIST_DIR}/packages/toml.cpp)
target_compile_features(trainyard_static_parts PRIVATE cxx_std_20)
target_compile_definitions(trainyard_static_parts PRIVATE TOML_HEADER_ONLY=0)
target_include_directories(trainyard_static_parts SYSTEM PRIVATE
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_options(trainyard_static_parts PRIVATE $<$<CONFIG:Release>:-O1>)
set_target_properties(trainyard_static_parts PROPERTIES POSITION_INDEPENDENT_CODE ON)

get_property(portable_folders GLOBAL PROPERTY TRAINYARD_FOLDERS)
set(portable_libraries "")
foreach(folder IN LISTS portable_folders)
    get_target_property(kind trainyard_${folder} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
        list(APPEND portable_libraries trainyard_${folder})
    endif()
endforeach()
list(TRANSFORM portable_libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE portable_files)

# trainyard_portable(<target> <as> [LINKS library ...]): <target> is made as <as>, and linked so.
function(trainyard_portable target as)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LINKS")
    get_target_property(output ${target} OUTPUT_NAME)
    if(NOT output)
        set(output ${target})
    endif()
    get_target_property(kind ${target} TYPE)
    # Under names of their own in the build: those of the others are targets too.
    if(kind STREQUAL "EXECUTABLE")
        add_executable(${as} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${target}>)
        install(PROGRAMS $<TARGET_FILE:${as}> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME ${output}
            COMPONENT portable EXCLUDE_FROM_ALL)
    else()
        add_library(${as} MODULE EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${target}>)
        target_link_options(${as} PRIVATE LINKER:--exclude-libs,ALL)
        install(FILES $<TARGET_FILE:${as}> DESTINATION ${CMAKE_INSTALL_LIBDIR}/trainyard RENAME ${output}.so
            COMPONENT portable EXCLUDE_FROM_ALL)
    endif()
    target_link_options(${as} PRIVATE LINKER:-s)
    set_target_properties(${as} PROPERTIES
        LINKER_LANGUAGE CXX
        SKIP_BUILD_RPATH ON
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable)
    target_link_libraries(${as} PRIVATE
        -Wl,--start-group ${portable_files} -Wl,--end-group
        ${arg_LINKS} $<TARGET_FILE:trainyard_static_parts> ${portable_archives} Threads::Threads ${CMAKE_DL_LIBS})
    add_dependencies(${as} ${target} ${portable_libraries} trainyard_static_parts)
    add_dependencies(portable ${as})
endfunction()

add_custom_target(portable)
trainyard_portable(trainyard trainyard_portable_cli LINKS -static-libstdc++ -static-libgcc)
trainyard_portable(trainyard_measure_program trainyard_portable_measure)
if(TARGET trainyard_backend_cuda)
    find_package(CUDAToolkit REQUIRED)
    trainyard_portable(trainyard_backend_cuda trainyard_portable_cuda
        LINKS $<TARGET_OBJECTS:trainyard_cuda_kernels> CUDA::cudart_static)
endif()
if(TARGET trainyard_backend_mpi)
    find_package(MPI REQUIRED COMPONENTS CXX)
    trainyard_portable(trainyard_backend_mpi trainyard_portable_mpi
        LINKS $<TARGET_OBJECTS:trainyard_host_ranks> MPI::MPI_CXX)
endif()
if(TARGET trainyard_ranks_mpi) # plain C, it needs nothing of ours
    add_dependencies(portable trainyard_ranks_mpi)
    install(TARGETS trainyard_ranks_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/trainyard
        COMPONENT portable EXCLUDE_FROM_ALL)
endif()
