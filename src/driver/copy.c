/* copy.c: copies and fills, of one to three dimensions.
 *
 * Every form is brought to one: a box of bytes on either side. Both sides are checked the same way before
 * anything is queued: what lies in the device's range must lie inside one allocation, to the byte. Memory
 * that the program never told the driver of is pageable: an asynchronous copy takes from it at once, and
 * gives to it before it returns, as a GPU's driver does, so that the program may reuse it.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/drv.h"
#include "driver/graph.h"

enum { STAGED_MOST = 64 * 1024 };

/* What a side of a copy is said to be. */
typedef enum side {
  SIDE_HOST,   /* a host pointer; of the device's memory too, since there is one address space */
  SIDE_DEVICE, /* memory that kernels can use: the device's, pinned or managed */
  SIDE_ANY     /* whatever the address says */
} side;

/* ------------------------------------------------------------------ doing it */

static void each_row(const drv_box *to, const drv_box *from, const drv_shape *shape) {
  for (size_t z = 0; z < shape->depth; z++)
    for (size_t y = 0; y < shape->height; y++)
      memmove(to->at + z * to->layer + y * to->pitch, from->at + z * from->layer + y * from->pitch,
              shape->width);
}

static uint64_t shape_bytes(const drv_shape *s) {
  return (uint64_t)s->width * s->height * s->depth;
}

void drv_do_copy(drv_device *d, const drv_op *op) {
  each_row(&op->copy.to, &op->copy.from, &op->copy.shape);
  drv_tell_copied(op, &op->copy.to, &op->copy.from, &op->copy.shape);
  d->extra_ns += 1000 + shape_bytes(&op->copy.shape) / 16; /* 16 GB/s */
}

void drv_do_fill(drv_device *d, const drv_op *op) {
  const drv_shape *shape = &op->fill.shape;
  for (size_t z = 0; z < shape->depth; z++)
    for (size_t y = 0; y < shape->height; y++) {
      uint8_t *row = op->fill.to.at + z * op->fill.to.layer + y * op->fill.to.pitch;
      switch (op->fill.value_bytes) {
      case 1:
        memset(row, (int)(op->fill.value & 0xff), shape->width);
        break;
      case 2:
        for (size_t i = 0; i < shape->width / 2; i++)
          ((uint16_t *)(void *)row)[i] = (uint16_t)op->fill.value;
        break;
      default:
        for (size_t i = 0; i < shape->width / 4; i++)
          ((uint32_t *)(void *)row)[i] = op->fill.value;
      }
    }
  drv_tell_copied(op, &op->fill.to, NULL, shape);
  d->extra_ns += 1000 + shape_bytes(shape) / 256;
}

/* ------------------------------------------------------------------ checking */

/* Bytes from a box's first to its last, that one included; false: more than an address can hold. */
static bool box_extent(const drv_box *b, const drv_shape *s, uint64_t *bytes) {
  uint64_t rows, layers;
  return !__builtin_mul_overflow((uint64_t)b->pitch, (uint64_t)(s->height - 1), &rows) &&
         !__builtin_mul_overflow((uint64_t)b->layer, (uint64_t)(s->depth - 1), &layers) &&
         !__builtin_add_overflow(rows, layers, bytes) &&
         !__builtin_add_overflow(*bytes, (uint64_t)s->width, bytes) && *bytes < (uint64_t)1 << 47;
}

/* Whether a side may be what it is said to be; *pageable: the driver knows nothing of it. */
static CUresult check_side(const drv_box *b, const drv_shape *s, side is, bool *pageable) {
  uint64_t bytes, address = (uintptr_t)b->at;
  *pageable = false;
  if (!address || !box_extent(b, s, &bytes))
    return CUDA_ERROR_INVALID_VALUE;
  const drv_memory *m = drv_memory_at(address);
  bool device_only = m ? m->kind == DRV_DEVICE_MEMORY : drv_in_device_range(address);
  if (m && m->freeing)
    return CUDA_ERROR_INVALID_VALUE;
  if (drv_memory_covers(address, bytes))
    return CUDA_SUCCESS;
  if (is == SIDE_DEVICE || device_only)
    return CUDA_ERROR_INVALID_VALUE;
  /* Host memory. It may well reach beyond a part of it that is registered. */
  *pageable = true;
  return CUDA_SUCCESS;
}

