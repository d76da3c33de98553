# docs.sh: the documents that are generated, each from its table. Sourced by ./dev.

generated_documents() { say README.md doc/tour.md doc/tour.zh.md doc/muster.1 doc/rules.md doc/cuda-runtime.md doc/ptx-support.md; }

write_document() { # write_document DOCUMENT: to standard output
  case "$1" in
  README.md) readme ;;
  doc/tour.md) tour_markdown en ;;
  doc/tour.zh.md) tour_markdown zh ;;
  doc/muster.1) man_page ;;
  doc/rules.md) sh mk/rules_doc.sh ;;
  doc/cuda-runtime.md) sh mk/runtime_doc.sh ;;
  doc/ptx-support.md) sh mk/ptx_doc.sh ;;
  esac
}

# README.md with each example between `<!-- FILE -->` and `<!-- end -->` as the file is now.
readme() {
  awk '
    !inside { print }
    /^<!-- end -->$/ { if (inside) print; inside = 0 }
    /^<!-- examples\/.* -->$/ {
      inside = 1
      print "```c"
      while ((getline line < $2) > 0) print line
      close($2)
      print "```"
    }' README.md
}
