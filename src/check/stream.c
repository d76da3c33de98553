/* stream.c: the order of launches, copies and the host, by streams, events and waits: what race-launch asks.
 *
 * Order is fixed when the host issues something. A stream's clock says, for each stream, how many pieces of
 * its work come before the stream's next; a piece of work keeps the clock it was issued with. The host has a
 * clock too, which grows when it waits, and which whatever it issues afterwards begins with. All host threads
 * count as one: what they agree upon among themselves is not seen, and no order is denied for that.
 *
 * Invariant: works are kept in the order of their numbers; a work is forgotten once the host has waited for
 * it before everything was issued that has not begun yet.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

typedef struct entry {
  uint64_t stream, count; /* so many works of that stream come before */
} entry;

/* Shared: whoever changes one that others use makes a copy. */
typedef struct clock {
  uint32_t users, n, capacity;
  entry entries[]; /* by stream */
} clock;

typedef struct line {
  uint64_t stream, device;
  uint64_t works;
  clock *clock; /* of other streams; NULL: nothing */
  bool polls;   /* it waits for words of memory, which nobody follows */
} line;

typedef struct work {
  uint64_t number, stream, index; /* index: in its stream, from 1 */
  uint64_t floor;                 /* all works up to this number come before */
  clock *clock;
  bool polls, begun;
} work;

typedef struct record {
  uint64_t number, stream, count;
  clock *clock;
} record;

typedef struct started {
  uint64_t launch, number;
} started;

typedef struct stream {
  check *check;
  line *lines; /* by stream */
  uint32_t n_lines, cap_lines;
  work *works; /* by number */
  uint32_t n_works, cap_works;
  uint32_t waited; /* works before this one, in that order, the host has waited for */
  uint64_t floor;  /* number of the last of them */
  uint64_t gone;   /* works up to this number come before everything that has not begun */
  record *records;
  uint32_t n_records, cap_records;
  started *launches; /* by id */
  uint32_t n_launches, cap_launches;
  clock *host;
  bool failed; /* out of memory: no order is denied any more */
} stream;

/* ------------------------------------------------------------------ clocks */

static clock *hold(clock *c) {
  if (c)
    c->users++;
  return c;
}

static void drop(clock *c) {
  if (c && --c->users == 0)
    free(c);
}

