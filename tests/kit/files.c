#include "files.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig.h"

const char *files_path(const char *path) {
  static char whole[4096];
  snprintf(whole, sizeof whole, "%s/%s", SOURCE_DIR, path);
  return whole;
}

as_machine *files_load(const char *path, const char *const *settings, int n) {
  static as_messages messages;
  as_machine *m = NULL;
  if (as_machine_load(files_path(path), settings, n, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  assert_int_equal(messages.n, 0);
  return m;
}

as_machine *files_parse(const char *text) {
  static as_messages messages;
  as_machine *m = NULL;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  return m;
}

const as_messages *files_refused(const char *path, const char *const *settings, int n) {
  static as_messages messages;
  as_machine *m = NULL;
  const as_status status = as_machine_load(files_path(path), settings, n, &m, &messages);
  if (status != AS_ERR_ARGUMENT) fail_msg("%s: %s", path, as_status_name(status));
  assert_null(m);
  assert_true(messages.n > 0);
  return &messages;
}

char *files_read(const char *path) {
  FILE *file = fopen(files_path(path), "rb");
  if (file == NULL) fail_msg("%s cannot be opened", path);
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
  assert_non_null(text);
  rewind(file);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  text[size] = '\0';
  fclose(file);
  return text;
}

static as_integrator *start(const as_model *model, as_method method, double step) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.method = method;
  def.step = step;
  if (as_integrator_create(as_model_problem(model), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(model), NULL, &error))
    fail_msg("%s", error.message);
  return integrator;
}

static void compare(const char *what, const double *a, const double *b, int n, double tolerance) {
  for (int i = 0; i < n; ++i) {
    char name[32];
    snprintf(name, sizeof name, "%s[%d]", what, i);
    assert_near(name, a[i], b[i], tolerance);
  }
}

/// Index-3 multipliers show the round-off of positions divided by h^2, times the masses, here some kg, and times up to 300,
/// which is 12/(1 - rho_inf)^2.
#define MULTIPLIERS 1e4

void files_same_motion(const as_model *one, const as_model *other, as_method method, double step,
                       int steps, double tolerance) {
  as_error error;
  int size[2][4]; // of q, v, lambda and psi
  const as_model *model[2] = {one, other};
  as_integrator *integrator[2];
  for (int k = 0; k < 2; ++k) {
    const int bodies = as_model_bodies(model[k]), joints = as_model_joints(model[k]);
    const int last = joints - 1;
    size[k][3] = 0;
    for (int j = 0; j < joints; ++j)
      size[k][3] += as_model_joint_velocity_rows(model[k], (as_joint_id){j});
    size[k][0] = as_model_body_q(model[k], (as_body_id){bodies - 1});
    size[k][1] = as_model_body_v(model[k], (as_body_id){bodies - 1});
    size[k][2] = joints == 0 ? 0
                             : as_model_joint_row(model[k], (as_joint_id){last}) +
                                   as_model_joint_rows(model[k], (as_joint_id){last});
    integrator[k] = start(model[k], method, step);
  }
  assert_memory_equal(size[0], size[1], sizeof size[0]);
  for (int i = 0; i <= steps; ++i) {
    if (i > 0)
      for (int k = 0; k < 2; ++k)
        if (as_integrator_step(integrator[k], step, &error)) fail_msg("%s", error.message);
    const as_state *a = as_integrator_state(integrator[0]), *b = as_integrator_state(integrator[1]);
    compare("q", a->q, b->q, size[0][0] + 3, tolerance);
    compare("v", a->v, b->v, size[0][1] + 3, tolerance);
    double largest = 1.0;
    for (int j = 0; j < size[0][0] + 3; ++j) largest = fmax(largest, fabs(b->q[j]));
    const double loose = tolerance + MULTIPLIERS * DBL_EPSILON * largest / (step * step);
    compare("lambda", a->lambda, b->lambda, size[0][2], loose);
    compare("psi", a->psi, b->psi, size[0][3], loose);
  }
  for (int k = 0; k < 2; ++k) as_integrator_destroy(integrator[k]);
}
