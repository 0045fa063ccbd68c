"""Where retrograd.profiler is written.

Written by `make generate`.
"""
from retrograd._packages.profiler import (
    DeviceType as DeviceType,
    ProfilerAction as ProfilerAction,
    ProfilerActivity as ProfilerActivity,
    STEP as STEP,
    _KinetoProfile as _KinetoProfile,
    _warn_once as _warn_once,
    kineto_available as kineto_available,
    profile as profile,
    record_function as record_function,
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
    schedule as schedule,
    supported_activities as supported_activities,
    tensorboard_trace_handler as tensorboard_trace_handler,
)
