#include "counting.h"

#include <stddef.h>

counting memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static bool must_fail(void) {
  ++memory.taken;
  if (memory.fail_at == 0 || --memory.fail_at > 0) return false;
  if (memory.fail_on) memory.fail_at = 1;
  ++memory.failed;
  return true;
}

static void *count(void *block) {
  if (block) ++memory.live;
  return block;
}

void *__wrap_malloc(size_t size) { return must_fail() ? NULL : count(__real_malloc(size)); }

void *__wrap_calloc(size_t n, size_t size) {
  return must_fail() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *block, size_t size) {
  if (must_fail()) return NULL;
  return block ? __real_realloc(block, size) : count(__real_realloc(block, size));
}

void __wrap_free(void *block) {
  if (block) --memory.live;
  __real_free(block);
}
