/// Reads matrices, see matrix.h.
///
/// A MAT file of version 4 is a list of variables: five words (type, rows, columns, whether there is an imaginary part, the length
/// of the name with the zero behind it), the name, the numbers by columns. The type is 1000 M + 10 P + T: M the order of bytes (0:
/// the least first, 1: the greatest), P the kind of numbers, T what they are (0: a matrix, 1: text, 2: rows of i, j, value).
#include "file/matrix.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/csv.h"

__attribute__((format(printf, 2, 3))) static void refuse(asi_matrix *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->sentence, sizeof m->sentence, format, arguments);
  va_end(arguments);
  free(m->number);
  m->number = NULL;
  m->rows = m->columns = 0;
}

// ---- comma-separated values -------------------------------------------------------------------------

typedef struct csv_rows {
  asi_matrix *m;
  size_t used, room;
} csv_rows;

/// An asi_csv_fn.
static bool take_row(const double *number, int n, void *user) {
  csv_rows *r = user;
  asi_matrix *m = r->m;
  if (m->rows == 0) m->columns = n;
  if (n != m->columns) {
    const int columns = m->columns;
    refuse(m, "%d numbers, but rows before have %d", n, columns);
    return false;
  }
  if (r->used + (size_t)n > ASI_MATRIX_NUMBERS) {
    refuse(m, "more than %d numbers", (int)ASI_MATRIX_NUMBERS);
    return false;
  }
  if (r->used + (size_t)n > r->room) {
    const size_t more = 2 * (r->used + (size_t)n);
    double *grown = realloc(m->number, more * sizeof *grown);
    if (grown == NULL) {
      m->no_memory = true;
      return false;
    }
    m->number = grown;
    r->room = more;
  }
  memcpy(m->number + r->used, number, (size_t)n * sizeof *number);
  r->used += (size_t)n;
  ++m->rows;
  return true;
}

asi_matrix asi_matrix_of_csv(const char *text, size_t size) {
  asi_matrix m = {0};
  csv_rows rows = {.m = &m};
  asi_csv csv = asi_csv_rows(text, size, take_row, &rows);
  m.line = csv.line;
  if (csv.no_memory || m.no_memory) {
    free(m.number);
    return (asi_matrix){.no_memory = true};
  }
  if (m.sentence[0] == '\0' && csv.sentence[0]) refuse(&m, "%s", csv.sentence);
  if (m.sentence[0] == '\0' && m.rows == 0) refuse(&m, "there are no numbers");
  return m;
}

// ---- MAT files --------------------------------------------------------------------------------------

typedef struct head {
  bool swapped; ///< the greatest byte comes first
  int numbers, what;
  uint32_t rows, columns, imaginary, length;
} head;

static uint64_t word(const unsigned char *at, int n, bool swapped) {
  uint64_t x = 0;
  for (int i = 0; i < n; ++i) x |= (uint64_t)at[swapped ? n - 1 - i : i] << (8 * i);
  return x;
}

static int size_of(int numbers) {
  static const int size[] = {8, 4, 4, 2, 2, 1};
  return numbers >= 0 && numbers < 6 ? size[numbers] : 0;
}

static double number_at(const unsigned char *at, const head *h) {
  const uint64_t bits = word(at, size_of(h->numbers), h->swapped);
  const uint32_t low = (uint32_t)bits;
  double x;
  float single;
  switch (h->numbers) {
  case 0: memcpy(&x, &bits, sizeof x); return x;
  case 1: memcpy(&single, &low, sizeof single); return (double)single;
  case 2: return low < 0x80000000u ? (double)low : (double)low - 0x1p32;
  case 3: return low < 0x8000u ? (double)low : (double)low - 0x1p16;
  default: return (double)low;
  }
}

