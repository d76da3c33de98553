# Finds nvcc (the toolkit's, or the one ./dev fetched into build/toolchain) and clang-19, and compiles with
# them by plain commands: CMake's own CUDA language wants a whole toolkit and takes seconds to probe it.
#
#   MUSTER_NVCC         nvcc, or empty: programs are then left out and said so
#   MUSTER_CUDA_ARCHS   compute capabilities to compile for, e.g. 75;90; `native` asks the GPU
#   MUSTER_CLANG        clang that compiles plain C for nvptx64, or empty

find_program(MUSTER_NVCC nvcc
  HINTS ENV CUDA_PATH ENV CUDA_HOME "${PROJECT_SOURCE_DIR}/build/toolchain/nvidia/cu13" /usr/local/cuda
  PATH_SUFFIXES bin DOC "NVIDIA's CUDA compiler")
find_program(MUSTER_CLANG NAMES clang-19 clang-20 clang-21 clang-22 DOC "clang for plain C on nvptx64")
set(MUSTER_CUDA_ARCHS "75;90" CACHE STRING "compute capabilities to compile for")

if(NOT MUSTER_NVCC)
  message(WARNING "no nvcc: CUDA programs are not built (./dev build fetches it)")
  set(MUSTER_NVCC "")
  return()
endif()

cmake_path(GET MUSTER_NVCC PARENT_PATH cuda_bin)
cmake_path(GET cuda_bin PARENT_PATH MUSTER_CUDA_ROOT)
find_program(MUSTER_PTXAS ptxas HINTS "${cuda_bin}" DOC "NVIDIA's PTX assembler")
find_program(MUSTER_FATBINARY fatbinary HINTS "${cuda_bin}" DOC "NVIDIA's maker of fat binaries")
find_library(MUSTER_CUDART NAMES libcudart_static.a libcudart.so.13
  HINTS "${MUSTER_CUDA_ROOT}/lib64" "${MUSTER_CUDA_ROOT}/lib" "${MUSTER_CUDA_ROOT}/targets/x86_64-linux/lib"
  NO_DEFAULT_PATH DOC "CUDA runtime")
find_path(MUSTER_CUDA_INCLUDE cuda_runtime_api.h
  HINTS "${MUSTER_CUDA_ROOT}/include" "${MUSTER_CUDA_ROOT}/targets/x86_64-linux/include" NO_DEFAULT_PATH)

set(archs "${MUSTER_CUDA_ARCHS}")
if(archs STREQUAL "native")
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0
    OUTPUT_VARIABLE archs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "." "" archs "${archs}")
endif()
set(MUSTER_GENCODE "")
foreach(arch IN LISTS archs)
  list(APPEND MUSTER_GENCODE "-gencode=arch=compute_${arch},code=[compute_${arch},sm_${arch}]")
endforeach()
# -O1 is for host code; device code is always optimised.
set(MUSTER_NVCC_BASE -O1 -lineinfo)
set(MUSTER_NVCC_FLAGS ${MUSTER_NVCC_BASE} ${MUSTER_GENCODE} -Werror=all-warnings
  -Xcompiler=-Wall,-Wextra,-Werror)

# muster_nvcc_standard(VARIABLE SOURCE): the oldest language that SOURCE can be compiled as. Reading the headers that a
# later one brings along is a quarter of what compiling takes. What the build writes itself is compiled as the newest.
function(muster_nvcc_standard variable source)
  set(headers "not known")
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" generated)
  if(NOT generated)
    file(STRINGS "${source}" headers REGEX "^#include <(cooperative_groups|cuda/|cub/)")
  endif()
  if(headers)
    set(${variable} -std=c++17 PARENT_SCOPE)
  else()
    set(${variable} -std=c++14 PARENT_SCOPE)
  endif()
endfunction()

# muster_nvcc_object(OUTPUT SOURCE): SOURCE compiled to the object OUTPUT, rebuilt when a header it read changes.
function(muster_nvcc_object output source)
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  muster_nvcc_standard(standard "${source}")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${MUSTER_NVCC}" ${standard} ${MUSTER_NVCC_FLAGS} -MD -MF "${output}.d" -c "${source}" -o "${output}"
    DEPENDS "${source}" DEPFILE "${output}.d" COMMENT "nvcc ${source}" VERBATIM)
endfunction()

# muster_cuda_program(TARGET SOURCE PROGRAM): SOURCE compiled and linked to the file PROGRAM.
function(muster_cuda_program target source program)
  set(object "${program}.o")
  muster_nvcc_object("${object}" "${source}")
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_executable(${target} "${object}")
  cmake_path(GET program PARENT_PATH folder)
  cmake_path(GET program FILENAME name)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${folder}")
  target_link_libraries(${target} PRIVATE muster_cudart)
endfunction()

# muster_ptx(OUTPUT SOURCE): SOURCE's kernels as PTX for the lowest target, which every later GPU runs.
function(muster_ptx output source)
  list(GET archs 0 lowest)
  muster_nvcc_standard(standard "${source}")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${MUSTER_NVCC}" ${standard} ${MUSTER_NVCC_BASE} -arch=compute_${lowest} -MD -MF "${output}.d"
      -ptx "${source}" -o "${output}"
    DEPENDS "${source}" DEPFILE "${output}.d" COMMENT "nvcc -ptx ${source}" VERBATIM)
endfunction()

# The runtime as an imported library: static where the toolkit has it, else shared (PyPI's packages).
add_library(muster_cudart INTERFACE)
target_include_directories(muster_cudart SYSTEM INTERFACE "${MUSTER_CUDA_INCLUDE}")
target_link_libraries(muster_cudart INTERFACE "${MUSTER_CUDART}" dl rt pthread stdc++ m)