typedef struct request {
  drv_box to, from;
  drv_shape shape;
  side to_is, from_is;
} request;

static CUresult check(const request *q, bool *to_pageable, bool *from_pageable) {
  CUresult r = check_side(&q->to, &q->shape, q->to_is, to_pageable);
  return r == CUDA_SUCCESS ? check_side(&q->from, &q->shape, q->from_is, from_pageable) : r;
}

static bool is_empty(const drv_shape *s) {
  return s->width == 0 || s->height == 0 || s->depth == 0;
}

static drv_op *copy_op(const request *q) {
  drv_op *op = drv_op_new(DRV_OP_COPY);
  if (op) {
    op->copy.to = q->to;
    op->copy.from = q->from;
    op->copy.shape = q->shape;
  }
  return op;
}

/* Makes the operation, and passes it to the stream. */
static CUresult copy(const request *q, CUstream stream, bool asynchronous) {
  drv_stream *s;
  bool to_pageable, from_pageable;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (is_empty(&q->shape))
    return CUDA_SUCCESS;
  if ((r = check(q, &to_pageable, &from_pageable)) != CUDA_SUCCESS)
    return r;
  if (!asynchronous && (r = drv_capture_forbids()) != CUDA_SUCCESS)
    return r;
  drv_op *op = copy_op(q);
  if (!op)
    return CUDA_ERROR_OUT_OF_MEMORY;
  if (asynchronous && !s->capture && !drv_stream_clear(s)) {
    if (from_pageable && !to_pageable && shape_bytes(&q->shape) <= STAGED_MOST) {
      drv_box staged = {malloc(shape_bytes(&q->shape)), q->shape.width, q->shape.width * q->shape.height};
      if (!staged.at) {
        drv_op_free(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
      }
      each_row(&staged, &q->from, &q->shape);
      op->copy.staged = staged.at;
      op->copy.from = staged;
    } else if (from_pageable || to_pageable) {
      asynchronous = false;
    }
  }
  return asynchronous ? drv_issue(s, op) : drv_issue_and_wait(s, op);
}

/* ------------------------------------------------------------------ one dimension */

static CUresult copy_bytes(uint64_t to, side to_is, uint64_t from, side from_is, size_t bytes,
                           CUstream stream, bool asynchronous) {
  request q = {.to = {(uint8_t *)(uintptr_t)to, bytes, bytes},
               .from = {(uint8_t *)(uintptr_t)from, bytes, bytes},
               .shape = {bytes, 1, 1},
               .to_is = to_is,
               .from_is = from_is};
  return copy(&q, stream, asynchronous);
}

CUresult drv_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy_bytes(to, SIDE_ANY, from, SIDE_ANY, bytes, NULL, false);
}

CUresult drv_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_bytes(to, SIDE_ANY, from, SIDE_ANY, bytes, stream, true);
}

CUresult drv_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return copy_bytes(to, SIDE_DEVICE, (uintptr_t)from, SIDE_HOST, bytes, NULL, false);
}

CUresult drv_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return copy_bytes(to, SIDE_DEVICE, (uintptr_t)from, SIDE_HOST, bytes, stream, true);
}

CUresult drv_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return copy_bytes((uintptr_t)to, SIDE_HOST, from, SIDE_DEVICE, bytes, NULL, false);
}

CUresult drv_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_bytes((uintptr_t)to, SIDE_HOST, from, SIDE_DEVICE, bytes, stream, true);
}

/* Within a device a copy is asynchronous to the host in any case, but stands in the default stream. */
CUresult drv_cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy_bytes(to, SIDE_DEVICE, from, SIDE_DEVICE, bytes, NULL, false);
}

CUresult drv_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_bytes(to, SIDE_DEVICE, from, SIDE_DEVICE, bytes, stream, true);
}