static uint32_t place_of(const clock *c, uint64_t stream) {
  uint32_t low = 0, high = c ? c->n : 0;
  while (low < high) {
    uint32_t mid = (low + high) / 2;
    if (c->entries[mid].stream < stream)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static uint64_t count_of(const clock *c, uint64_t stream) {
  uint32_t i = place_of(c, stream);
  return c && i < c->n && c->entries[i].stream == stream ? c->entries[i].count : 0;
}

/* At least `count` works of the stream come before. */
static void raise_to(stream *s, clock **at, uint64_t of, uint64_t count) {
  clock *c = *at;
  uint32_t i = place_of(c, of);
  bool there = c && i < c->n && c->entries[i].stream == of;
  if (!count || (there && c->entries[i].count >= count))
    return;
  if (!c || c->users > 1 || (!there && c->n == c->capacity)) {
    uint32_t n = c ? c->n : 0, capacity = n < 4 ? 4 : n * 2;
    clock *grown = malloc(sizeof *grown + capacity * sizeof grown->entries[0]);
    if (!grown) {
      s->failed = true;
      return;
    }
    *grown = (clock){1, n, capacity};
    if (n)
      memcpy(grown->entries, c->entries, n * sizeof grown->entries[0]);
    drop(c);
    *at = c = grown;
  }
  if (!there) {
    memmove(&c->entries[i + 1], &c->entries[i], (c->n - i) * sizeof c->entries[0]);
    c->n++;
  }
  c->entries[i] = (entry){of, count};
}

static void join(stream *s, clock **at, const clock *other) {
  if (!*at && other) {
    *at = hold((clock *)(uintptr_t)other);
    return;
  }
  for (uint32_t i = 0; other && *at != other && i < other->n; i++)
    raise_to(s, at, other->entries[i].stream, other->entries[i].count);
}

/* ------------------------------------------------------------------ streams */

static line *line_of(stream *s, uint64_t number) {
  uint32_t low = 0, high = s->n_lines;
  while (low < high) {
    uint32_t mid = (low + high) / 2;
    if (s->lines[mid].stream < number)
      low = mid + 1;
    else
      high = mid;
  }
  if (low < s->n_lines && s->lines[low].stream == number)
    return &s->lines[low];
  if (!BASE_ROOM(s->lines, s->n_lines, s->cap_lines))
    return NULL;
  memmove(&s->lines[low + 1], &s->lines[low], (s->n_lines - low) * sizeof *s->lines);
  s->n_lines++;
  s->lines[low] = (line){.stream = number};
  return &s->lines[low];
}

static bool before_host(const stream *s, const work *w) {
  return count_of(s->host, w->stream) >= w->index;
}

/* The host has waited: its clock may have passed more works, and none of those that it passed before the rest
 * was issued, that has not begun, can be asked for again. */
static void host_waited(stream *s) {
  for (; s->waited < s->n_works && before_host(s, &s->works[s->waited]); s->waited++)
    s->floor = s->works[s->waited].number;
  uint64_t least = s->floor;
  for (uint32_t i = s->waited; i < s->n_works; i++)
    if (!s->works[i].begun && !before_host(s, &s->works[i])) {
      least = s->works[i].floor; /* floors only grow */
      break;
    }
  s->gone = least;
  uint32_t gone = 0;
  while (gone < s->waited && s->works[gone].number <= least)
    drop(s->works[gone++].clock);
  if (gone > 0)
    memmove(s->works, s->works + gone, (s->n_works - gone) * sizeof *s->works);
  s->n_works -= gone, s->waited -= gone;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->n_records; i++) /* who waits for such a one from now on waits for nothing */
    if (count_of(s->host, s->records[i].stream) >= s->records[i].count)
      drop(s->records[i].clock);
    else
      s->records[kept++] = s->records[i];
  s->n_records = kept;
}

static void host_joins(stream *s, const line *l) {
  raise_to(s, &s->host, l->stream, l->works);
  join(s, &s->host, l->clock);
}

static void add_work(stream *s, line *l, uint64_t device, uint64_t number) {
  if (!BASE_ROOM(s->works, s->n_works, s->cap_works)) {
    s->failed = true;
    return;
  }
  l->device = device;
  join(s, &l->clock, s->host);
  s->works[s->n_works++] = (work){number, l->stream, ++l->works, s->floor, hold(l->clock), l->polls, false};
}

static void add_record(stream *s, const line *l, uint64_t number) {
  if (!BASE_ROOM(s->records, s->n_records, s->cap_records)) {
    s->failed = true;
    return;
  }
  s->records[s->n_records++] = (record){number, l->stream, l->works, hold(l->clock)};
}

static const record *find_record(const stream *s, uint64_t number) {
  for (uint32_t i = s->n_records; i-- > 0;)
    if (s->records[i].number == number)
      return &s->records[i];
  return NULL;
}

static void edge(stream *s, const sim_event *e) {
  uint64_t of = e->stream.stream, other = e->stream.other, id = e->stream.id;
  const line *b;
  const record *r;
  line *l;
  if (e->stream.what == SIM_EDGE_JOIN) /* first: the list of streams may move */
    line_of(s, other);
  if (!(l = line_of(s, of))) {
    s->failed = true;
    return;
  }
  switch ((sim_edge)e->stream.what) {
  case SIM_EDGE_WORK:
    add_work(s, l, other, id);
    break;
  case SIM_EDGE_JOIN:
    if (!(b = line_of(s, other)))
      break;
    raise_to(s, &l->clock, b->stream, b->works);
    join(s, &l->clock, b->clock);
    l->polls |= b->polls;
    break;
  case SIM_EDGE_RECORD:
    add_record(s, l, id);
    break;
  case SIM_EDGE_WAIT:
    if ((r = find_record(s, id)) != NULL) {
      raise_to(s, &l->clock, r->stream, r->count);
      join(s, &l->clock, r->clock);
    } else {
      join(s, &l->clock, s->host);
    }
    break;
  case SIM_EDGE_WAIT_VALUE:
    l->polls = true;
    break;
  case SIM_EDGE_STREAM_SYNC:
    host_joins(s, l);
    host_waited(s);
    break;
  case SIM_EDGE_DEVICE_SYNC:
    for (uint32_t i = 0; i < s->n_lines; i++)
      if (s->lines[i].device == other)
        host_joins(s, &s->lines[i]);
    host_waited(s);
    break;
  case SIM_EDGE_EVENT_SYNC:
    if ((r = find_record(s, id)) != NULL) {
      raise_to(s, &s->host, r->stream, r->count);
      join(s, &s->host, r->clock);
      host_waited(s);
    }
    break;
  }
}

/* ------------------------------------------------------------------ questions */

static work *work_of(const stream *s, uint64_t number) {
  for (uint32_t low = 0, high = s->n_works; low < high;) {
    uint32_t mid = (low + high) / 2;
    if (s->works[mid].number == number)
      return &s->works[mid];
    if (s->works[mid].number < number)
      low = mid + 1;
    else
      high = mid;
  }
  return NULL;
}

static uint64_t number_of(const stream *s, uint64_t id) {
  if (id & CHECK_COPY)
    return id & ~CHECK_COPY;
  for (uint32_t low = 0, high = s->n_launches; low < high;) {
    uint32_t mid = (low + high) / 2;
    if (s->launches[mid].launch == id)
      return s->launches[mid].number;
    if (s->launches[mid].launch < id)
      low = mid + 1;
    else
      high = mid;
  }
  return 0;
}

bool check_launch_before(check *c, uint64_t a, uint64_t b) {
  const stream *s = c->parts[CHECK_PART_stream];
  uint64_t x = number_of(s, a), y = number_of(s, b);
  const work *before = work_of(s, x), *after = work_of(s, y);
  if (a == b || s->failed || !x || !y || !before || !after || x <= after->floor)
    return true; /* issued by something that tells no order, or long over */
  if (before->stream == after->stream ? before->index < after->index
                                      : count_of(after->clock, before->stream) >= before->index)
    return true;
  if (!before->polls && !after->polls)
    return false;
  check_unjudged(
      c, "streams wait for words of memory (cuStreamWaitValue): the order this makes is not followed");
  return true;
}

bool check_launch_over(check *c, uint64_t id) {
  const stream *s = c->parts[CHECK_PART_stream];
  return s->failed || number_of(s, id) <= s->gone;
}

/* ------------------------------------------------------------------ the part */

static void *new(check *c) {
  return check_part_new(c, sizeof(stream));
}

static void end(void *part) {
  stream *s = part;
  if (!s)
    return;
  for (uint32_t i = 0; i < s->n_lines; i++)
    drop(s->lines[i].clock);
  for (uint32_t i = 0; i < s->n_works; i++)
    drop(s->works[i].clock);
  for (uint32_t i = 0; i < s->n_records; i++)
    drop(s->records[i].clock);
  drop(s->host);
  free(s->lines);
  free(s->works);
  free(s->records);
  free(s->launches);
  free(s);
}

static void begins(stream *s, uint64_t number) {
  work *w = work_of(s, number);
  if (w)
    w->begun = true;
}

static void launched(stream *s, uint64_t launch, uint64_t number) {
  if (!number) /* it was not issued: another schedule of one that was */
    return;
  if (!BASE_ROOM(s->launches, s->n_launches, s->cap_launches)) {
    s->failed = true;
    return;
  }
  s->launches[s->n_launches++] = (started){launch, number};
  begins(s, number);
}

static sim_answer event(void *user, const sim_event *e) {
  stream *s = user;
  if (e->kind == SIM_EVENT_LAUNCH)
    launched(s, e->who.launch, e->launch.launch->order);
  else if (e->kind == SIM_EVENT_HOST_COPY)
    begins(s, e->memory.order);
  else if (e->kind == SIM_EVENT_STREAM)
    edge(s, e);
  return SIM_GO_ON;
}

const check_part check_part_stream = {.name = "stream",
                                      .watch = 0,
                                      .takes =
                                          CHECK_TAKES(LAUNCH) | CHECK_TAKES(HOST_COPY) | CHECK_TAKES(STREAM),
                                      .new = new,
                                      .free = end,
                                      .event = event};
