/* t_module.c: loading: PTX, libraries, links, functions, globals; and what cannot be loaded. */
#include "t.h"

extern const char *t_kernels;

static void functions(void) {
  CUfunction f, g;
  CUmodule m;
  const char *name;
  unsigned count;
  OK(cuModuleGetFunction(&f, t_module, "axpy"));
  OK(cuModuleGetFunction(&g, t_module, "axpy"));
  CHECK(f == g);
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, t_module, "nothing"));
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, t_module, "counter"));
  OK(cuFuncGetName(&name, g));
  CHECK(strcmp(name, "axpy") == 0);
  OK(cuFuncGetModule(&m, g));
  CHECK(m == t_module);
  OK(cuModuleGetFunctionCount(&count, t_module));
  EQUAL(count, 14);
  CUfunction all[14];
  OK(cuModuleEnumerateFunctions(all, 14, t_module));
  bool found = false;
  for (int i = 0; i < 14; i++)
    found |= all[i] == g;
  CHECK(found);
  size_t offset, bytes;
  CUfunction p = t_kernel("params");
  static const size_t want[][2] = {{0, 8}, {8, 12}, {20, 1}, {24, 8}};
  for (size_t i = 0; i < 4; i++) {
    OK(cuFuncGetParamInfo(p, i, &offset, &bytes));
    EQUAL(offset, want[i][0]);
    EQUAL(bytes, want[i][1]);
  }
  GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(p, 4, &offset, &bytes));
}

static void attributes(void) {
  int value;
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, t_kernel("axpy")));
  EQUAL(value, 1024);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, t_kernel("bounded")));
  EQUAL(value, 128);
  CUfunction f = t_kernel("shared");
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
  EQUAL(value, 24576);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
  CHECK(value > 0 && value < 64);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
  EQUAL(value, 75);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, f));
  CHECK(value >= 75);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f));
  EQUAL(value, 0);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  EQUAL(value, 24576);
  OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 30000));
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  EQUAL(value, 30000);
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 20));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, (CUfunction_attribute)99, f));
}

static void globals(void) {
  CUdeviceptr counter, table, scale, nothing = 1, out = t_memory(4);
  size_t bytes;
  unsigned value;
  float product;
  OK(cuModuleGetGlobal(&counter, &bytes, t_module, "counter"));
  EQUAL(bytes, 4);
  OK(cuMemcpyDtoH(&value, counter, 4));
  EQUAL(value, 5);
  OK(cuModuleGetGlobal(&table, &bytes, t_module, "table"));
  EQUAL(bytes, 64);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&value, table + 64, 4));
  OK(cuModuleGetGlobal(&scale, &bytes, t_module, "scale"));
  EQUAL(bytes, 8);
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&nothing, &bytes, t_module, "nothing"));
  CHECK(nothing == 0);
  OK(LAUNCH(t_kernel("count"), 4, 64, 0, NULL, &out));
  OK(cuMemcpyDtoH(&value, counter, 4));
  EQUAL(value, 5 + 256);
  OK(cuMemcpyDtoH(&product, out, 4));
  CHECK(product == 6.0f);
  float four[2] = {4.0f, 5.0f};
  OK(cuMemcpyHtoD(scale, four, 8)); /* constants are the host's to change */
  OK(LAUNCH(t_kernel("count"), 1, 1, 0, NULL, &out));
  OK(cuMemcpyDtoH(&product, out, 4));
  CHECK(product == 20.0f);
}

static void bad_images(void) {
  CUmodule m;
  char log[2000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  GIVES(CUDA_ERROR_INVALID_PTX,
        cuModuleLoadDataEx(
            &m, ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f()\n{\n  frobnicate;\n}\n",
            2, options, values));
  CHECK(strlen(log) > 10);
  GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&m, "hello, this is no image at all"));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&m, NULL));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(NULL, "x"));
  GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&m, "/no/such/file.ptx"));
}

