/// What `simulate:` and `output:` are read into.
#ifndef ALPHASTEP_FILE_RUN_H
#define ALPHASTEP_FILE_RUN_H

#include "file/reader.h"

typedef struct asi_simulate {
  double t_end;
  int max_steps;
  int method;
  double atol;                                   ///< of all kinds; NAN: not given
  double hht_alpha;                              ///< NAN: not given
  double newmark[2];                             ///< likewise: beta, gamma
  double coefficients[4], state_coefficients[3]; ///< likewise
  as_integrator_def def;
  bool accuracy;
} asi_simulate;

typedef struct asi_output {
  double interval;
  asi_rows times;
  asi_texts channels;
} asi_output;

extern const asi_table asi_simulate_table, asi_output_table;

asi_simulate asi_default_simulate(void);
asi_output asi_default_output(void);

/// Takes over what was read; complains about times that do not increase.
void asi_take_simulate(asi_reader *r, const asi_value *v, const asi_simulate *read);
/// To be called when all files have been read.
void asi_check_output(asi_reader *r);
void asi_take_output(asi_reader *r, const asi_value *v, const asi_output *read);

#endif
