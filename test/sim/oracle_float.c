/* oracle_float.c: floating point by integers. Numbers are a sign, a significand of up to 124 bits and an
 * exponent; operations are exact but for a sticky bit, and one function rounds. */
#include "oracle.h"

static const of_format formats[] = {
    {64, 52, 1023, true, true, 0x7fefffffffffffff, 0x7fffffffffffffff},
    {32, 23, 127, true, true, 0x7f7fffff, 0x7fffffff},
    {16, 10, 15, true, true, 0x7bff, 0x7fff},
    {16, 7, 127, true, true, 0x7f7f, 0x7fff},
    {19, 10, 127, true, true, 0x3fbff, 0x3ffff},
    {8, 2, 15, true, true, 0x7b, 0x7f},
    {8, 3, 7, false, true, 0x7e, 0x7f},
    {6, 2, 3, false, false, 0x1f, 0x1f},
    {6, 3, 1, false, false, 0x1f, 0x1f},
    {4, 1, 1, false, false, 0x7, 0x7},
};

const of_format *of_format_of(ptx_type t) {
  switch (t) {
  case PTX_F64:
    return &formats[0];
  case PTX_F32:
  case PTX_F32X2:
    return &formats[1];
  case PTX_F16:
  case PTX_F16X2:
    return &formats[2];
  case PTX_BF16:
  case PTX_BF16X2:
    return &formats[3];
  case PTX_TF32:
    return &formats[4];
  case PTX_E5M2X2:
    return &formats[5];
  case PTX_E4M3X2:
    return &formats[6];
  case PTX_E3M2X2:
    return &formats[7];
  case PTX_E2M3X2:
    return &formats[8];
  case PTX_E2M1X2:
    return &formats[9];
  default:
    return NULL;
  }
}

static int top_bit(u128 x) {
  int n = -1;
  while (x) {
    x >>= 1;
    n++;
  }
  return n;
}

of_number of_unpack(const of_format *f, uint64_t bits) {
  uint64_t frac = bits & ((UINT64_C(1) << f->mantissa) - 1);
  int field = (int)(bits >> f->mantissa) & ((1 << (f->width - 1 - f->mantissa)) - 1);
  int top = (1 << (f->width - 1 - f->mantissa)) - 1;
  of_number n = {.sign = bits >> (f->width - 1) & 1, .payload = bits};
  if (f->inf && field == top)
    n.class = frac ? OF_NAN : OF_INF;
  else if (!f->inf && f->nan && (bits & ((UINT64_C(1) << (f->width - 1)) - 1)) == f->the_nan)
    n.class = OF_NAN;
  else if (field == 0 && frac == 0)
    n.class = OF_ZERO;
  else {
    n.class = OF_FINITE;
    n.sig = field ? frac | UINT64_C(1) << f->mantissa : frac;
    n.exp = (field ? field : 1) - f->bias - f->mantissa;
  }
  return n;
}

/* Is what lies below the unit worth one more? `half`: -1, 0, 1: less, equal, more than half a unit. */
static bool rounds_up(bool sign, bool odd, bool inexact, int half, of_mode mode) {
  switch (mode) {
  case OF_RN:
    return half > 0 || (half == 0 && odd);
  case OF_RNA:
    return half >= 0;
  case OF_RM:
    return inexact && sign;
  case OF_RP:
    return inexact && !sign;
  case OF_RZ:
    break;
  }
  return false;
}

/* sig * 2^exp to a multiple of 2^unit, in units. */
static u128 in_units(of_number n, int unit, of_mode mode) {
  int drop = unit - n.exp;
  if (drop <= 0)
    return n.sig << -drop; /* callers see to it that this fits, and that nothing is sticky then */
  u128 kept = drop > 127 ? 0 : n.sig >> drop;
  u128 rest = drop > 127 ? n.sig : n.sig & (((u128)1 << drop) - 1);
  int half = -1;
  if (drop <= 127) {
    u128 middle = (u128)1 << (drop - 1);
    half = rest > middle || (rest == middle && n.sticky) ? 1 : rest == middle ? 0 : -1;
  }
  return kept + rounds_up(n.sign, kept & 1, rest || n.sticky, half, mode);
}

uint64_t of_pack(const of_format *f, of_number n, of_mode mode, bool finite) {
  uint64_t sign = (uint64_t)n.sign << (f->width - 1);
  uint64_t inf = f->max + 1; /* the code after the largest: infinity, where there is one */
  switch (n.class) {
  case OF_NAN:
    return f->the_nan;
  case OF_ZERO:
    return sign;
  case OF_INF:
    return sign | (f->inf && !finite ? inf : f->max);
  case OF_FINITE:
    break;
  }
  int lowest = 1 - f->bias - f->mantissa; /* exponent of the last bit of the smallest numbers */
  int unit = n.exp + top_bit(n.sig) - f->mantissa;
  if (unit < lowest)
    unit = lowest;
  u128 units = in_units(n, unit, mode);
  uint64_t code = (uint64_t)units;
  if (unit > lowest || units >> f->mantissa)
    code = ((uint64_t)(unit - lowest) << f->mantissa) + (uint64_t)units;
  if (code > f->max) {
    bool away = mode == OF_RN || mode == OF_RNA || (mode == OF_RM ? n.sign : mode == OF_RP && !n.sign);
    code = away && f->inf && !finite ? inf : f->max;
  }
  return sign | code;
}