/* PTX for a GPU later than any there is a profile of. */
static void later_target(void) {
  CUmodule m;
  CUresult r = cu.cuModuleLoadData(
      &m, ".version 9.0\n.target sm_121\n.address_size 64\n.visible .entry f()\n{\n  ret;\n}\n");
  EQUAL(r, CUDA_ERROR_INVALID_PTX);
}

static void from_file(void) {
  CUmodule m;
  CUfunction f;
  OK(cuModuleLoad(&m, t_kernels));
  OK(cuModuleGetFunction(&f, m, "fill"));
  OK(cuModuleUnload(m));
}

static void libraries(void) {
  size_t bytes;
  char *text = t_file(t_kernels, &bytes);
  CUlibrary l;
  CUkernel k, same;
  CUfunction f;
  CUmodule m;
  CUdeviceptr counter, p = t_memory(1024);
  unsigned count, n = 256, value = 6, last;
  const char *name;
  OK(cuLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0));
  free(text);
  OK(cuLibraryGetKernel(&k, l, "fill"));
  OK(cuLibraryGetKernel(&same, l, "fill"));
  CHECK(k == same);
  GIVES(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&same, l, "nothing"));
  OK(cuLibraryGetKernelCount(&count, l));
  EQUAL(count, 14);
  OK(cuKernelGetName(&name, k));
  CHECK(strcmp(name, "fill") == 0);
  OK(cuKernelGetFunction(&f, k));
  OK(LAUNCH(f, 1, 256, 0, NULL, &p, &value, &n));
  OK(cuMemcpyDtoH(&last, p + 1020, 4));
  EQUAL(last, 6);
  value = 7; /* a kernel may stand for its function */
  OK(LAUNCH((CUfunction)(void *)k, 1, 256, 0, NULL, &p, &value, &n));
  OK(cuMemcpyDtoH(&last, p + 1020, 4));
  EQUAL(last, 7);
  OK(cuLibraryGetGlobal(&counter, &bytes, l, "counter"));
  OK(cuMemcpyDtoH(&last, counter, 4));
  EQUAL(last, 5);
  OK(cuLibraryGetModule(&m, l));
  OK(cuModuleGetFunction(&f, m, "axpy"));
  int threads;
  OK(cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0));
  EQUAL(threads, 1024);
  OK(cuLibraryUnload(l));
}

