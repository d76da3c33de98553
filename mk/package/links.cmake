# cmake -DOUT=DIR -P links.cmake: DIR/man3/NAME.3 as a link to its page, for each line "NAME PAGE" of DIR/links, so that
# `man NAME` finds every function.
file(STRINGS "${OUT}/links" lines)
foreach(line IN LISTS lines)
  string(REPLACE " " ";" pair "${line}")
  list(GET pair 0 name)
  list(GET pair 1 page)
  if(NOT EXISTS "${OUT}/man3/${name}.3")
    file(CREATE_LINK "${page}.3" "${OUT}/man3/${name}.3" SYMBOLIC)
  endif()
endforeach()
