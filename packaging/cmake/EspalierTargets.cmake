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

# espalier_library(name SOURCES a.cpp ... [LINKS libs ...]): a static library. The link line is the architecture.
function(espalier_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC espalier_options ${ARG_LINKS})
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
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
