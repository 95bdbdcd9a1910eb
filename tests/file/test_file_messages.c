/// What is said about wrong files: every file in tests/files/wrong ends with the messages that it must cause, all of
/// them and no others, in order, with file, line and column.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"

static const char folder[] = "tests/files/wrong";

/// The next line of the text that begins with `#! ` and is not `#! schema`, without its mark; NULL: none.
static char *next_expected(char **text) {
  char *line;
  while ((line = strstr(*text, "#! ")) != NULL) {
    char *end = strchr(line, '\n');
    if (end == NULL) end = line + strlen(line);
    *text = *end ? end + 1 : end;
    *end = '\0';
    if (strcmp(line, "#! schema") != 0) return line + 3;
  }
  return NULL;
}

static as_status load_wrong(const char *name, as_messages *messages) {
  char path[512];
  as_machine *m = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const as_status status = as_machine_load(files_path(path), NULL, 0, &m, messages);
  if (status == AS_OK) fail_msg("%s is accepted", name);
  assert_null(m);
  return status;
}

/// Returns how many messages there are.
static int check_file(const char *name) {
  static as_messages messages;
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  char *text = files_read(path), *rest = text;
  const as_status status = load_wrong(name, &messages);
  assert_int_equal(status,
                   strcmp(name, "include_missing.yaml") == 0 ? AS_ERR_FILE : AS_ERR_ARGUMENT);
  const size_t prefix = strlen(files_path(folder)) + 1;
  char found[AS_MESSAGES][1024], *expected;
  int n = 0;
  for (int i = 0; i < messages.n; ++i) {
    // Paths inside the sentence are whole ones too.
    const char *from = messages.message[i].text, *whole = files_path(folder);
    size_t used = 0;
    for (const char *at = strstr(from, whole); at; at = strstr(from, whole)) {
      memcpy(found[i] + used, from, (size_t)(at - from));
      used += (size_t)(at - from);
      from = at + prefix;
    }
    snprintf(found[i] + used, sizeof found[i] - used, "%s", from);
  }
  while ((expected = next_expected(&rest)) != NULL && n < messages.n) {
    if (strcmp(found[n], expected) != 0) fail_msg("found:    %s\nexpected: %s", found[n], expected);
    ++n;
  }
  if (expected) fail_msg("%s: not said: %s", name, expected);
  if (n < messages.n) fail_msg("%s: said besides: %s", name, found[n]);
  assert_int_equal(messages.more, strcmp(name, "many.yaml") == 0);
  free(text);
  return n;
}

static void test_messages(void **state) {
  (void)state;
  DIR *all = opendir(files_path(folder));
  assert_non_null(all);
  int n_files = 0, n_messages = 0;
  for (const struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
    const char *end = strrchr(entry->d_name, '.');
    if (end == NULL || (strcmp(end, ".yaml") != 0 && strcmp(end, ".json") != 0)) continue;
    n_messages += check_file(entry->d_name);
    ++n_files;
  }
  closedir(all);
  print_message("  %d files, %d messages\n", n_files, n_messages);
  assert_true(n_files >= 25 && n_messages >= 100);
}

/// The place is in the message as numbers too.
static void test_places(void **state) {
  (void)state;
  static as_messages messages;
  (void)load_wrong("limits.yaml", &messages);
  assert_int_equal(messages.message[1].line, 4);
  assert_int_equal(messages.message[1].column, 13);
}

/// What is wrong in all of 100000 turns is told once, and soon.
static void test_wrong_repeat(void **state) {
  (void)state;
  static as_messages messages;
  as_machine *m = NULL;
  const char text[] =
      "alphastep: 1\nrepeat:\n  - to: 100000\n    bodies: {\"a ${i}\": {type: point, mass: 1}}\n"
      "    joints: {\"r ${i}\": {type: distance, bodies: [\"b ${i}\", \"c ${i}\"], point: [0, 0, "
      "0], second_point: [x, 0, 0]}}\n";
  assert_int_equal(as_machine_parse(text, strlen(text), "text.yaml", NULL, 0, &m, &messages),
                   AS_ERR_ARGUMENT);
  assert_int_equal(messages.n, 3);
  assert_string_equal(
      messages.message[0].text,
      "text.yaml:5:50: error: repeat.0.joints.r ${i}.bodies.0: there is no body \"b "
      "1\"; did you mean \"a 1\"? (i = 1)");
}

/// Parameters that need one another inside many parentheses: the depth of all counts, not that of each.
static void test_deep_parameters(void **state) {
  (void)state;
  enum { PARAMETERS = 12, LEVELS = 100 };
  static as_messages messages;
  static char text[PARAMETERS * (2 * LEVELS + 40)];
  as_machine *m = NULL;
  char *end = text + sprintf(text, "alphastep: 1\nparameters:\n");
  for (int i = PARAMETERS; i > 0; --i) {
    end += sprintf(end, "  p%d: ", i);
    for (int k = 0; k < LEVELS; ++k) *end++ = '(';
    end += sprintf(end, "p%d", i - 1);
    for (int k = 0; k < LEVELS; ++k) *end++ = ')';
    *end++ = '\n';
  }
  end += sprintf(end, "  p0: 1\n");
  assert_int_equal(
      as_machine_parse(text, (size_t)(end - text), "text.yaml", NULL, 0, &m, &messages),
      AS_ERR_ARGUMENT);
  assert_int_equal(messages.n, 1);
  assert_string_equal(messages.message[0].text,
                      "text.yaml:12:98: error: parameters.p3: the expression is nested too deeply");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_deep_parameters),
      cmocka_unit_test(test_wrong_repeat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