static bool read_head(const unsigned char *at, head *h) {
  for (int order = 0; order < 2; ++order) {
    h->swapped = order == 1;
    const uint64_t type = word(at, 4, h->swapped);
    if (type > 1052 || type / 1000 != (uint64_t)order) continue;
    h->numbers = (int)(type / 10 % 10);
    h->what = (int)(type % 10);
    if (type / 100 % 10 != 0 || size_of(h->numbers) == 0 || h->what > 2) return false;
    h->rows = (uint32_t)word(at + 4, 4, h->swapped);
    h->columns = (uint32_t)word(at + 8, 4, h->swapped);
    h->imaginary = (uint32_t)word(at + 12, 4, h->swapped);
    h->length = (uint32_t)word(at + 16, 4, h->swapped);
    return h->imaginary <= 1 && h->length > 0;
  }
  return false;
}

static bool allocate(asi_matrix *m, double rows, double columns, const char *name) {
  if (!(rows >= 1.0 && columns >= 1.0 && rows * columns <= ASI_MATRIX_NUMBERS)) {
    refuse(m, "%.40s is %g x %g: it has no numbers, or too many", name, rows, columns);
    return false;
  }
  m->rows = (int)rows;
  m->columns = (int)columns;
  m->number = calloc((size_t)m->rows * (size_t)m->columns, sizeof(double));
  m->no_memory = m->number == NULL;
  return m->number != NULL;
}

static void read_full(asi_matrix *m, const unsigned char *at, const head *h, const char *name) {
  const size_t size = (size_t)size_of(h->numbers);
  if (!allocate(m, h->rows, h->columns, name)) return;
  for (int j = 0; j < m->columns; ++j)
    for (int i = 0; i < m->rows; ++i, at += size) {
      const double x = number_at(at, h);
      if (!isfinite(x)) {
        refuse(m, "row %d, column %d of %.40s is not finite", i + 1, j + 1, name);
        return;
      }
      m->number[(size_t)i * (size_t)m->columns + (size_t)j] = x;
    }
}

/// Rows of i, j and a value; the last one tells how many rows and columns there are.
static void read_sparse(asi_matrix *m, const unsigned char *at, const head *h, const char *name) {
  const size_t size = (size_t)size_of(h->numbers), n = h->rows;
  if (h->columns != 3 || n == 0) {
    refuse(m, "%.40s is sparse, but not in three columns", name);
    return;
  }
  if (!allocate(m, number_at(at + (n - 1) * size, h), number_at(at + (2 * n - 1) * size, h), name))
    return;
  for (size_t k = 0; k < n; ++k) {
    const double i = number_at(at + k * size, h), j = number_at(at + (n + k) * size, h),
                 x = number_at(at + (2 * n + k) * size, h);
    if (!(i >= 1.0 && j >= 1.0 && i <= m->rows && j <= m->columns && isfinite(x))) {
      refuse(m, "entry %zu of %.40s, %g at row %g, column %g, cannot be", k + 1, name, x, i, j);
      return;
    }
    m->number[((size_t)i - 1) * (size_t)m->columns + (size_t)j - 1] += x;
  }
}

asi_matrix asi_matrix_of_mat(const void *bytes, size_t size, const char *name) {
  enum { HEAD = 20 };
  const unsigned char *at = bytes, *end = at + size;
  asi_matrix m = {0};
  while (at < end) {
    head h = {0};
    if ((size_t)(end - at) < HEAD || !read_head(at, &h)) {
      refuse(&m, "no MAT file of version 4, or it is damaged at byte %zu",
             (size_t)(at - (const unsigned char *)bytes));
      return m;
    }
    at += HEAD;
    const double wanted =
        (double)h.rows * (double)h.columns * size_of(h.numbers) * (h.imaginary ? 2.0 : 1.0);
    if (!(h.length + wanted <= (double)(end - at)) || at[h.length - 1] != '\0') {
      refuse(&m, "it ends within a variable");
      return m;
    }
    const bool found = strcmp((const char *)at, name) == 0;
    at += h.length;
    if (!found) {
      at += (size_t)wanted;
      continue;
    }
    if (h.imaginary || h.what == 1)
      refuse(&m, "%.40s is %s", name, h.imaginary ? "complex" : "a text");
    else if (h.what == 2)
      read_sparse(&m, at, &h, name);
    else
      read_full(&m, at, &h, name);
    return m;
  }
  return m;
}
