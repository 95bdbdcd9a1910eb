/// Formulas of a builder, see scope.h.
#include "model/scope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hint.h"
#include "base/locale.h"
#include "base/text.h"
#include "model/measures.h"

/// A formula that is being compiled.
typedef struct looking {
  as_builder *b;
  const asi_wish *wish;
} looking;

static asi_meaning refuse(const looking *at, const char *name, asi_named *named) {
  snprintf(named->sentence, ASI_SENTENCE_LENGTH, "%.60s cannot be used here: %s", name,
           at->wish->reason ? at->wish->reason : "it is not known when this is evaluated");
  return ASI_MEANS_MISTAKE;
}

static const char blocks[] = "blocks.";

static bool continues_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/// A name of which a formula without quotes reads the beginning only, as of `left-hand` or `link 1`; NULL: none.
static const char *find_torn(const asi_names *names, const char *read) {
  const size_t length = strlen(read);
  for (int i = 0; i < names->count; ++i) {
    const char *name = asi_names_get(names, i);
    if (strncmp(name, read, length) == 0 && name[length] && !continues_name(name[length]))
      return name;
  }
  return NULL;
}

/// blocks.NAME or blocks.NAME.OUTPUT
static asi_meaning find_signal(const as_builder *b, const char *name, asi_named *named) {
  char block[ASI_EXPRESSION_NAME];
  snprintf(block, sizeof block, "%s", name + strlen(blocks));
  char *output = strchr(block, '.');
  if (output) *output++ = '\0';
  const int number = asi_names_find(&b->names[ASI_SORT_BLOCK], block);
  asi_hint hint = {.word = number < 0 ? block : output ? output : ""};
  if (number < 0) {
    const asi_names *all = &b->names[ASI_SORT_BLOCK];
    const char *longer = find_torn(all, block);
    for (int i = 0; i < all->count; ++i) asi_hint_try(&hint, asi_names_get(all, i));
    if (longer)
      asi_print(named->sentence, ASI_SENTENCE_LENGTH,
                "there is no block \"%.30s\"; a name like this one stands in quotes: "
                "'blocks.%.60s'",
                block, longer);
    else
      snprintf(named->sentence, ASI_SENTENCE_LENGTH, "there is no block \"%.40s\"%s", block,
               asi_hint_text(&hint));
    return ASI_MEANS_MISTAKE;
  }
  named->index = ASI_SLOT_SIGNAL + asi_builder_find_signal(b, number, output ? output : "");
  if (named->index >= ASI_SLOT_SIGNAL) return ASI_MEANS_SLOT;
  for (int i = b->block[number].first; i >= 0; i = b->signal[i].next)
    asi_hint_try(&hint, b->signal[i].output);
  char all[120];
  asi_text list = asi_text_begin(all, sizeof all);
  for (int i = b->block[number].first; i >= 0; i = b->signal[i].next)
    asi_text_add(&list, "%s%.30s", list.used > 0 ? ", " : "", b->signal[i].output);
  if (output)
    snprintf(named->sentence, ASI_SENTENCE_LENGTH, "the block \"%.40s\" has no \"%.30s\"%s", block,
             output, asi_hint_text(&hint));
  else
    asi_print(named->sentence, ASI_SENTENCE_LENGTH,
              "the block \"%.40s\" has no value of its own; it has: %s", block, all);
  return ASI_MEANS_MISTAKE;
}

static asi_meaning find(const char *name, asi_named *named, void *user) {
  const looking *at = user;
  const asi_scope *outer = at->b->outer;
  const int table = named->called ? asi_names_find(&at->b->names[ASI_SORT_TABLE], name) : -1;
  if (table >= 0) {
    named->index = table;
    named->arguments = at->b->table[table].surface ? 2 : 1;
    return ASI_MEANS_TABLE;
  }
  for (int i = 0; at->wish->own && i < ASI_OWN_SLOTS; ++i)
    if (at->wish->own[i] && strcmp(name, at->wish->own[i]) == 0) {
      named->index = i;
      return ASI_MEANS_SLOT;
    }
  if (strcmp(name, "t") == 0) {
    named->index = ASI_SLOT_TIME;
    return at->wish->time ? ASI_MEANS_SLOT : refuse(at, name, named);
  }
  const asi_meaning given = outer ? outer->find(name, named, outer->user) : ASI_MEANS_NOTHING;
  if (given != ASI_MEANS_NOTHING) return given;
  const int parameter = asi_names_find(&at->b->names[ASI_SORT_PARAMETER], name);
  if (strncmp(name, blocks, strlen(blocks)) == 0 && at->wish->signals)
    return find_signal(at->b, name, named);
  if (asi_is_channel(name) && at->wish->measures) {
    const asi_meaning meaning = asi_measures_find(at->b, at->wish->measures, name, named);
    named->index += ASI_SLOT_MEASURE;
    return meaning;
  }
  if (asi_is_channel(name)) return refuse(at, name, named);
  if (parameter < 0 && at->wish->signals &&
      asi_names_find(&at->b->names[ASI_SORT_BLOCK], name) >= 0) {
    asi_print(named->sentence, ASI_SENTENCE_LENGTH,
              "there is no quantity \"%.40s\"; did you mean the block, blocks.%.40s?", name, name);
    return ASI_MEANS_MISTAKE;
  }
  if (parameter >= 0) {
    named->index = ASI_SLOT_PARAMETER + parameter;
    return at->wish->parameters ? ASI_MEANS_SLOT : refuse(at, name, named);
  }
  return ASI_MEANS_NOTHING;
}

/// Names that could have been meant: those of find(), in this order.
static const char *candidate(int i, void *user) {
  const looking *at = user;
  const asi_scope *outer = at->b->outer;
  const asi_names *parameters = &at->b->names[ASI_SORT_PARAMETER];
  const asi_names *tables = &at->b->names[ASI_SORT_TABLE];
  for (int k = 0; at->wish->own && k < ASI_OWN_SLOTS; ++k)
    if (at->wish->own[k] && i-- == 0) return at->wish->own[k];
  if (i < tables->count) return asi_names_get(tables, i);
  i -= tables->count;
  if (at->wish->parameters && i < parameters->count) return asi_names_get(parameters, i);
  if (at->wish->parameters) i -= parameters->count;
  return outer && outer->candidate ? outer->candidate(i, outer->user) : NULL;
}

/// Numbers are written with a point, whatever the locale has.
static as_status compile(const char *text, const asi_scope *scope, asi_expression **out,
                         asi_parse_error *slip) {
  asi_locale locale;
  if (!asi_locale_set_plain(&locale)) return AS_ERR_MEMORY;
  const as_status status = asi_expression_compile(text, strlen(text), scope, out, slip);
  asi_locale_restore(&locale);
  return status;
}

as_status asi_builder_compile(as_builder *b, const char *text, const asi_wish *wish,
                              asi_expression **out, as_error *error) {
  looking at = {b, wish};
  const asi_scope scope = {.find = find, .candidate = candidate, .user = &at};
  asi_parse_error *slip = &b->slip;
  *out = NULL;
  b->slip_text = NULL;
  const as_status status = compile(text, &scope, out, slip);
  if (status == AS_ERR_MEMORY || (wish->measures && wish->measures->no_memory))
    return asi_fail_memory(error);
  if (status == AS_OK) return AS_OK;
  b->slip_text = text;
  if (slip->line > 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%s: %s (line %d, column %d).",
                    wish->what, slip->sentence, slip->line, slip->column);
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%s: %s (column %d).", wish->what,
                  slip->sentence, slip->column);
}
