# Writes OUTPUT, a C file that defines bench_commit, the commit that is built, where it has changed. cmake -DOUTPUT=... -DROOT=... -P
cmake_minimum_required(VERSION 3.25)
set(commit "unknown")
find_program(git git)
if(git AND EXISTS "${ROOT}/.git")
  execute_process(COMMAND "${git}" describe --always --dirty --abbrev=7 --exclude=* WORKING_DIRECTORY "${ROOT}"
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit "${described}")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "extern const char bench_commit[];\nconst char bench_commit[] = \"@commit@\";\n" @ONLY)