static const char unit_a[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                             ".visible .global .align 4 .u32 shared_word = 11;\n"
                             ".visible .func (.param .b32 r) twice(.param .b32 x)\n"
                             "{\n  .reg .b32 %r<3>;\n  ld.param.b32 %r1, [x];\n  add.u32 %r1, %r1, %r1;\n"
                             "  st.param.b32 [r], %r1;\n  ret;\n}\n";
static const char unit_b[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                             ".extern .global .align 4 .u32 shared_word;\n"
                             ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
                             ".visible .entry main_kernel(.param .u64 out)\n{\n"
                             "  .reg .b32 %r<4>;\n  .reg .b64 %d<2>;\n"
                             "  ld.global.u32 %r1, [shared_word];\n"
                             "  {\n  .param .b32 a;\n  .param .b32 b;\n  st.param.b32 [a], %r1;\n"
                             "  call (b), twice, (a);\n  ld.param.b32 %r2, [b];\n  }\n"
                             "  ld.param.u64 %d1, [out];\n  st.global.u32 [%d1], %r2;\n  ret;\n}\n";

/* Units that call each other: even and odd count down to 0. */
static const char unit_even[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) odd(.param .b32 x);\n"
    ".visible .func (.param .b32 r) even(.param .b32 x)\n"
    "{\n  .reg .pred %p;\n  .reg .b32 %r<3>;\n  ld.param.b32 %r1, [x];\n"
    "  setp.eq.u32 %p, %r1, 0;\n  mov.u32 %r2, 1;\n  @%p bra DONE;\n"
    "  sub.u32 %r1, %r1, 1;\n  {\n  .param .b32 a;\n  .param .b32 b;\n"
    "  st.param.b32 [a], %r1;\n  call (b), odd, (a);\n  ld.param.b32 %r2, [b];\n  }\n"
    "DONE:\n  st.param.b32 [r], %r2;\n  ret;\n}\n"
    ".visible .entry is_even(.param .u64 out, .param .u32 n)\n"
    "{\n  .reg .b32 %r<3>;\n  .reg .b64 %d<2>;\n  ld.param.u32 %r1, [n];\n"
    "  {\n  .param .b32 a;\n  .param .b32 b;\n  st.param.b32 [a], %r1;\n"
    "  call (b), even, (a);\n  ld.param.b32 %r2, [b];\n  }\n"
    "  ld.param.u64 %d1, [out];\n  st.global.u32 [%d1], %r2;\n  ret;\n}\n";
static const char unit_odd[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) even(.param .b32 x);\n"
    ".visible .func (.param .b32 r) odd(.param .b32 x)\n"
    "{\n  .reg .pred %p;\n  .reg .b32 %r<3>;\n  ld.param.b32 %r1, [x];\n"
    "  setp.eq.u32 %p, %r1, 0;\n  mov.u32 %r2, 0;\n  @%p bra DONE;\n"
    "  sub.u32 %r1, %r1, 1;\n  {\n  .param .b32 a;\n  .param .b32 b;\n"
    "  st.param.b32 [a], %r1;\n  call (b), even, (a);\n  ld.param.b32 %r2, [b];\n  }\n"
    "DONE:\n  st.param.b32 [r], %r2;\n  ret;\n}\n";

static void linking_circle(void) {
  CUlinkState link;
  void *image;
  size_t bytes;
  CUmodule m;
  CUfunction f;
  CUdeviceptr out = t_memory(4);
  unsigned got, n = 7;
  OK(cuLinkCreate(0, NULL, NULL, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)unit_even, sizeof unit_even, "even", 0, NULL,
                   NULL));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)unit_odd, sizeof unit_odd, "odd", 0, NULL,
                   NULL));
  OK(cuLinkComplete(link, &image, &bytes));
  OK(cuModuleLoadData(&m, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&f, m, "is_even"));
  OK(LAUNCH(f, 1, 1, 0, NULL, &out, &n));
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 0);
  n = 8;
  OK(LAUNCH(f, 1, 1, 0, NULL, &out, &n));
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 1);
}

static void linking(void) {
  CUlinkState link;
  void *image;
  size_t bytes;
  CUmodule m;
  CUfunction f;
  CUdeviceptr out = t_memory(4);
  unsigned got;
  OK(cuLinkCreate(0, NULL, NULL, &link));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)unit_b, sizeof unit_b, "b", 0, NULL, NULL));
  OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)unit_a, sizeof unit_a, "a", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, &bytes));
  CHECK(bytes > 0);
  OK(cuModuleLoadData(&m, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&f, m, "main_kernel"));
  OK(LAUNCH(f, 1, 1, 0, NULL, &out));
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 22);
  OK(cuModuleUnload(m));
  /* Without the other unit it cannot be loaded, or not be launched. */
  CUresult r = cu.cuModuleLoadData(&m, unit_b);
  if (r == CUDA_SUCCESS) {
    OK(cuModuleGetFunction(&f, m, "main_kernel"));
    r = cu.LAUNCH(f, 1, 1, 0, NULL, &out);
    if (r == CUDA_SUCCESS)
      r = cu.cuCtxSynchronize(NULL);
  }
  CHECK(r != CUDA_SUCCESS);
}

const t_test t_module_tests[] = {{"functions", functions, false},
                                 {"attributes", attributes, false},
                                 {"globals", globals, false},
                                 {"bad_images", bad_images, false},
                                 {"later_target", later_target, false},
                                 {"from_file", from_file, false},
                                 {"libraries", libraries, false},
                                 {"linking", linking, false},
                                 {"linking_circle", linking_circle, false},
                                 {NULL, NULL, false}};
