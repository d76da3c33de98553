# man.sh: the man page, from the tables of the command. Sourced by ./dev, whose docs and lint call it.
man_page() { build/tool/muster_man; }
