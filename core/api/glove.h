/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The public values and interfaces. */

#include "glove-audit-event.h"
#include "glove-audit-sink.h"
#include "glove-channel-bounds.h"
#include "glove-channel-schema.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-file-identity.h"
#include "glove-grant.h"
#include "glove-launch-spec.h"
#include "glove-launch-template.h"
#include "glove-limits.h"
#include "glove-macros.h"
#include "glove-outcome.h"
#include "glove-probe-result.h"
#include "glove-runtime-adapter.h"
#include "glove-runtime-home.h"
#include "glove-runtime-request.h"
#include "glove-sandbox-backend.h"
#include "glove-sandbox.h"
#include "glove-version.h"
