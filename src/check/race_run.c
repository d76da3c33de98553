/* race_run.c: whole warps of a block, one behind the other, at lines one behind the other, each at one of its
 * own: what gangs of warps do to arrays. A run is one record, in the first of its lines; what differs from
 * line to line, a hash of what was stored, stands in the page. So a block touches a few words where it would
 * touch each line. Whoever asks for one of the lines finds records as if there had been no run
 * (race_shadow_peek).
 */
#include "check/race.h"

static inline uint32_t lines_from(uint32_t first, uint32_t n) {
  return (n < 32 ? (UINT32_C(1) << n) - 1 : UINT32_MAX) << first;
}

void race_run_value(race_page *p, uint32_t k, const race_record *rec) {
  p->value[k] = rec->value;
  p->one_value &= ~(UINT32_C(1) << k);
  p->one_value |= (uint32_t)(rec->flags & RACE_ONE_VALUE ? 1 : 0) << k;
}

/* The lines have one record each, and these say what a run would. */
static bool are_alike(const race_page *p, uint32_t first, uint32_t n, const race_record *like) {
  const race_record *head = p->lines[first].records;
  for (uint32_t i = 0; i < n; i++) {
    const race_line *l = &p->lines[first + i];
    const race_record *rec = l->records;
    if (l->n != 1 || !race_line_is_plain(l) || rec->block != head->block || rec->time != head->time ||
        rec->site != head->site || rec->epoch != head->epoch || rec->warp != head->warp + i ||
        rec->lanes != UINT32_MAX || rec->base || rec->stride != like->stride || rec->bytes != like->bytes ||
        rec->level != head->level || (rec->flags ^ head->flags) & ~RACE_ONE_VALUE ||
        rec->flags & (RACE_STRONG | RACE_IN_ASYNC | RACE_PROXY))
      return false;
  }
  return true;
}

race_record *race_run_at(race_page *p, uint32_t first, uint32_t n, const race_record *like) {
  uint32_t lines = lines_from(first, n);
  race_line *head = &p->lines[first];
  if (p->heads >> first & 1 && head->run == n)
    return &head->one;
  for (uint32_t left; (left = p->runs & lines) != 0;)
    race_run_end(p, (uint32_t)__builtin_ctz(left));
  bool empty = true;
  for (uint32_t i = 0; i < n && empty; i++)
    empty = race_line_is_plain(&p->lines[first + i]) && !p->lines[first + i].n;
  if (!empty && !are_alike(p, first, n, like))
    return NULL;
  race_record one = empty ? (race_record){0} : *head->records;
  for (uint32_t i = 0; i < n; i++) {
    if (!empty)
      race_run_value(p, first + i, p->lines[first + i].records);
    p->lines[first + i].n = 0;
  }
  head->one = one;
  head->run = (uint8_t)n;
  p->heads |= UINT32_C(1) << first;
  p->runs |= lines;
  return &head->one;
}

void race_run_put(race_page *p, uint32_t first, const race_record *rec) {
  p->lines[first].one = *rec;
  p->lines[first].one.flags &= (uint8_t)~RACE_ONE_VALUE;
}

void race_run_end(race_page *p, uint32_t k) {
  uint32_t first = 31u - (uint32_t)__builtin_clz(p->heads & lines_from(0, k + 1));
  race_line *head = &p->lines[first];
  race_record rec = head->one;
  uint32_t n = head->run;
  bool forgot = false;
  head->run = 0;
  p->heads &= ~(UINT32_C(1) << first);
  p->runs &= ~lines_from(first, n);
  for (uint32_t i = 0; i < n && rec.lanes; i++, rec.warp++) {
    if (rec.flags & RACE_WRITES) { /* reads stored nothing, and what stands there is another's */
      rec.value = p->value[first + i];
      rec.flags &= (uint8_t)~RACE_ONE_VALUE;
      rec.flags |= p->one_value >> (first + i) & 1 ? RACE_ONE_VALUE : 0;
    }
    race_line_add(&p->lines[first + i], &rec, &forgot); /* it has room: it is the only one */
  }
}
