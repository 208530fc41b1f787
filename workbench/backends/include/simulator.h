// A CPU stand-in for a CUDA device that checks every access; the parts in reading order.
#pragma once

#include "simulator_records.h"
#include "simulator_memory.h"
#include "simulator_threads.h"
#include "simulator_names.h"
#include "simulator_launch.h"
