/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "glove-thing.h"

GloveThing *glove_session_get_thing (void);
