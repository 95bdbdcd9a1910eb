/// Thinning: which rows of results a page shows, and the extremes between them.
#ifndef ALPHASTEP_REPORT_THIN_H
#define ALPHASTEP_REPORT_THIN_H

/// How much of results goes into a page.
typedef struct asi_thinning {
  long rows;   ///< of the results
  int frames;  ///< rows that are shown, evenly, with the first and the last
  int buckets; ///< pieces of each channel whose extremes are kept; 0: every row is shown
} asi_thinning;

/// So that a page of 10 bodies stays below 5 MB and one of 1000 below 30 MB.
asi_thinning asi_thin(long rows, int bodies, int channels);
/// The row that a frame shows.
long asi_thin_row(const asi_thinning *thinning, int frame);

/// Where the least and the greatest number of each of so many equal pieces of x are, in order; numbers that are not
/// finite do not count. Writes at most 2 buckets rows and returns how many.
int asi_thin_extremes(const double *x, long rows, int buckets, long *out);

#endif
