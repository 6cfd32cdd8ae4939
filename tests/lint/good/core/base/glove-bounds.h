/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define GLOVE_THINGS_MAX 3
