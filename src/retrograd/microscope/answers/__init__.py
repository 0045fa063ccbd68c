"""Answers: functions over a recording.  Why a gradient is None, why a hook did not fire, what a gradient is made of."""
