/// Sentences that do not fit end behind a word.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"

static const char sentence[] = "Joint \"ab\" holds the r\xc3\xb6t\xc3\xb6r along y.";

/// Whatever the room, what is left is a beginning of whole words with `...` behind it.
static void test_room(void **state) {
  (void)state;
  for (size_t size = 16; size <= sizeof sentence + 2; ++size) {
    char out[64], added[64];
    memset(out, 'x', sizeof out);
    asi_print(out, size, "%s", sentence);
    asi_text text = asi_text_begin(added, size);
    for (size_t i = 0; sentence[i]; ++i) asi_text_add(&text, "%c", sentence[i]);
    assert_true(strlen(out) < size && out[size] == 'x');
    assert_string_equal(out, added);
    if (size >= sizeof sentence) {
      assert_string_equal(out, sentence);
      continue;
    }
    const size_t length = strlen(out);
    assert_string_equal(out + length - 4, " ...");
    assert_int_equal(strncmp(out, sentence, length - 4), 0);
    assert_true(sentence[length - 4] == ' ');
  }
}

/// One word that is too long loses its end, but no half of a character.
static void test_long_word(void **state) {
  (void)state;
  for (size_t size = 8; size < 20; ++size) {
    char out[32];
    asi_print(out, size, "%s",
              "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6");
    const size_t length = strlen(out);
    assert_true(length < size && length % 2 == 0); // pairs of bytes and " ..."
    assert_string_equal(out + length - 4, " ...");
  }
  char little[4];
  asi_print(little, sizeof little, "%s", "abcdef");
  assert_string_equal(little, "abc");
}

/// Errors do so, too.
static void test_error(void **state) {
  (void)state;
  char words[3000] = "";
  for (int i = 0; i < 400; ++i) strcat(words, "word ");
  as_error error;
  asi_fail(&error, AS_ERR_ARGUMENT, 0.0, NULL, "%s", words);
  const size_t length = strlen(error.message);
  assert_true(length > sizeof error.message - 12);
  assert_string_equal(error.message + length - 9, " word ...");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_room),
      cmocka_unit_test(test_long_word),
      cmocka_unit_test(test_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
