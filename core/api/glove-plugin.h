/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The one header that a plugin includes. */

#include "glove.h"
#include "glove-plugin-descriptor.h"