of_number of_flush(const of_format *f, of_number n) {
  if (n.class == OF_FINITE && n.exp + top_bit(n.sig) < 1 - f->bias)
    n.class = OF_ZERO;
  return n;
}

/* Significand moved to have its top bit at 120. */
static of_number normal(of_number n) {
  int up = 120 - top_bit(n.sig);
  n.sig = up > 0 ? n.sig << up : n.sig;
  n.exp -= up > 0 ? up : 0;
  return n;
}

of_number of_add(of_number a, of_number b, of_mode mode) {
  of_number nan = {.class = OF_NAN};
  if (a.class == OF_NAN)
    return a;
  if (b.class == OF_NAN)
    return b;
  if (a.class == OF_INF)
    return b.class == OF_INF && a.sign != b.sign ? nan : a;
  if (b.class == OF_INF)
    return b;
  if (a.class == OF_ZERO && b.class == OF_ZERO) {
    a.sign = a.sign == b.sign ? a.sign : mode == OF_RM;
    return a;
  }
  if (a.class == OF_ZERO)
    return b;
  if (b.class == OF_ZERO)
    return a;
  a = normal(a), b = normal(b);
  if (a.exp < b.exp || (a.exp == b.exp && a.sig < b.sig)) {
    of_number t = a;
    a = b, b = t;
  }
  int down = a.exp - b.exp;
  u128 lost = down > 127 ? b.sig : b.sig & (((u128)1 << down) - 1);
  u128 s = down > 127 ? 0 : b.sig >> down;
  if (a.sign == b.sign) {
    a.sig += s;
    a.sticky = lost != 0;
  } else {
    a.sig -= s;
    if (lost) { /* a little less than a.sig: one less, and a little more than that */
      a.sig -= 1;
      a.sticky = true;
    }
  }
  if (a.sig == 0) {
    a.class = OF_ZERO;
    a.sign = mode == OF_RM;
  }
  return a;
}

of_number of_mul(of_number a, of_number b) {
  of_number r = {.class = OF_NAN};
  if (a.class == OF_NAN)
    return a;
  if (b.class == OF_NAN)
    return b;
  r.sign = a.sign != b.sign;
  if (a.class == OF_INF || b.class == OF_INF) {
    r.class = a.class == OF_ZERO || b.class == OF_ZERO ? OF_NAN : OF_INF;
    return r;
  }
  if (a.class == OF_ZERO || b.class == OF_ZERO) {
    r.class = OF_ZERO;
    return r;
  }
  r.class = OF_FINITE;
  r.sig = a.sig * b.sig;
  r.exp = a.exp + b.exp;
  return r;
}

of_number of_div(of_number a, of_number b) {
  of_number r = {.class = OF_NAN};
  if (a.class == OF_NAN)
    return a;
  if (b.class == OF_NAN)
    return b;
  r.sign = a.sign != b.sign;
  if (a.class == OF_INF || b.class == OF_ZERO) {
    bool none = (a.class == OF_INF && b.class == OF_INF) || (a.class == OF_ZERO && b.class == OF_ZERO);
    r.class = none ? OF_NAN : OF_INF;
    return r;
  }
  if (a.class == OF_ZERO || b.class == OF_INF) {
    r.class = OF_ZERO;
    return r;
  }
  a = normal(a);
  while (!(b.sig & 1)) /* as small as possible, that the quotient has many bits */
    b.sig >>= 1, b.exp++;
  r.class = OF_FINITE;
  r.sig = a.sig / b.sig;
  r.sticky = a.sig % b.sig != 0;
  r.exp = a.exp - b.exp;
  return r;
}

of_number of_sqrt(of_number a) {
  if (a.class == OF_NAN || a.class == OF_ZERO || (a.class == OF_INF && !a.sign))
    return a;
  if (a.sign)
    return (of_number){.class = OF_NAN};
  a = normal(a);
  if (a.exp & 1)
    a.sig <<= 1, a.exp--;
  u128 root = 0;
  for (int bit = 61; bit >= 0; bit--) {
    u128 more = root | (u128)1 << bit;
    if (more * more <= a.sig)
      root = more;
  }
  a.sticky = root * root != a.sig;
  a.sig = root;
  a.exp /= 2;
  return a;
}

of_number of_integral(of_number a, of_mode mode) {
  if (a.class != OF_FINITE || a.exp >= 0)
    return a;
  a.sig = in_units(a, 0, mode);
  a.exp = 0;
  a.sticky = false;
  if (a.sig == 0)
    a.class = OF_ZERO;
  return a;
}

of_number of_from_int(s128 x) {
  of_number n = {.class = x ? OF_FINITE : OF_ZERO, .sign = x < 0};
  n.sig = x < 0 ? -(u128)x : (u128)x;
  return n;
}

int of_compare(of_number a, of_number b) {
  if (a.class == OF_ZERO && b.class == OF_ZERO)
    return 0;
  b.sign = !b.sign;
  if (a.class == OF_INF && b.class == OF_INF && a.sign != b.sign)
    return 0;
  of_number d = of_add(a, b, OF_RN);
  return d.class == OF_ZERO ? 0 : d.sign ? -1 : 1;
}
