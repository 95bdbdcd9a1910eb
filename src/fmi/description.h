/// What modelDescription.xml says of an FMU: of FMI 2.0 and 3.0 alike.
#ifndef ALPHASTEP_FMI_DESCRIPTION_H
#define ALPHASTEP_FMI_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a sentence says that has this cause.
#define ASI_FMU_NO_MEMORY "memory has run out"

enum {
  ASI_FMU_WHY = 512, ///< characters of a sentence without its end
  ASI_FMU_VARIABLES = 1000000,
  ASI_FMU_DIMENSIONS = 8,
  ASI_FMU_ELEMENTS = 10000, ///< of an array
  ASI_FMU_DEPTH = 64,       ///< of elements in each other
};

typedef enum asi_fmu_type {
  ASI_FMU_FLOAT32,
  ASI_FMU_FLOAT64, ///< Real, too
  ASI_FMU_INT8,
  ASI_FMU_UINT8,
  ASI_FMU_INT16,
  ASI_FMU_UINT16,
  ASI_FMU_INT32, ///< Integer and Enumeration of FMI 2.0, too
  ASI_FMU_UINT32,
  ASI_FMU_INT64, ///< Enumeration of FMI 3.0, too
  ASI_FMU_UINT64,
  ASI_FMU_BOOLEAN,
  ASI_FMU_STRING,
  ASI_FMU_BINARY,
  ASI_FMU_CLOCK,
} asi_fmu_type;

typedef enum asi_fmu_causality {
  ASI_FMU_LOCAL,
  ASI_FMU_PARAMETER,
  ASI_FMU_CALCULATED,
  ASI_FMU_STRUCTURAL,
  ASI_FMU_INPUT,
  ASI_FMU_OUTPUT,
  ASI_FMU_INDEPENDENT,
} asi_fmu_causality;

typedef struct asi_fmu_variable {
  char *name;
  char *unit;     ///< NULL: none
  char *declared; ///< its declared type; NULL: none
  uint32_t reference;
  asi_fmu_type type;
  asi_fmu_causality causality;
  bool discrete;   ///< its variability is discrete (or it is no real number)
  bool constant;   ///< its variability is constant
  bool calculated; ///< initial="calculated": it cannot be set
  bool is_derivative;
  uint32_t derivative; ///< of which variable: its number from 1 (FMI 2.0), its reference (3.0)
  int n;               ///< elements; 1: a scalar
  int n_dimensions;
  struct {
    int size;           ///< while it is read 0: that of a structural parameter
    uint32_t reference; ///< of that
  } dimension[ASI_FMU_DIMENSIONS];
  int first_size; ///< value of `start`, if it is a whole number: of a structural parameter
} asi_fmu_variable;

/// What it says of itself as one of both kinds.
typedef struct asi_fmu_kind {
  char *identifier;  ///< of its library; NULL: it is not of this kind
  bool state;        ///< can get and set its state
  bool serial;       ///< can serialize it
  bool derivatives;  ///< provides directional derivatives
  bool once;         ///< once per process
  bool tool;         ///< needs its tool
  bool interpolates; ///< FMI 2.0: takes derivatives of inputs
  bool any_step;     ///< takes communication steps of any size
  bool each_step;    ///< wants to be told of each step of the integrator (completedIntegratorStep)
} asi_fmu_kind;

typedef struct asi_fmu_description {
  int version; ///< 2 or 3
  char *name, *token;
  asi_fmu_kind exchange, simulation;
  asi_fmu_variable *variable;
  int n_variables, room_variables;
  uint32_t *rate; ///< n_rates derivatives of states: numbers from 1 (FMI 2.0), references (3.0)
  int n_rates, room_rates;
  int n_indicators;
  double step; ///< of the default experiment [s]; NAN: not said
} asi_fmu_description;

/// Reads a description. False: `why` says why not; then there is nothing to free.
bool asi_fmu_description_read(asi_fmu_description *d, const char *text, size_t size,
                              char why[ASI_FMU_WHY]);
void asi_fmu_description_free(asi_fmu_description *d);
/// A copy of a text; NULL: memory has run out.
char *asi_fmu_copy(const char *text);
/// Number of a variable by its name or reference; -1: there is none.
int asi_fmu_find(const asi_fmu_description *d, const char *name);
int asi_fmu_find_reference(const asi_fmu_description *d, uint32_t reference);
/// Whether it is a number of some type.
static inline bool asi_fmu_is_number(asi_fmu_type type) { return type <= ASI_FMU_BOOLEAN; }
static inline bool asi_fmu_is_real(asi_fmu_type type) { return type <= ASI_FMU_FLOAT64; }

#endif
