# Fills the folder INTO with what a program says: its output, where OUTPUT names a file, and the
# files that it writes there. With GZIP all of them are compressed, as packages have them.
#
#   cmake -DINTO=... [-DOUTPUT=...] [-DGZIP=...] -P write.cmake -- PROGRAM ARGUMENT...

cmake_minimum_required(VERSION 3.25)
set(command "")
set(beyond FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(beyond)
        list(APPEND command "${CMAKE_ARGV${i}}")
    elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
        set(beyond TRUE)
    endif()
endforeach()
if(NOT IS_ABSOLUTE "${INTO}" OR NOT command)
    message(FATAL_ERROR "INTO and a command are needed")
endif()

file(REMOVE_RECURSE ${INTO})
file(MAKE_DIRECTORY ${INTO})
set(output "")
if(OUTPUT)
    set(output OUTPUT_FILE ${INTO}/${OUTPUT})
endif()
execute_process(COMMAND ${command} WORKING_DIRECTORY ${INTO} ${output} COMMAND_ERROR_IS_FATAL ANY)
if(GZIP)
    file(GLOB files ${INTO}/*)
    execute_process(COMMAND ${GZIP} -9nf ${files} COMMAND_ERROR_IS_FATAL ANY)
endif()
