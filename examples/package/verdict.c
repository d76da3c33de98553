/* verdict.c: reads reports that `muster check --format json:FILE` wrote and says what they say together. */
#include <muster/check.h>

#include <stdlib.h>

static char *read_all(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = NULL;
  *bytes = 0;
  for (size_t room = 0, n = 1; n > 0; *bytes += n) {
    if (*bytes == room && !(text = realloc(text, room = 2 * room + 4096)))
      break;
    n = fread(text + *bytes, 1, room - *bytes, file);
  }
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  muster_report *report = muster_report_new();
  for (int i = 1; report && i < argc; i++) {
    size_t bytes;
    char *error = NULL, *text = read_all(argv[i], &bytes);
    if (!text || !muster_report_merge(report, text, bytes, &error)) {
      fprintf(stderr, "verdict: %s: %s\n", argv[i], error ? error : "cannot be read");
      return 2;
    }
    free(text);
  }
  muster_verdict verdict = muster_report_verdict(report);
  printf("verdict: %s\n", muster_verdict_name(verdict));
  muster_report_free(report);
  return verdict == MUSTER_CLEAN ? 0 : 1;
}
