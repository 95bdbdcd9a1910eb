/// Fuzzes as_tyre_parse(): whatever a text holds, there is a tyre of finite numbers, or a sentence; warnings have sentences, too.
///
/// `fuzz_tyre --seeds=FOLDER` writes texts to begin with.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "fuzz/seeds.h"

#define CORE                                                                                       \
  "UNLOADED_RADIUS = 0.3\nVERTICAL_STIFFNESS = 2e5\nFNOMIN = 4000\nPCX1 = 1.6\nPDX1 = 1\nPKX1 = "  \
  "20\nPCY1 = 1.3\nPDY1 = 1\nPKY1 = -20\nPKY2 = 2\n"

static const char *const seeds[] = {
    "PROPERTY_FILE_FORMAT = 'PAC2002'\n" CORE,
    "[UNITS]\nLENGTH = 'mm'\nFORCE='kN'\nANGLE = \"degree\"\n[MODEL]\nFITTYP = 21 $ MF "
    "5.2\nUSE_MODE = 14\nTYRESIDE = "
    "'RIGHT'\n" CORE "PTX1=2.3\nPTY1 = 2D0\nPTY2=+.9\nPPX1 = 0.1\n",
    "$---\n! x\n[MDI_HEADER]\nFILE_TYPE='tir'\n(COMMENTS)\n{comment_string}\n'a'\n[SHAPE]\n{radial "
    "width}\n1 0\n[MODEL]\nproperty_file_format='mf_05'\n" CORE "MY_KEY = 'a$b'\n",
    "PROPERTY_FILE_FORMAT = 'MF_05'\nPCX1 = 1\nPCX1 = 2\n",
    "[UNITS\n",
    "= 3\n",
    "FITTYP = 61\n"};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, sizeof seeds / sizeof seeds[0]);
  exit(0);
}

static void warn(const char *sentence, void *user) {
  must(strncmp(sentence, "x.tir:", 6) == 0, "a warning has no place");
  ++*(int *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size > 0 ? size : 1); // of the exact size, so that reading beyond it shows
  int warnings = 0;
  as_tyre t;
  as_error error = {0};
  must(text != NULL, "out of memory");
  if (size > 0) memcpy(text, data, size);
  const as_status status = as_tyre_parse(text, size, "x.tir", warn, &warnings, &t, &error);
  free(text);
  if (status) {
    must(status == AS_ERR_FILE && strncmp(error.message, "x.tir:", 6) == 0,
         "it is refused without a sentence");
    return 0;
  }
  const double some[] = {t.UNLOADED_RADIUS,
                         t.VERTICAL_STIFFNESS,
                         t.FNOMIN,
                         t.PCX1,
                         t.PKX1,
                         t.PKY2,
                         t.LFZO,
                         t.LMUY,
                         t.QSY1,
                         t.SSZ4};
  for (size_t i = 0; i < sizeof some / sizeof some[0]; ++i)
    must(isfinite(some[i]), "a number is not finite");
  must(t.mode >= 0 && t.mode <= 4 && t.UNLOADED_RADIUS > 0.0, "it is no tyre");
  return 0;
}
