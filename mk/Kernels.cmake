# Kernels embedded in a library or program: each file compiled for its element types and for some architectures, to
# PTX of the lowest ISA version that has what it needs, with a list of all of them.
#
# A file is compiled for those architectures that make a difference to it; every later GPU runs them. clang compiles
# them; where only nvcc is there, for the architectures that it still knows. Without both, the list is empty, and who
# reads it says so.
enable_language(ASM)

# muster_kernel(PTX SOURCE ELEM ARCH COMPILER ISA): ELEM none: of no element type. ISA: of at least this version.
function(muster_kernel ptx source elem arch compiler isa)
  if(compiler STREQUAL "clang")
    # a clang that finds a toolkit takes its ISA version, so it finds none
    set(isa_60 60)
    set(isa_70 60)
    set(isa_80 71) # mbarrier.test_wait.parity
    set(isa_90 80) # barrier.cluster.arrive.release
    if(isa LESS isa_${arch})
      set(isa ${isa_${arch}})
    endif()
    set(compile "${MUSTER_CLANG}" -x cuda -std=c++14 --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent
      --cuda-gpu-arch=sm_${arch} -Xclang -target-feature -Xclang +ptx${isa} -DMU_PTX=${isa}
      -ffp-contract=off -Wall -Wextra -Werror -S)
  else()
    set(compile "${MUSTER_NVCC}" -x cu -std=c++17 -arch=compute_${arch} -fmad=false -ptx)
  endif()
  if(NOT elem STREQUAL "none")
    list(APPEND compile "-DELEM=${elem}")
  endif()
  cmake_path(GET ptx FILENAME name)
  add_custom_command(OUTPUT "${ptx}"
    COMMAND ${compile} -O3 "-I${PROJECT_SOURCE_DIR}/include" -MD -MF "${ptx}.d" "${source}" -o "${ptx}"
    DEPENDS "${source}" DEPFILE "${ptx}.d" COMMENT "PTX ${name}" VERBATIM)
endfunction()

# muster_embed(ASSEMBLY SYMBOL FOLDER FILE...): writes the list as SYMBOL. Its rows are file, element type, architecture
# (90 for sm_90), address and length of the PTX, 64 bits each; the last row is zeros. Of each FILE.cu in FOLDER these
# variables say more:
#   kernels_FILE        its element types (none: it has none)
#   kernels_FILE_archs  architectures
#   kernels_FILE_isa    the ISA version that it needs beyond its architectures' (63 for 6.3)
#   kernels_FILE_nvcc   true: it includes headers of the CUDA toolkit, and is left out where nvcc is missing
function(muster_embed assembly symbol folder)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/ptx")
  file(MAKE_DIRECTORY "${output}")
  set(data "")
  set(list "")
  set(all "")
  foreach(file IN LISTS ARGN)
    set(archs ${kernels_${file}_archs})
    set(isa 60)
    if(DEFINED kernels_${file}_isa)
      set(isa ${kernels_${file}_isa})
    endif()
    if(MUSTER_CLANG AND NOT kernels_${file}_nvcc)
      set(compiler clang)
    elseif(MUSTER_NVCC)
      set(compiler nvcc)
      list(TRANSFORM archs REPLACE "^(60|70)$" 75) # the oldest that it knows
      list(REMOVE_DUPLICATES archs)
    else()
      message(WARNING "no compiler for the kernels of ${file}.cu: they are left out")
      continue()
    endif()
    foreach(elem IN LISTS kernels_${file})
      foreach(arch IN LISTS archs)
        set(id "${file}_${elem}_${arch}")
        set(ptx "${output}/${file}.${elem}.sm_${arch}.ptx")
        muster_kernel("${ptx}" "${folder}/${file}.cu" ${elem} ${arch} ${compiler} ${isa})
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
.globl @symbol@
.hidden @symbol@
@symbol@:
@list@.quad 0, 0, 0, 0, 0
.section .note.GNU-stack, \"\", %progbits
" @ONLY)
  set_source_files_properties("${assembly}" PROPERTIES OBJECT_DEPENDS "${all}")
endfunction()
