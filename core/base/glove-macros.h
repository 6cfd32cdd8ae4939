/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

/**
 * GLOVE_AVAILABLE_IN_1_0:
 *
 * Marks a function that is part of the public interface since 1.0.
 */
#define GLOVE_AVAILABLE_IN_1_0 extern __attribute__ ((visibility ("default")))

/* Shared by libglove-1 and the host library only: exported under GLOVE_1_PRIVATE, no header installed, no promise. */
#define GLOVE_PRIVATE_API extern __attribute__ ((visibility ("default")))
