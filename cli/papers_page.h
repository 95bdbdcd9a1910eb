/// The page of `alphastep papers --report`.
#ifndef ALPHASTEP_CLI_PAPERS_PAGE_H
#define ALPHASTEP_CLI_PAPERS_PAGE_H

#include "cli.h"
#include "papers.h"

/// What a page shows: the claims that chosen rows bear on, each with those rows.
typedef struct papers_page {
  run_result *const *results; ///< one array per paper
  const paper_entry *entries; ///< the chosen rows
  int n_entries;
  bool complete; ///< every row is chosen: claims that have none are shown too
} papers_page;

/// Writes the page, a file that stands alone, in one piece. Complains.
cli_exit papers_page_write(const papers_page *page, const char *path);

/// Makes the runs that a figure needs. Complains.
cli_exit papers_prepare_figure(const paper *source, const paper_figure *figure, run_result *results,
                               paper_drawing *drawing);

#endif
