/// Where resources are, from what importers pass.
#ifndef ALPHASTEP_FMU_RUNTIME_URI_H
#define ALPHASTEP_FMU_RUNTIME_URI_H

/// The path in a URI of FMI 2.0, `file:///home/x%20y/resources`; a plain path is taken as it is. To be freed. NULL: it is no place on this
/// machine, or there is no memory.
char *asi_exported_path_of_uri(const char *uri);

#endif
