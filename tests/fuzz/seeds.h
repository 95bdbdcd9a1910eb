/// What the fuzzers share: a check that ends them, and texts to begin with.
#ifndef ALPHASTEP_TESTS_SEEDS_H
#define ALPHASTEP_TESTS_SEEDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fuzzer: %s\n", what);
  abort();
}

/// FOLDER, if the only argument is `--seeds=FOLDER`; else NULL.
static inline const char *seeds_folder(int argc, char **argv) {
  static const char option[] = "--seeds=";
  const size_t length = sizeof option - 1;
  return argc == 2 && strncmp(argv[1], option, length) == 0 ? argv[1] + length : NULL;
}

static inline void seeds_write(const char *folder, size_t number, const void *bytes, size_t size) {
  char name[4096];
  snprintf(name, sizeof name, "%s/seed_%zu", folder, number);
  FILE *file = fopen(name, "wb");
  must(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0,
       "a seed cannot be written");
}

static inline void seeds_write_texts(const char *folder, const char *const *text, size_t n) {
  for (size_t i = 0; i < n; ++i) seeds_write(folder, i, text[i], strlen(text[i]));
}

#endif
