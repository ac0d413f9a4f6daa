# SPDX-License-Identifier: Apache-2.0
# The one place for warnings and sanitizers, and the two functions every folder uses.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)

add_library(espalier_options INTERFACE)
target_compile_options(espalier_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers $<$<BOOL:${ESPALIER_WERROR}>:-Werror>)
target_include_directories(espalier_options INTERFACE ${CMAKE_SOURCE_DIR})
target_link_libraries(espalier_options INTERFACE Threads::Threads)
if(ESPALIER_SANITIZE)
  target_compile_options(espalier_options INTERFACE -fsanitize=${ESPALIER_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(espalier_options INTERFACE -fsanitize=${ESPALIER_SANITIZE})
endif()

# One precompiled set of the headers that cost most: a third of a build. A header that lacks an #include is found by the
# target headers_alone.
option(ESPALIER_PCH "Precompile the standard headers that most files use" OFF)
if(ESPALIER_PCH)
  set(common_headers <algorithm> <chrono> <functional> <map> <memory> <optional> <string> <variant> <vector> <nlohmann/json.hpp> <fmt/format.h>)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cpp CONTENT "")
  set(kinds library)
  if(ESPALIER_TESTS)
    list(APPEND kinds program) # -fPIC and -fPIE need one each
  endif()
  foreach(kind ${kinds})
    add_library(espalier_pch_${kind} OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
    target_link_libraries(espalier_pch_${kind} PRIVATE espalier_options)
    target_precompile_headers(espalier_pch_${kind} PRIVATE ${common_headers})
  endforeach()
  if(ESPALIER_TESTS)
    target_precompile_headers(espalier_pch_program PRIVATE <gtest/gtest.h>)
    set_target_properties(espalier_pch_program PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(espalier_pch_program PRIVATE -fPIE)
    target_compile_definitions(espalier_pch_program PRIVATE GTEST_HAS_PTHREAD=1) # as the target GTest::gtest says it
  endif()
endif()
function(espalier_use_pch name kind)
  if(ESPALIER_PCH)
    target_precompile_headers(${name} REUSE_FROM espalier_pch_${kind})
  endif()
endfunction()

# espalier_library(name SOURCES a.cpp ... [LINKS libs ...] [OWN_PCH]): a static library; OWN_PCH: it precompiles its own headers. The link line is the architecture.
function(espalier_library name)
  cmake_parse_arguments(ARG "OWN_PCH" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC espalier_options ${ARG_LINKS})
  if(NOT ARG_OWN_PCH)
    espalier_use_pch(${name} library)
  endif()
endfunction()

# espalier_test(name SOURCES a.cpp ... [LINKS libs ...] [LABELS fast|gpu|slow|cheats] [TIMEOUT s]): a GoogleTest program.
function(espalier_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE espalier_options ${ARG_LINKS} GTest::gtest GTest::gtest_main)
  espalier_use_pch(${name} program)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
