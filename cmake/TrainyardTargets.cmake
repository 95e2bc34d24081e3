# How a folder of sources becomes a target, and with which flags.

option(TRAINYARD_WERROR "Treat compiler warnings as errors" OFF)
option(TRAINYARD_FROM_SCRATCH
    "Precompile the tests' headers and compile sources in batches: quick where nothing is built yet" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF) # there are none to scan for
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# What every user of our headers needs: the language, the include root, and arithmetic that the
# compiler does not fuse, since results must repeat bit for bit.
add_library(trainyard_options INTERFACE)
add_library(trainyard::options ALIAS trainyard_options)
target_compile_features(trainyard_options INTERFACE cxx_std_20)
target_compile_options(trainyard_options INTERFACE -ffp-contract=off)
target_include_directories(trainyard_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)

# GCC looks for memory to use again each time that what a source takes has grown by its part. Left alone
# up to a gigabyte, sources compile in a seventh less time and take a third more memory.
if(TRAINYARD_FROM_SCRATCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

# Our own sources only; never inherited by users.
add_library(trainyard_warnings INTERFACE)
add_library(trainyard::warnings ALIAS trainyard_warnings)
target_compile_options(trainyard_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion $<$<BOOL:${TRAINYARD_WERROR}>:-Werror>
    # In a batch a local name may be another source's private one.
    $<IF:$<AND:$<BOOL:${TRAINYARD_FROM_SCRATCH}>,$<CXX_COMPILER_ID:GNU>>,-Wshadow=local,-Wshadow>
    # GCC 12 sees overlaps in "literal" + std::string that are not there (GCC bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)

# trainyard_batched(<target> [ALONE a.cpp ...])
#
# Compiles the sources of a target as a few, of at most forty each: what all of them include is read
# once. ALONE stand those whose private names others have too. Sources with a UNITY_GROUP of their own
# are compiled with the others of that group only.
function(trainyard_batched target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.]cpp$")
    list(REMOVE_ITEM sources ${arg_ALONE} "")
    list(LENGTH sources count)
    math(EXPR batches "(${count} + 39) / 40")
    set(at 0)
    foreach(source IN LISTS sources)
        math(EXPR batch "${at} * ${batches} / ${count}")
        math(EXPR at "${at} + 1")
        get_source_file_property(group ${source} UNITY_GROUP)
        if(NOT group)
            set_source_files_properties(${source} PROPERTIES UNITY_GROUP batch${batch})
        endif()
    endforeach()
    set_target_properties(${target} PROPERTIES
        UNITY_BUILD ${TRAINYARD_FROM_SCRATCH}
        UNITY_BUILD_MODE GROUP)
    # In a batch no source is the main one: private types as members look to GCC as if others saw them.
    if(TRAINYARD_FROM_SCRATCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
endfunction()

# What runs for every op or kernel. The others are compiled with less, which takes a quarter less time
# and computes the same.
set(TRAINYARD_COLD_LEVEL -O1 CACHE STRING "How release builds optimise what does not run for every op")
set(trainyard_hot_folders base program cost strategy engine)

# trainyard_library(<folder> [SOURCES a.cpp ...] [LINKS target ...] [PRIVATE_LINKS target ...])
#
# The library of a folder below sim/ or calibrate/: target trainyard_<folder>, alias
# trainyard::<folder>. LINKS are the
# targets its headers need, PRIVATE_LINKS those that only its sources need. Without sources it is an
# interface library. The same objects serve programs and Python's module: code that may lie anywhere
# and shows no symbols calls its own functions directly, so programs lose nothing.
function(trainyard_library folder)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;PRIVATE_LINKS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "trainyard_library(${folder}): stray ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(target trainyard_${folder})
    if(arg_SOURCES)
        add_library(${target} STATIC ${arg_SOURCES})
        set_target_properties(${target} PROPERTIES
            POSITION_INDEPENDENT_CODE ON
            CXX_VISIBILITY_PRESET hidden
            VISIBILITY_INLINES_HIDDEN ON)
        if(NOT folder IN_LIST trainyard_hot_folders)
            target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${TRAINYARD_COLD_LEVEL}>)
        endif()
        target_link_libraries(${target}
            PUBLIC trainyard::options ${arg_LINKS}
            PRIVATE $<BUILD_INTERFACE:trainyard::warnings> ${arg_PRIVATE_LINKS})
    else()
        add_library(${target} INTERFACE)
        target_link_libraries(${target} INTERFACE trainyard::options ${arg_LINKS})
    endif()
    add_library(trainyard::${folder} ALIAS ${target})
    set_property(GLOBAL APPEND PROPERTY TRAINYARD_FOLDERS ${folder})
endfunction()
