/* make_rows.c: writes one small case of run_ptx for each row of arithmetic: a kernel that applies up to 16 of
 * its spellings to 8 operands each, edges most of them, with what the oracle expects. The files are
 * committed; this makes them anew when the table has a new row.
 *
 *   make_rows DIRECTORY
 * Of an approximation the handler's answer stands there, found good by the oracle; ~2 behind it lets another
 * device be two steps away from it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"

enum { THREADS = 8, MOST = 12, ALL = 8192 };

static spell found[ALL];
static unsigned n_found;
static const char *row;

/* Scalar video instructions that combine with c or saturate: PTX and GPUs disagree about overflow there. */
static bool is_wanted(const spell *s) {
  const ptx_form_info *f = ptx_form_get(s->form);
  bool scalar = strcmp(ptx_op_get(f->op)->class, "video") == 0 && strchr(f->operands, 'v');
  bool unclear = strstr(s->name, ".sat") || strstr(s->name, ".min") || strstr(s->name, ".max");
  return f->sm <= 90 && !f->arch_specific && !(scalar && unclear);
}
static void gather(const spell *s, void *data) {
  (void)data;
  if (is_wanted(s) && strcmp(ptx_op_get(ptx_form_get(s->form)->op)->row, row) == 0 && n_found < ALL)
    found[n_found++] = *s;
}

static const uint32_t exact_f32[] = {0x00000000, 0x80000000, 0x3f800000, 0x40800000, 0x3e800000, 0x7f800000,
                                     0xff800000, 0x7fc00000, 0x41800000, 0x4b800000, 0x7fffffff, 0x3d800000,
                                     0x43800000, 0x4d800000, 0x00000000, 0x3f800000};
static const uint32_t exact_f16[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7fff, 0x0000};
static const uint32_t exact_bf16[] = {0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7fff, 0x0000};

static uint64_t exact_operand(const spell *s, unsigned lane, unsigned k) {
  bool circle = strncmp(s->name, "sin", 3) == 0 || strncmp(s->name, "cos", 3) == 0;
  bool limits = strncmp(s->name, "tanh", 4) == 0;
  static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0x7fffffff, 0,          0x80000000};
  static const uint64_t special_f64[] = {0,
                                         0x8000000000000000,
                                         0x7ff0000000000000,
                                         0xfff0000000000000,
                                         0x3ff0000000000000,
                                         0x4010000000000000,
                                         0x3fd0000000000000,
                                         0x4030000000000000};
  switch (s->in[k]) {
  case PTX_F64:
    return special_f64[lane % 8];
  case PTX_F16:
  case PTX_F16X2:
    return exact_f16[lane % 8] | (s->in[k] == PTX_F16X2 ? exact_f16[(lane + 3) % 8] << 16 : 0);
  case PTX_BF16:
  case PTX_BF16X2:
    return exact_bf16[lane % 8] | (s->in[k] == PTX_BF16X2 ? exact_bf16[(lane + 3) % 8] << 16 : 0);
  default:
    return circle || limits ? special[lane % 8] : exact_f32[(lane + 5 * k) % 16];
  }
}

