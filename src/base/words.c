// Which known word is nearest to a mistyped one: the optimal string alignment distance
//
//     d(i,j) = min{ d(i-1,j) + 1, d(i,j-1) + 1, d(i-1,j-1) + [a_i != b_j] }
//
// and d(i-2,j-2) + 1 if two neighbours are swapped, kept as three rows of its table.
#include <stdbool.h>
#include <string.h>

#include "alphastep/words.h"

enum { LONGEST = 80 }; // longer words are compared by their first LONGEST characters

static int least(int a, int b) { return a < b ? a : b; }

static int length_of(const char *word) {
  size_t n = strlen(word);
  return n < LONGEST ? (int)n : LONGEST;
}

static bool is_same(char a, char b) {
  if (a >= 'A' && a <= 'Z') a = (char)(a - 'A' + 'a');
  if (b >= 'A' && b <= 'Z') b = (char)(b - 'A' + 'a');
  return a == b;
}

int as_word_distance(const char *a, const char *b) {
  int na = length_of(a);
  int nb = length_of(b);
  int table[3][LONGEST + 1];
  for (int j = 0; j <= nb; j++) table[0][j] = j;
  for (int i = 1; i <= na; i++) {
    int *row = table[i % 3];
    const int *above = table[(i + 2) % 3];
    const int *two_above = table[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !is_same(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1])) {
        row[j] = least(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return table[na % 3][nb];
}

bool as_word_is_close(const char *typed, int distance) {
  return distance <= 1 + length_of(typed) / 5;
}
