/// `alphastep equilibrium --follow`.
#ifndef ALPHASTEP_CLI_FOLLOW_H
#define ALPHASTEP_CLI_FOLLOW_H

#include "linear.h"

/// Follows a branch of equilibria and tells what lies on it. Complains.
cli_exit follow_branch(const linear_request *r);

#endif
