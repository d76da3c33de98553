# man.sh: the man page, from the tables of the command. Sourced by ./dev: man_page writes it for ./dev docs, and
# lint_man compares.
man_page() { build/tool/muster_man; }
lint_man() { man_page | cmp - doc/muster.1; }
