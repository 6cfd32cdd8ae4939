/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define GLOVE_THINGS_MAX 3
#define GLOVE_OTHERS_MAX 4
