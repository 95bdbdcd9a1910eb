/// Model files of any bytes: the reader gives a machine or messages, sorted by place, and never fails otherwise.
///
/// The inputs to begin with are the files of tests/files and the examples. Texts that repeat things more than a few
/// hundred times are left out: they are slow, not interesting.
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "fuzz/seeds.h"

static void write_seed(const char *from, const char *folder, size_t number) {
  char *text = files_read(from);
  seeds_write(folder, number, text, strlen(text));
  free(text);
}

static void write_seeds(const char *folder) {
  static const char *const from[] = {"tests/files",
                                     "tests/files/good",
                                     "tests/files/good/beams",
                                     "tests/files/wrong",
                                     "examples/car",
                                     "examples/car/parts",
                                     "examples/machines/flexible-satellite",
                                     "examples/machines/cart-pole",
                                     "examples/machines/semi-active",
                                     "examples/machines/four-bar",
                                     "examples/machines/heavy-top"};
  size_t n = 0;
  for (size_t k = 0; k < sizeof from / sizeof from[0]; ++k) {
    DIR *all = opendir(files_path(from[k]));
    must(all != NULL, "the files are not there");
    for (const struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
      char path[512];
      if (strstr(entry->d_name, ".yaml") == NULL && strstr(entry->d_name, ".json") == NULL)
        continue;
      snprintf(path, sizeof path, "%s/%.200s", from[k], entry->d_name);
      write_seed(path, folder, n++);
    }
    closedir(all);
  }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  write_seeds(folder);
  exit(0);
}

static bool is_slow(const char *text) {
  if (strstr(text, "repeat") == NULL && strstr(text, "elements") == NULL) return false;
  int digits = 0;
  for (; *text; ++text) {
    digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
    if (digits > 3 || *text == '^' || *text == '*' || *text == '/') return true;
  }
  return false;
}

/// The folder that other files are looked for in: those with tyres, tables, flexible bodies, parts.
static const char *place(size_t size) {
  static const char *const in[] = {"tests/files", "tests/files/good",
                                   "examples/machines/flexible-satellite", "examples/car"};
  static char path[1024];
  snprintf(path, sizeof path, "%s/fuzz.yaml", files_path(in[size / 2 % 4]));
  return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static as_messages messages;
  static const char *const setting = "simulate.step=1";
  as_machine *machine = NULL;
  char *text = malloc(size + 1);
  must(text != NULL, "there is no memory");
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  const bool slow = is_slow(text);
  free(text);
  if (slow) return 0;
  const int n_settings = size % 2 == 0;
  const as_status status = as_machine_parse((const char *)data, size, place(size), &setting,
                                            n_settings, &machine, &messages);
  must((status == AS_OK) == (machine != NULL), "neither a machine nor a failure");
  must((status == AS_OK) == (messages.n == 0), "a failure without messages, or the other way");
  must(messages.n <= AS_MESSAGES, "too many messages");
  for (int i = 0; i < messages.n; ++i)
    must(strstr(messages.message[i].text, "error: ") != NULL, "a message without its mark");
  as_machine_destroy(machine);
  return 0;
}
