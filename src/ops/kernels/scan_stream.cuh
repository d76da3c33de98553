// scan_stream.cuh: the scan in one shape where warps can hand memory to each other, from 8.0 on: a block for
// each multiprocessor, which takes tile after tile. So that loading, looking back and storing of different
// tiles go on at the same time, each has warps of its own, and tiles lie in a ring of slots in shared memory:
//
//   the drawer     draws the next tile's ticket, waits until the slot is free, has the tile copied into it
//   the workers    (THREADS of them) add a tile up in place: every element becomes the sum of its warp's up
//                  to there. Then they write the tile of `late` steps before, with what is before it
//   the teller     tells a tile's sum, as soon as the workers have it
//   the lookers    look back for what is before a tile, in turns; slow, but `late` steps have time for it
//
// A block's tiles come in order, and a tile waits only for sums of those before it, the telling of which only
// waits for earlier tiles of their blocks: nobody waits for a later one, nor for a block that has not begun.
//
// The bits are those of the kernel for devices before 8.0, which has the same tiles.

#define WORKERS (THREADS / 32)
enum { TILE_VECTORS = THREADS * ROWS };

// Of a slot, behind all slots. Each hands its memory on to the next.
typedef struct {
  mu_u64 filled, summed, preceded, emptied;
  mu_u32 tile, turn; // which; from the number of tiles on: there are no more
  carry of_warp[WORKERS], before_warp[WORKERS];
} slot_state;
MU_STATIC_ASSERT(sizeof(slot_state) + TILE_VECTORS * 16 <= OPS_SCAN_SLOT_BYTES, "the host gives so much");

typedef struct {
  const elem *x;
  mu_u64 n;
  elem *out;
  mu_u64 *turns;
  told_sum *told, *groups, *fields;
  mu_u32 slots, late, exclusive;
  mu_u32 tiles;
  mu_b128 *vectors;   // of all slots
  slot_state *states; // of each
} stream;

MU_FN mu_u32 stream_whole(const stream *s, mu_u32 tile) {
  return is_aligned(s->x) && (tile + 1) * (mu_u64)TILE_VECTORS <= s->n / LANES;
}

// Waits until the next tile is in its slot: 1, or 0 behind the last tile.
MU_FN mu_u32 stream_next(const stream *s, ring_cursor at) {
  slot_state *slot = s->states + at.place;
  handoff_wait(&slot->filled, at.parity);
  return slot->tile < s->tiles;
}

MU_FN void stream_draw(const stream *s, const mu_tile *warp) {
  ring_cursor at = {0, 0};
  mu_u32 filled = 0, tile;
  do {
    turn_ticket ticket = {0, 0};
    slot_state *slot = s->states + at.place;
    if (mu_tile_leads(warp))
      ticket = turn_take(s->turns, s->tiles + mu_grid_blocks_x()); // each block draws one that is too high
    tile = mu_lane_shuffle_u32(warp->mask, ticket.place, 0);
    if (filled++ >= s->slots)
      handoff_wait(&slot->emptied, at.parity ^ 1);
    if (mu_tile_leads(warp)) {
      slot->tile = tile;
      slot->turn = ticket.turn;
    }
    mu_tile_sync(warp);
    handoff_copy(warp, s->vectors + at.place * TILE_VECTORS, s->x + tile * (mu_u64)(TILE_VECTORS * LANES),
                 tile < s->tiles && stream_whole(s, tile) ? TILE_VECTORS : 0, &slot->filled);
    ring_next(&at, s->slots);
  } while (tile < s->tiles);
}

// What the warps before each lane's warp add up to; in the last lane all of them.
MU_FN carry stream_sums(const slot_state *slot, const mu_tile *warp) {
  return OF_WARP(scan_incl_add, CARRY)(warp, mu_lane() < WORKERS ? slot->of_warp[mu_lane()] : 0);
}

MU_FN void stream_tell(const stream *s, const mu_tile *warp) {
  ring_cursor at = {0, 0};
  while (stream_next(s, at)) {
    slot_state *slot = s->states + at.place;
    handoff_wait(&slot->summed, at.parity);
    carry upto = stream_sums(slot, warp);
    if (mu_lane() == 31)
      tile_tell(s->told, slot->tile, slot->turn, upto);
    handoff_arrive_warp(warp, &slot->emptied);
    ring_next(&at, s->slots);
  }
}

