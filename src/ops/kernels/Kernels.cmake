# The kernels of the whole-device operations: each file compiled for its element types and for some architectures,
# to PTX of the lowest ISA version that has what it needs, and embedded with a list of all of them.
#
# A file is compiled for those architectures that make a difference to it; every later GPU runs them.
# clang compiles them; where only nvcc is there, for the architectures that it still knows. Without both,
# the list is empty, and the operations say so.
enable_language(ASM)

set(kernel_files reduce scan histogram map)
set(kernels_reduce s8 s16 s32 s64 u8 u16 u32 u64 f16 bf16 f32 f64)
set(kernels_reduce_archs 60 70)
set(kernels_scan u32 u64 f32 f64)
set(kernels_scan_archs 60 70)
set(kernels_histogram u8 u16 u32 u64)
set(kernels_histogram_archs 60 70)
set(kernels_map u32 u64 f32 f64)
set(kernels_map_archs 60)
set(kernel_flags -O3 "-I${PROJECT_SOURCE_DIR}/include")

# muster_kernel(PTX FILE ELEM ARCH)
function(muster_kernel ptx file elem arch)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/kernels/${file}.cu")
  if(MUSTER_CLANG)
    # a clang that finds a toolkit takes its ISA version, so it finds none
    set(isa_60 60)
    set(isa_70 60)
    set(isa_80 70)
    set(isa_90 78)
    set(compile "${MUSTER_CLANG}" -x cuda -std=c++14 --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent
      --cuda-gpu-arch=sm_${arch} -Xclang -target-feature -Xclang +ptx${isa_${arch}} -DMU_PTX=${isa_${arch}}
      -ffp-contract=off -Wall -Wextra -Werror -S)
  else()
    set(compile "${MUSTER_NVCC}" -x cu -std=c++14 -arch=compute_${arch} -fmad=false -ptx)
  endif()
  add_custom_command(OUTPUT "${ptx}"
    COMMAND ${compile} ${kernel_flags} -DELEM=${elem} -MD -MF "${ptx}.d" "${source}" -o "${ptx}"
    DEPENDS "${source}" DEPFILE "${ptx}.d" COMMENT "PTX of ${file}, ${elem}, sm_${arch}" VERBATIM)
endfunction()

# muster_embed(ASSEMBLY): writes the list, as ops_images of kernels.c.
function(muster_embed assembly)
  if(NOT MUSTER_CLANG AND NOT MUSTER_NVCC)
    set(kernel_files "")
    message(WARNING "neither clang-19 nor nvcc: libmuster has no operations on arrays")
  endif()
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/ptx")
  set(data "")
  set(list "")
  set(all "")
  foreach(file IN LISTS kernel_files)
    set(archs ${kernels_${file}_archs})
    if(NOT MUSTER_CLANG) # nvcc's oldest
      list(TRANSFORM archs REPLACE "^(60|70)$" 75)
      list(REMOVE_DUPLICATES archs)
    endif()
    foreach(elem IN LISTS kernels_${file})
      foreach(arch IN LISTS archs)
        set(id "${file}_${elem}_${arch}")
        set(ptx "${CMAKE_CURRENT_BINARY_DIR}/ptx/${file}.${elem}.sm_${arch}.ptx")
        muster_kernel("${ptx}" ${file} ${elem} ${arch})
        list(APPEND all "${ptx}")
        string(APPEND data "${id}: .incbin \"${ptx}\"\n${id}_end: .byte 0\n"
          "${id}_file: .asciz \"${file}\"\n${id}_elem: .asciz \"${elem}\"\n")
        string(APPEND list ".quad ${id}_file, ${id}_elem, ${arch}, ${id}, ${id}_end - ${id}\n")
      endforeach()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${assembly}" CONTENT ".section .rodata
@data@
.section .data.rel.ro, \"aw\"
.balign 8
.globl ops_images
.hidden ops_images
ops_images:
@list@.quad 0, 0, 0, 0, 0
.section .note.GNU-stack, \"\", %progbits
" @ONLY)
  set_source_files_properties("${assembly}" PROPERTIES OBJECT_DEPENDS "${all}")
endfunction()
