# compare.awk PROGRAMS EXPECTED NOW: whether the mutants NOW of the PROGRAMS are those EXPECTED, with such verdicts.
# What is found has one rule of those expected at least; what has a reason (same, missed) survived; of what is missed it
# may be said that it could not be judged.
function wrong(what) {
  print what
  failed = 1
}
function agrees(expected, now, n, i, rules) {
  if (expected ~ /^(same|missed) /)
    return now == "survived" || (expected ~ /^missed / && now == "inconclusive")
  if (expected !~ /^found /)
    return now == expected
  n = split(expected, rules, " ")
  for (i = 2; i <= n; i++)
    if (now ~ /^found / && index(now " ", " " rules[i] " "))
      return 1
  return 0
}
FILENAME == ARGV[1] { asked[$1] = 1; next }
FILENAME == ARGV[2] {
  if ($0 !~ /^#/ && $1 in asked)
    expected[$1 FS $2] = $4
  next
}
{
  key = $1 FS $2
  if (!(key in expected))
    wrong("not in mutants.tsv: " $1 ": " $2 ": " $4)
  else if (!agrees(expected[key], $4))
    wrong($1 ": " $2 ": " $4 "; should be: " expected[key])
  delete expected[key]
  count++
}
END {
  for (key in expected)
    wrong("no longer a mutant: " key)
  print count " mutants"
  exit failed
}
