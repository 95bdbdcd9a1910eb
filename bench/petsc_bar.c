/// See petsc_bar.h. M a + K u = 0 by TSSetI2Function. Only the first steps, which TSALPHA2 makes as two halves to find its start, have
/// another matrix: once these are over, neither the Jacobian nor its factors are made again.
#include "petsc_bar.h"

#include <petscts.h>
#include <string.h>

#include "peers.h"

enum { WARM = 3 }; // steps before the factors are kept

typedef struct bar {
  Mat M, K;
  double start; ///< of what is timed [s]
} bar;

static PetscErrorCode residual(TS ts, PetscReal t, Vec u, Vec v, Vec a, Vec f, void *user) {
  bar *b = user;
  (void)ts, (void)t, (void)v;
  PetscCall(MatMult(b->M, a, f));
  return MatMultAdd(b->K, u, f, f);
}

static PetscErrorCode jacobian(TS ts, PetscReal t, Vec u, Vec v, Vec a, PetscReal shift_v,
                               PetscReal shift_a, Mat J, Mat P, void *user) {
  bar *b = user;
  (void)ts, (void)t, (void)u, (void)v, (void)a, (void)shift_v, (void)J;
  PetscCall(MatCopy(b->K, P, SAME_NONZERO_PATTERN));
  return MatAXPY(P, shift_a, b->M, SAME_NONZERO_PATTERN);
}

static PetscErrorCode make_matrix(const petsc_bar *in, const double value[2], Mat *out) {
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, in->n, in->n, 3, NULL, out));
  for (PetscInt i = 0; i < in->n; ++i)
    for (PetscInt k = i > 0 ? i - 1 : 0; k <= i + 1 && k < in->n; ++k) {
      const double x = k != i ? value[1] : i == in->n - 1 ? 0.5 * value[0] : value[0];
      PetscCall(MatSetValue(*out, i, k, x, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*out, MAT_FINAL_ASSEMBLY));
  return MatAssemblyEnd(*out, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode prepare(TS ts, const petsc_bar *in, bar *b, Mat J) {
  SNES snes;
  SNESLineSearch search;
  KSP ksp;
  PC pc;
  PetscCall(TSSetType(ts, TSALPHA2));
  PetscCall(TSAlpha2SetRadius(ts, in->rho_inf));
  PetscCall(TSSetI2Function(ts, NULL, residual, b));
  PetscCall(TSSetI2Jacobian(ts, J, J, jacobian, b));
  PetscCall(TSSetTimeStep(ts, in->h));
  PetscCall(TSSetMaxSteps(ts, in->steps));
  PetscCall(TSSetMaxTime(ts, 1e30));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSGetSNES(ts, &snes));
  // One iteration, as it is linear. SNESKSPONLY would do with one evaluation less, but TSALPHA2 finds v and a where the function is
  // evaluated: they would stay as they were.
  PetscCall(SNESSetType(snes, SNESNEWTONLS));
  PetscCall(SNESGetLineSearch(snes, &search));
  PetscCall(SNESLineSearchSetType(search, SNESLINESEARCHBASIC));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  return PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL); // no fill-in
}

/// Behind each step.
static PetscErrorCode count_step(TS ts) {
  bar *b;
  SNES snes;
  PetscInt step;
  PetscCall(TSGetApplicationContext(ts, &b));
  PetscCall(TSGetStepNumber(ts, &step));
  PetscCall(TSGetSNES(ts, &snes));
  if (step == WARM) {
    PetscCall(SNESSetLagJacobian(snes, -2)); // once more, then never
    PetscCall(SNESSetLagPreconditioner(snes, -2));
  }
  if (step == WARM + 1) b->start = peers_cpu_seconds();
  return 0;
}

static PetscErrorCode run(const petsc_bar *in, double *q, double *seconds, int *timed) {
  bar b = {.start = 0.0};
  Mat J;
  Vec u, v;
  TS ts;
  double *place;
  PetscCall(make_matrix(in, in->mass, &b.M));
  PetscCall(make_matrix(in, in->stiffness, &b.K));
  PetscCall(MatDuplicate(b.K, MAT_COPY_VALUES, &J));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, in->n, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecSet(v, 0.0));
  PetscCall(VecGetArray(u, &place));
  memcpy(place, in->q, (size_t)in->n * sizeof *q);
  PetscCall(VecRestoreArray(u, &place));
  PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
  PetscCall(prepare(ts, in, &b, J));
  PetscCall(TS2SetSolution(ts, u, v));
  PetscCall(TSSetUp(ts));
  PetscCall(TSSetApplicationContext(ts, &b));
  PetscCall(TSSetPostStep(ts, count_step));
  PetscCall(TSSolve(ts, NULL));
  *timed = in->steps - WARM - 1;
  *seconds = peers_cpu_seconds() - b.start;
  PetscCall(VecGetArray(u, &place));
  memcpy(q, place, (size_t)in->n * sizeof *q);
  PetscCall(VecRestoreArray(u, &place));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&b.M));
  return MatDestroy(&b.K);
}

int petsc_bar_run(const petsc_bar *bar_, double *q, double *seconds, int *timed_steps) {
  PetscBool begun;
  if (PetscInitialized(&begun) != 0) return 1;
  if (!begun && PetscInitializeNoArguments() != 0) return 1;
  return run(bar_, q, seconds, timed_steps) != 0;
}