static CUresult contexts_valid(CUcontext to, CUcontext from) {
  return (!to || drv_find(to, DRV_CONTEXT)) && (!from || drv_find(from, DRV_CONTEXT))
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult drv_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                          size_t bytes) {
  CUresult r = contexts_valid(to_context, from_context);
  /* Both devices' default streams come first. */
  for (int i = 0; r == CUDA_SUCCESS && i < 2; i++) {
    drv_context *c = i ? from_context : to_context;
    if (c && c != drv_current())
      r = drv_wait_stream(c->legacy);
  }
  return r == CUDA_SUCCESS ? copy_bytes(to, SIDE_DEVICE, from, SIDE_DEVICE, bytes, NULL, false) : r;
}

CUresult drv_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                               size_t bytes, CUstream stream) {
  CUresult r = contexts_valid(to_context, from_context);
  return r == CUDA_SUCCESS ? copy_bytes(to, SIDE_DEVICE, from, SIDE_DEVICE, bytes, stream, true) : r;
}

/* ------------------------------------------------------------------ two and three dimensions */

/* One side of a three-dimensional copy; the two-dimensional form is this with one layer. */
static CUresult side_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t z,
                        size_t lod, size_t pitch, size_t height, const drv_shape *shape, drv_box *box,
                        side *is) {
  uint64_t at, offset, more;
  switch (type) {
  case CU_MEMORYTYPE_HOST:
    at = (uintptr_t)host;
    *is = SIDE_HOST;
    break;
  case CU_MEMORYTYPE_DEVICE:
    at = device;
    *is = SIDE_DEVICE;
    break;
  case CU_MEMORYTYPE_UNIFIED:
    at = device;
    *is = SIDE_ANY;
    break;
  case CU_MEMORYTYPE_ARRAY:
    return drv_refuse("a copy to or from a CUDA array");
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (lod != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (pitch == 0) /* rows without gaps */
    pitch = x + shape->width;
  if (height == 0 && shape->depth <= 1 && z == 0)
    height = y + shape->height;
  if (pitch < shape->width || pitch - shape->width < x || (shape->depth > 1 && height < shape->height))
    return CUDA_ERROR_INVALID_VALUE;
  box->pitch = pitch;
  if (__builtin_mul_overflow(pitch, height, &box->layer) ||
      __builtin_mul_overflow((uint64_t)y, pitch, &offset) ||
      __builtin_mul_overflow((uint64_t)z, box->layer, &more) ||
      __builtin_add_overflow(offset, more, &offset) || __builtin_add_overflow(offset, (uint64_t)x, &offset) ||
      __builtin_add_overflow(at, offset, &at))
    return CUDA_ERROR_INVALID_VALUE;
  box->at = (uint8_t *)(uintptr_t)at;
  return CUDA_SUCCESS;
}

static CUresult request_3d(const CUDA_MEMCPY3D *c, request *q) {
  *q = (request){.shape = {c->WidthInBytes, c->Height, c->Depth}};
  CUresult r = side_of(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes, c->dstY, c->dstZ,
                       c->dstLOD, c->dstPitch, c->dstHeight, &q->shape, &q->to, &q->to_is);
  if (r == CUDA_SUCCESS)
    r = side_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes, c->srcY, c->srcZ, c->srcLOD,
                c->srcPitch, c->srcHeight, &q->shape, &q->from, &q->from_is);
  return r;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool asynchronous) {
  request q;
  if (!c)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = request_3d(c, &q);
  return r == CUDA_SUCCESS ? copy(&q, stream, asynchronous) : r;
}

CUresult drv_copy_op(const CUDA_MEMCPY3D *c, drv_op **op) {
  request q;
  bool unused;
  *op = NULL;
  CUresult r = request_3d(c, &q);
  if (r != CUDA_SUCCESS || is_empty(&q.shape))
    return r;
  if ((r = check(&q, &unused, &unused)) == CUDA_SUCCESS && !(*op = copy_op(&q)))
    r = CUDA_ERROR_OUT_OF_MEMORY;
  return r;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool asynchronous) {
  if (!c)
    return CUDA_ERROR_INVALID_VALUE;
  request q = {.shape = {c->WidthInBytes, c->Height, 1}};
  CUresult r = side_of(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes, c->dstY, 0, 0, c->dstPitch,
                       0, &q.shape, &q.to, &q.to_is);
  if (r == CUDA_SUCCESS)
    r = side_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes, c->srcY, 0, 0, c->srcPitch, 0,
                &q.shape, &q.from, &q.from_is);
  return r == CUDA_SUCCESS ? copy(&q, stream, asynchronous) : r;
}

