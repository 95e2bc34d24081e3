#pragma once

// The whole of what a client of the library needs: scenarios in, answers out. A Session remembers
// what scenarios have in common; any number of threads may use one. Input that is wrong comes back
// as problems (Checked), what the world does (files) is thrown as WorldError, and work whose flag
// is set throws Cancelled.

#include "sim/api/catalogue.h"
#include "sim/api/cluster_plan.h"
#include "sim/api/comparison.h"
#include "sim/api/evaluation.h"
#include "sim/api/first_scenario.h"
#include "sim/api/grid_sweep.h"
#include "sim/api/imported_job.h"
#include "sim/api/layout_plan.h"
#include "sim/api/memory_question.h"
#include "sim/api/plan_export.h"
#include "sim/api/recorded_job.h"
#include "sim/api/saved_sweep.h"
#include "sim/api/scenarios.h"
#include "sim/api/simulation.h"
#include "sim/api/step_fit.h"
#include "sim/api/timeline_columns.h"
#include "sim/api/validation.h"
#include "sim/base/build_info.h"
#include "sim/study/session.h"
