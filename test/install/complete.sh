#!/bin/sh
# complete.sh bash|zsh|fish SCRIPT BIN: what the shell offers after the words of a command line, from SCRIPT alone.
set -u
shell=$1 script=$2 bin=$3
command -v "$shell" >/dev/null || { echo "no $shell"; exit 77; }
PATH=$bin:$PATH
export PATH
wrong=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# offered WORD...: a line for each completion of the last word.
case $shell in
bash)
  offered() {
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _muster; printf "%s\n" "${COMPREPLY[@]}"' "$script" "$@"
  }
  ;;
fish)
  offered() {
    line=$*
    # shellcheck disable=SC2016 # fish's variables
    HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$script" "$line" | cut -f 1
  }
  ;;
zsh) # a terminal is what its completion wants; compadd says what it is given
  mkdir "$work/fpath"
  cp "$script" "$work/fpath/_muster"
  cat >"$work/offered" <<'ZSH'
zmodload zsh/zpty
zpty run zsh -f
line=$1
zpty -w run "PS1=; fpath=($2 \$fpath); autoload -U compinit; compinit -D -u; LISTMAX=10000; COLUMNS=500"
zpty -w run 'zstyle ":completion:*" list-packed false; zstyle ":completion:*" verbose false; unsetopt menucomplete automenu; setopt nolistpacked'
zpty -w run 'compadd() { if [[ ${@[(I)-[OAD]]} -gt 0 ]]; then builtin compadd "$@"; return; fi; local -a got; builtin compadd -A got "$@"; print -l "<" $got ">" >>$HOME/got; builtin compadd "$@" }'
zpty -w run 'offer() { zle complete-word; print >$HOME/done }; zle -N offer; bindkey "^I" offer; print REA""DY'
zpty -r run all '*READY*'
zpty -w -n run "$line"$'\t'
for ((i = 0; i < 2000; i++)); do [[ -e $HOME/done ]] && break; sleep 0.01; done
zpty -d run
ZSH
  offered() {
    line=$*
    rm -f "$work/got" "$work/done"
    HOME=$work zsh -f "$work/offered" "$line" "$work/fpath" >/dev/null 2>&1
    grep -v '^[<>]$' "$work/got" 2>/dev/null
  }
  ;;
esac

# want WORD WORD...: after these words, the last is among what is offered for the one before it.
want() {
  expected=$1
  shift
  offered "$@" >"$work/said"
  grep -qxF -e "$expected" "$work/said" || { echo "$shell: after '$*' no $expected but: $(tr '\n' ' ' <"$work/said")"; wrong=1; }
}
never() {
  unwanted=$1
  shift
  offered "$@" >"$work/said"
  if grep -qxF -e "$unwanted" "$work/said"; then echo "$shell: after '$*' $unwanted"; wrong=1; fi
}

# every command that --help knows
for command in $(muster --help | awk '/^  muster / { print $2 }'); do
  want "$command" muster ""
  # every option that its own --help knows
  offered muster "$command" -- | sed 's/=$//' >"$work/options" # zsh's say that a value follows
  for option in $(muster "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
    grep -qxF -e "$option" "$work/options" || { echo "$shell: muster $command does not offer $option"; wrong=1; }
  done
done
never --schedules muster run --
want compensated muster reduce --mode ""
# bash takes --name=VALUE apart
[ "$shell" != bash ] || want compensated muster reduce --mode = ""
[ "$shell" != bash ] || want compensated muster reduce --mode =
[ "$shell" != bash ] || want compensated muster reduce --mode = com
[ "$shell" != fish ] || want --mode=compensated muster reduce --mode=com
[ "$shell" != zsh ] || want compensated muster reduce --mode=com
want argmax muster reduce --op a
never argmax muster reduce --op s
want sarif muster check --format ""
want h200 muster run --gpu h
exit $wrong
