/// Runs a fuzzer's function on every file of its corpus: what was found once is looked at in every build.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// A fuzzer's own mutator may ask for libFuzzer's, which is not here.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
  (void)data, (void)most;
  return size;
}

/// The bytes of a file, in a block of just their size, so that reading beyond it shows.
static uint8_t *read_bytes(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  const long end = ftell(file);
  rewind(file);
  *size = end > 0 ? (size_t)end : 0;
  uint8_t *bytes = malloc(*size > 0 ? *size : 1);
  if (bytes && fread(bytes, 1, *size, file) != *size) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  int one = 1, n = 0;
  char *name[] = {argv[0], NULL}, **arguments = name;
  LLVMFuzzerInitialize(&one, &arguments);
  DIR *corpus = opendir(argv[1]);
  if (corpus == NULL) return 2;
  for (const struct dirent *entry = readdir(corpus); entry; entry = readdir(corpus)) {
    char path[4096];
    size_t size = 0;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%.255s", argv[1], entry->d_name);
    uint8_t *bytes = read_bytes(path, &size);
    if (bytes == NULL) {
      fprintf(stderr, "%s cannot be read\n", path);
      closedir(corpus);
      return 2;
    }
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    ++n;
  }
  closedir(corpus);
  printf("%d inputs\n", n);
  return n > 0 ? 0 : 2;
}
