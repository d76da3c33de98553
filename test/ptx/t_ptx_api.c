/* t_ptx_api.c: what ptx.h promises besides reading: layouts, initial bytes, laziness, threads, messages. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "ptx/ptx.h"

static int failed;

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      failed++;                                                               \
    }                                                                         \
  } while (0)

static ptx_module *read_text(const char *text) {
  return ptx_module_new("test.ptx", text, strlen(text));
}

static void test_declarations(void) {
  ptx_module *m =
      read_text(".version 8.0\n.target sm_90a, debug\n.address_size 64\n"
                ".const .align 4 .u16 c[3] = {1, 0x203};\n"
                ".global .u64 p[2] = {0, generic(c)+4};\n"
                ".extern .shared .align 16 .b8 dynamic[];\n"
                ".func f () { ret; }\n"
                ".func g ();\n"
                ".alias g, f;\n"
                ".entry k (.param .u8 a, .param .u64 .ptr .global .align 32 b, .param .align 16 .b8 c[20], "
                ".param .f32 d)\n"
                ".maxntid 128, 4\n.minnctapersm 2\n.maxnreg 64\n.reqnctapercluster 2\n{\nret;\n}\n");
  EXPECT(m && !ptx_failed(m));
  EXPECT(m->version == 80 && m->sm == 90 && m->sm_suffix == 'a' && m->debug && m->address_bits == 64);
  const ptx_var *c = &m->vars[ptx_find_var(m, "c")], *p = &m->vars[ptx_find_var(m, "p")];
  EXPECT(c->bytes == 6 && c->align == 4 && c->init_bytes == 4 && memcmp(c->init, "\1\0\3\2", 4) == 0);
  EXPECT(p->bytes == 16 && p->n_relocs == 1 && p->relocs[0].offset == 8 && p->relocs[0].addend == 4);
  EXPECT(p->relocs[0].generic && !p->relocs[0].is_func && p->relocs[0].index == ptx_find_var(m, "c"));
  const ptx_var *dynamic = &m->vars[ptx_find_var(m, "dynamic")];
  EXPECT(dynamic->unsized && dynamic->bytes == 0 && dynamic->align == 16 &&
         dynamic->linkage == PTX_LINK_EXTERN);
  EXPECT(ptx_find_var(m, "k") == PTX_NONE && ptx_find_func(m, "c") == PTX_NONE &&
         ptx_find_func(m, "nobody") == PTX_NONE);
  const ptx_func *k = &m->funcs[ptx_find_func(m, "k")];
  EXPECT(k->entry && k->n_params == 4 && k->param_bytes == 40 && k->param_align == 16);
  EXPECT(k->params[1].offset == 8 && k->params[1].is_ptr && k->params[1].ptr_align == 32);
  EXPECT(k->params[2].offset == 16 && k->params[2].bytes == 20 && k->params[3].offset == 36);
  EXPECT(k->maxntid[0] == 128 && k->maxntid[1] == 4 && k->maxntid[2] == 1 && k->minnctapersm == 2 &&
         k->maxnreg == 64);
  EXPECT(k->reqnctapercluster[0] == 2 && k->reqntid[0] == 0);
  EXPECT(ptx_func_get(m, ptx_find_func(m, "g")) == &m->funcs[ptx_find_func(m, "f")]);
  EXPECT(ptx_body_of(m, ptx_find_func(m, "g")) == ptx_body_of(m, ptx_find_func(m, "f")));
  ptx_module_free(m);
}

/* An error in one body is found when that body is asked for, and does not touch the others. */
static void test_laziness(void) {
  ptx_module *m = read_text(".version 8.0\n.target sm_80\n.address_size 64\n"
                            ".entry good () { ret; }\n.entry bad () {\n\tadd.u32 %r1, %r2, %r3;\n}\n");
  EXPECT(m && !ptx_failed(m));
  EXPECT(ptx_body_of(m, 0) && !ptx_failed(m));
  EXPECT(!ptx_body_of(m, 1) && ptx_failed(m));
  EXPECT(!ptx_body_of(m, 1) && m->diags->n_errors == 1);
  EXPECT(ptx_body_of(m, 0) && !ptx_body_of(m, 2) && !ptx_check(m));
  base_text out = {0};
  base_diags_print(m->diags, &out);
  EXPECT(out.bytes && strcmp(out.bytes, "test.ptx:6:10: error: '%r1' is not declared\n"
                                        "\tadd.u32 %r1, %r2, %r3;\n"
                                        "\t        ^\n") == 0);
  base_text_free(&out);
  ptx_module_free(m);
}

/* A version that is too new is a warning, and several errors come in one run. */
static void test_messages(void) {
  ptx_module *m = read_text(
      ".version 9.9\n.target sm_80\n.address_size 64\n.entry k () {\n\tfoo;\n\tret;\n\tbar.sync 77;\n}\n");
  EXPECT(m && !ptx_failed(m) && m->diags->n_warnings == 1);
  EXPECT(!ptx_check(m) && m->diags->n_errors == 2);
  ptx_module_free(m);
  ptx_module_free(NULL);
  m = read_text("");
  EXPECT(m && ptx_failed(m));
  ptx_module_free(m);
}

static void *ask(void *module) {
  ptx_module *m = module;
  const ptx_body *first = NULL;
  for (int round = 0; round < 3; round++)
    for (uint32_t f = 0; f < m->n_funcs; f++) {
      const ptx_body *b = ptx_body_of(m, f);
      if (!b || ptx_find_func(m, m->funcs[f].name) != f)
        return m;
      if (f == 0)
        first = first ? first : b;
      if (f == 0 && b != first)
        return m;
    }
  return NULL;
}

static void test_threads(void) {
  base_text text = {0};
  base_puts(&text, ".version 8.0\n.target sm_80\n.address_size 64\n");
  for (int i = 0; i < 64; i++)
    base_putf(&text,
              ".entry k%d () { .reg .b32 %%r<9>; mov.u32 %%r1, %%tid.x; add.u32 %%r2, %%r1, %d; L: ret; }\n",
              i, i);
  ptx_module *m = read_text(text.bytes);
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    EXPECT(pthread_create(&t[i], NULL, ask, m) == 0);
  for (int i = 0; i < 4; i++) {
    void *result = m;
    EXPECT(pthread_join(t[i], &result) == 0 && !result);
  }
  EXPECT(!ptx_failed(m));
  ptx_module_free(m);
  base_text_free(&text);
}

int main(void) {
  test_declarations();
  test_laziness();
  test_messages();
  test_threads();
  printf("%s\n", failed ? "FAILED" : "passed");
  return failed != 0;
}