CUresult drv_cuMemcpy2D(const CUDA_MEMCPY2D *c) {
  return copy_2d(c, NULL, false);
}

CUresult drv_cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c) {
  return copy_2d(c, NULL, false);
}

CUresult drv_cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream) {
  return copy_2d(c, stream, true);
}

CUresult drv_cuMemcpy3D(const CUDA_MEMCPY3D *c) {
  return copy_3d(c, NULL, false);
}

CUresult drv_cuMemcpy3DAsync(const CUDA_MEMCPY3D *c, CUstream stream) {
  return copy_3d(c, stream, true);
}

/* The peer form differs in its two reserved words, which hold contexts. */
_Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER), "the same layout");

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream, bool asynchronous) {
  CUDA_MEMCPY3D plain;
  if (!c)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = contexts_valid(c->dstContext, c->srcContext);
  memcpy(&plain, c, sizeof plain);
  return r == CUDA_SUCCESS ? copy_3d(&plain, stream, asynchronous) : r;
}

CUresult drv_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *c) {
  return copy_3d_peer(c, NULL, false);
}

CUresult drv_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *c, CUstream stream) {
  return copy_3d_peer(c, stream, true);
}

/* ------------------------------------------------------------------ fills */

CUresult drv_fill_op(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t value_bytes, size_t width,
                     size_t height, drv_op **op) {
  drv_shape shape = {0, height, 1};
  bool pageable;
  *op = NULL;
  if (to % value_bytes != 0 || __builtin_mul_overflow(width, (size_t)value_bytes, &shape.width))
    return CUDA_ERROR_INVALID_VALUE;
  if (width == 0 || height == 0)
    return CUDA_SUCCESS;
  if (height > 1 && (pitch < shape.width || pitch % value_bytes != 0))
    return CUDA_ERROR_INVALID_VALUE;
  drv_box box = {(uint8_t *)(uintptr_t)to, height > 1 ? pitch : shape.width, 0};
  CUresult r = check_side(&box, &shape, SIDE_DEVICE, &pageable);
  if (r != CUDA_SUCCESS)
    return r;
  if (!(*op = drv_op_new(DRV_OP_FILL)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  (*op)->fill.to = box;
  (*op)->fill.shape = shape;
  (*op)->fill.value = value;
  (*op)->fill.value_bytes = value_bytes;
  return CUDA_SUCCESS;
}

/* To the host a fill is asynchronous even without a stream; to pinned and managed memory the plain form
 * waits. */
static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t value_bytes, size_t width,
                     size_t height, CUstream stream, bool asynchronous) {
  drv_stream *s;
  drv_op *op;
  CUresult r = drv_stream_of(stream, &s);
  if (r == CUDA_SUCCESS && !asynchronous)
    r = drv_capture_forbids();
  if (r == CUDA_SUCCESS)
    r = drv_fill_op(to, pitch, value, value_bytes, width, height, &op);
  if (r != CUDA_SUCCESS || !op)
    return r;
  const drv_memory *m = drv_memory_at(to);
  bool wait = !asynchronous && m && m->kind != DRV_DEVICE_MEMORY;
  return wait ? drv_issue_and_wait(s, op) : drv_issue(s, op);
}

#define FILLS(bits, type)                                                                                 \
  CUresult drv_cuMemsetD##bits(CUdeviceptr to, type value, size_t n) {                                    \
    return fill(to, 0, value, (bits) / 8, n, 1, NULL, false);                                             \
  }                                                                                                       \
  CUresult drv_cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t n, CUstream stream) {            \
    return fill(to, 0, value, (bits) / 8, n, 1, stream, true);                                            \
  }                                                                                                       \
  CUresult drv_cuMemsetD2D##bits(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) { \
    return fill(to, pitch, value, (bits) / 8, width, height, NULL, false);                                \
  }                                                                                                       \
  CUresult drv_cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,           \
                                        size_t height, CUstream stream) {                                 \
    return fill(to, pitch, value, (bits) / 8, width, height, stream, true);                               \
  }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)
