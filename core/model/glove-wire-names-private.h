/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The only place in core/ where the name of a runtime, a schema or a mechanism may stand: strings that a wire format of
 * contracts.md demands, each once, with the section that demands it. */

/* §11.2 mechanism names */
#define GLOVE_WIRE_MECHANISM_CGROUP_V2 "cgroup_v2"

/* §5.2 restricted host: a component of a path */
#define GLOVE_WIRE_RESTRICTED_CONTROLLER ".sage"
