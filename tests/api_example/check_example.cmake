# Installs BUILD below SCRATCH, builds the example of SOURCE against them and holds
# its answer against what the program prints.

cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})

function(run)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
        string(REPLACE ";" " " command "${ARGN}")
        message(FATAL_ERROR "${command} ends with ${code}:\n${out}")
    endif()
    set(out "${out}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/installed)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${SCRATCH}/installed
    "-DCMAKE_CXX_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/layouts ${SCENARIO})
set(told "${out}")

foreach(stage RANGE 3)
    execute_process(COMMAND ${PROGRAM} simulate ${SCENARIO} --set strategy.zero=${stage}
        --set run.fidelity=alpha-beta --json --advice 0 --no-scaling
        OUTPUT_VARIABLE json ERROR_QUIET)
    string(JSON fits GET "${json}" fits)
    string(REGEX MATCH "ZeRO-${stage}: ([0-9.]+) s a step" found "${told}")
    if(fits AND NOT found)
        message(FATAL_ERROR "ZeRO-${stage} fits, but the example says:\n${told}")
    elseif(NOT fits AND found)
        message(FATAL_ERROR "ZeRO-${stage} does not fit, but the example says:\n${told}")
    elseif(fits)
        string(JSON seconds GET "${json}" step_time_s)
        string(SUBSTRING "${seconds}" 0 4 begin)
        string(FIND "${CMAKE_MATCH_1}" "${begin}" at)
        if(NOT at EQUAL 0)
            message(FATAL_ERROR "${found}: the program says ${seconds} s")
        endif()
    endif()
endforeach()
message(STATUS "${told}")
file(REMOVE_RECURSE ${SCRATCH})
