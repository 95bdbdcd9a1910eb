/// Fuzzes what is read of an FMU before its code: the archive (bytes that begin with P) and modelDescription.xml. Whatever they hold, there are
/// entries that unpack below their folder, or a description whose numbers refer to what is there, or a sentence.
///
/// `fuzz_fmu --seeds=FOLDER` writes descriptions to begin with.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/block.h"
#include "fmi/zip.h"
#include "fuzz/seeds.h"

#define TWO                                                                                        \
  "<fmiModelDescription fmiVersion='2.0' guid='a' modelName='m' numberOfEventIndicators='1'>"      \
  "<ModelExchange modelIdentifier='m' canGetAndSetFMUstate='true'/>"
#define THREE                                                                                      \
  "<fmiModelDescription fmiVersion='3.0' instantiationToken='a' modelName='m'>"                    \
  "<CoSimulation modelIdentifier='m'/>"
#define END "</fmiModelDescription>"

static const char *const seeds[] = {
    TWO "<TypeDefinitions><SimpleType name='T'><Real unit='m'/></SimpleType></TypeDefinitions>"
        "<ModelVariables><ScalarVariable name='x' valueReference='1'><Real declaredType='T'/>"
        "</ScalarVariable><ScalarVariable name='der(x)' valueReference='2'><Real derivative='1'/>"
        "</ScalarVariable></ModelVariables><ModelStructure><Derivatives><Unknown index='2'/>"
        "</Derivatives></ModelStructure>" END,
    THREE "<ModelVariables><UInt64 name='n' valueReference='1' causality='structuralParameter' "
          "start='3'/><Float64 name='x' valueReference='2' causality='input'><Dimension "
          "valueReference='1'/><Dimension start='2'/></Float64><String name='s' "
          "valueReference='4'><Start value='a'/></String></ModelVariables>" END,
    THREE "<ModelVariables><Float64 name='x' valueReference='2'/><Float64 name='d' "
          "valueReference='3' derivative='2'/></ModelVariables><ModelStructure>"
          "<ContinuousStateDerivative valueReference='3'/></ModelStructure>" END,
    "<!DOCTYPE a [<!ENTITY b 'c'>]><fmiModelDescription/>",
    "<a>",
    TWO "<DefaultExperiment stepSize='1e-3'/>" END,
};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, sizeof seeds / sizeof seeds[0]);
  exit(0);
}

static void read_archive(const uint8_t *data, size_t size) {
  char why[ASI_ZIP_WHY] = "";
  asi_zip zip;
  unsigned char *bytes = malloc(size > 0 ? size : 1);
  must(bytes != NULL, "out of memory");
  if (size > 0) memcpy(bytes, data, size);
  if (!asi_zip_take(&zip, bytes, size, why)) {
    must(why[0] != '\0', "an archive is refused without a sentence");
    return;
  }
  size_t total = 0;
  for (int i = 0; i < zip.n; ++i) {
    const asi_zip_entry *e = &zip.entry[i];
    must(e->name[0] != '/' && strstr(e->name, "../") == NULL, "an entry leads out");
    must(asi_zip_find(&zip, e->name) != NULL, "an entry is not found");
    total += e->size;
    why[0] = '\0';
    unsigned char *out = e->size < (size_t)1 << 24 ? asi_zip_unpack(&zip, e, why) : NULL;
    must(out != NULL || why[0] || e->size >= (size_t)1 << 24,
         "an entry is refused without a sentence");
    free(out);
  }
  must(total <= ASI_ZIP_MOST, "more bytes than there may be");
  asi_zip_close(&zip);
}

static void read_description(const uint8_t *data, size_t size) {
  char why[ASI_FMU_WHY] = "", name[48];
  asi_fmu_description d;
  int element;
  if (!asi_fmu_description_read(&d, (const char *)data, size, why)) {
    must(why[0] != '\0', "a description is refused without a sentence");
    return;
  }
  must(d.version == 2 || d.version == 3, "a description of no version");
  for (int i = 0; i < d.n_variables; ++i) {
    const asi_fmu_variable *v = &d.variable[i];
    must(v->n >= 1 && v->n <= ASI_FMU_ELEMENTS, "a variable without elements");
    must(asi_fmu_lookup(&d, v->name, &element) == i, "a variable is not found");
    asi_fmu_port_name(v, v->n - 1, name);
    must(name[0] != '\0', "a variable without a name");
  }
  for (int i = 0; i < d.n_rates; ++i)
    must(d.version == 2 ? d.rate[i] - 1 < (uint32_t)d.n_variables
                        : asi_fmu_find_reference(&d, d.rate[i]) >= 0,
         "a derivative that is no variable");
  asi_fmu_description_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 'P')
    read_archive(data, size);
  else
    read_description(data, size);
  return 0;
}