MU_FN void stream_look(const stream *s, const mu_tile *warp, mu_u32 looker) {
  ring_cursor at = {0, 0};
  mu_u32 whose = 0;
  while (stream_next(s, at)) {
    slot_state *slot = s->states + at.place;
    if (whose == looker) {
      handoff_wait(&slot->summed, at.parity);
      carry upto = stream_sums(slot, warp), left = OF_WARP(shuffle_up, CARRY)(warp, upto, 1),
            all = OF_WARP(shuffle_from, CARRY)(warp, upto, 31);
      carry past = look_back(s->told, s->groups, s->fields, slot->tile, slot->turn, all);
      if (mu_lane() < WORKERS)
        slot->before_warp[mu_lane()] = past + (mu_lane() ? left : 0);
      handoff_arrive_warp(warp, &slot->preceded);
    }
    handoff_arrive_warp(warp, &slot->emptied);
    whose = whose + 1 == OPS_SCAN_LOOKERS ? 0 : whose + 1;
    ring_next(&at, s->slots);
  }
}

MU_FN mu_b128 *stream_vector(const stream *s, ring_cursor at, mu_u32 row) {
  return s->vectors + at.place * TILE_VECTORS + OF_SHAPE(vector_at)(0, row);
}

MU_FN void stream_sum(const stream *s, const mu_tile *warp, ring_cursor at) {
  slot_state *slot = s->states + at.place;
  mu_b128 v[ROWS];
  near_type before[ROWS];
  mu_u32 tile = slot->tile;
  if (stream_whole(s, tile)) {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] = *stream_vector(s, at, row);
  } else {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] =
        vector_up_to(s->x, s->n, OF_SHAPE(vector_at)(tile, row));
  }
  near_type sum = OF_SHAPE(rows_sum)(warp, v, before);
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) * stream_vector(s, at, row) =
      vector_sums(v[row], before[row], s->exclusive);
  if (mu_tile_leads(warp))
    slot->of_warp[mu_thread_x() / 32] = (carry)sum;
  handoff_arrive_warp(warp, &slot->summed);
}

MU_FN void stream_write(const stream *s, const mu_tile *warp, ring_cursor at) {
  slot_state *slot = s->states + at.place;
  mu_b128 v[ROWS];
  handoff_wait(&slot->preceded, at.parity);
  near_type base = (near_type)slot->before_warp[mu_thread_x() / 32];
  mu_u32 tile = slot->tile, whole = stream_whole(s, tile) && is_aligned(s->out);
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] = *stream_vector(s, at, row);
  handoff_arrive_warp(warp, &slot->emptied);
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++)
      OF_SHAPE(row_write)(s->out, s->n, tile, row, vector_plus(base, v[row]), whole);
}

MU_FN void stream_work(const stream *s, const mu_tile *warp) {
  ring_cursor at = {0, 0}, writing = {0, 0};
  mu_u32 step = 0, more = 1, written = 0;
  while (more || written < step) {
    more = more && stream_next(s, at);
    if (more) {
      stream_sum(s, warp, at);
      ring_next(&at, s->slots);
      step++;
    }
    if (written < step && (!more || step - written > s->late)) {
      stream_write(s, warp, writing);
      ring_next(&writing, s->slots);
      written++;
    }
  }
}

MU_FN void OF_SHAPE(scan_streamed)(stream s) {
  MU_SHARED_DYNAMIC mu_b128 dynamic[];
  mu_tile warp = mu_tile_mask(0xffffffffu);
  mu_u32 role = mu_thread_x() < THREADS ? 0 : mu_thread_x() / 32 - WORKERS + 1;
  s.vectors = (mu_b128 *)dynamic;
  s.states = (slot_state *)(void *)(s.vectors + s.slots * TILE_VECTORS);
  s.tiles = (mu_u32)((s.n + (TILE_VECTORS * LANES - 1)) / (TILE_VECTORS * LANES));
  if (mu_thread_x() < s.slots) {
    slot_state *slot = s.states + mu_thread_x();
    handoff_init(&slot->filled, HANDOFF_COPY_ARRIVALS);
    handoff_init(&slot->summed, WORKERS);
    handoff_init(&slot->preceded, 1);
    handoff_init(&slot->emptied, WORKERS + 1 + OPS_SCAN_LOOKERS);
  }
  mu_block_sync();
  if (role == 0)
    stream_work(&s, &warp);
  else if (role == 1)
    stream_draw(&s, &warp);
  else if (role == 2)
    stream_tell(&s, &warp);
  else
    stream_look(&s, &warp, role - 3);
}

#define STREAMED(kind, is_exclusive)                                                                     \
  MU_KERNEL MU_BOUNDS(THREADS + 32 * OPS_SCAN_HELPERS, RESIDENT) NAME(scan_##kind##_sum_streamed, ELEM)( \
      const elem *x, mu_u64 n, elem *out, mu_u64 *turns, told_sum *tiles, told_sum *groups,              \
      told_sum *fields, mu_u32 slots, mu_u32 late) {                                                     \
    stream s = {x, n, out, turns, tiles, groups, fields, slots, late, is_exclusive, 0, 0, 0};            \
    OF_SHAPE(scan_streamed)(s);                                                                          \
  }
STREAMED(inclusive, 0)
STREAMED(exclusive, 1)

#undef STREAMED
#undef WORKERS