static bool write_row(const char *directory) {
  char path[4096];
  base_text head = {0}, table = {0}, code = {0};
  unsigned isa = 80, n_words = 0, out_bytes = 0, n = n_found < MOST ? n_found : MOST;
  snprintf(path, sizeof path, "%s/%s.ptx", directory, row);
  const ptx_op_info *op = ptx_op_get(ptx_form_get(found[0].form)->op);
  base_putf(&head, "// %s: %s\n// launch: k 1 %d\n", op->name, op->meaning, THREADS);
  base_text outs = {0};
  unsigned written = 0;
  for (unsigned m = 0; m < n; m++) {
    const spell *s = &found[n == n_found ? m : (uint64_t)m * n_found / n];
    const ptx_form_info *f = ptx_form_get(s->form);
    arith a;
    if (!arith_open(&a, s)) {
      arith_close(&a);
      continue;
    }
    isa = f->isa > isa ? f->isa : isa;
    base_putf(
        &code,
        "  // %s\n  mov.u64 %%in, in;\n  mad.wide.u32 %%in, %%i, %u, %%in;\n  add.u64 %%in, %%in, %u;\n",
        s->name, 8 * a.s.n_in, 8 * n_words);
    base_putf(
        &code,
        "  ld.param.u64 %%out, [to];\n  mad.wide.u32 %%out, %%i, %u, %%out;\n  add.u64 %%out, %%out, %u;\n",
        8 * a.s.n_out, out_bytes);
    spell_scope(&a.s, &code);
    base_putf(&outs, "// out: 0 b64@%u", out_bytes);
    for (unsigned lane = 0; lane < THREADS; lane++) {
      bool about = false;
      uint64_t which = lane < 6 ? (lane * 137 + m * 53) % 1600 : 1600 + lane * 5 + m * 7, words[SPELL_IN];
      oracle_case c;
      arith_expect(&a, which, &c);
      for (unsigned k = 0; k < a.s.n_in; k++)
        words[k] = spell_value(&a.s, which, k);
      if (oracle_eval(&c) == ORACLE_BOUND) {
        for (unsigned k = 0; k < a.s.n_in; k++)
          words[k] = exact_operand(&a.s, lane, k);
        /* the handler's answer, which the oracle then must find good */
        const arith_level *levels;
        unsigned n_levels = arith_levels(&levels);
        while (n_levels && !levels[n_levels - 1].usable)
          n_levels--;
        arith_choose(&a, &levels[n_levels - 1]);
        for (unsigned k = 0; k < a.s.n_in; k++)
          c.in[k] = words[k], arith_put(&a, a.read[k], lane, words[k]);
        arith_run(&a, SIM_FULL, UINT32_MAX);
        c.out[0] = arith_result(&a, 0, lane);
        about = true;
        if (!oracle_within(&c, c.out[0])) {
          fprintf(stderr, "%s: %" PRIx64 " is out of bounds\n", s->name, c.out[0]);
          return false;
        }
      }
      for (unsigned k = 0; k < a.s.n_in; k++, n_words++)
        base_putf(&table, "%s0x%" PRIx64, n_words ? n_words % 8 ? ", " : ",\n  " : "", words[k]);
      for (unsigned k = 0; k < a.s.n_out; k++, out_bytes += 8) {
        uint64_t cc = c.cc_written ? c.cc_out : c.cc_in;
        base_putf(&outs, " 0x%" PRIx64 "%s", a.s.carry && k == a.s.n_out - 1 ? cc : c.out[k],
                  about ? "~2" : "");
      }
    }
    base_puts(&outs, "\n");
    written++;
    arith_close(&a);
  }
  base_putf(&head, "// arg: zero:%u\n%s", out_bytes, outs.bytes);
  spell_header(&head, isa, 90, false);
  base_putf(&head, ".global .align 8 .b64 in[%u] = {\n  %s};\n", n_words, table.bytes);
  base_putf(&head, ".visible .entry k(.param .u64 to)\n{\n%s  mov.u32 %%i, %%tid.x;\n%s  ret;\n}\n",
            SPELL_REGISTERS, code.bytes);
  FILE *file = fopen(path, "wb");
  bool good = file && fwrite(head.bytes, 1, head.length, file) == head.length;
  good = file && fclose(file) == 0 && good;
  if (!good)
    perror(path);
  base_text_free(&head);
  base_text_free(&table);
  base_text_free(&code);
  base_text_free(&outs);
  return good && written;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_rows DIRECTORY\n");
    return 2;
  }
  for (unsigned op = 0; op < PTX_OPS; op++) {
    row = ptx_op_get((ptx_op)op)->row;
    n_found = 0;
    spell_all(row, gather, NULL);
    if (n_found && !write_row(argv[1]))
      return 1;
  }
  return 0;
}
