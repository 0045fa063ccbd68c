"""python -m tests.opinfo"""

from __future__ import annotations

import sys
import time
import traceback

from .compare import compare


def main(words: list[str]) -> None:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    samples = agree = errors = errors_agree = 0
    for op in op_db:
        if words and not any(w in op.name for w in words):
            continue
        start = time.perf_counter()
        try:
            tally = compare(op)
        except Exception as e:
            print(op.name, 'FAILED', type(e), e)
            traceback.print_exc(limit=-3, file=sys.stdout)
            continue
        samples += tally.samples
        agree += tally.agree
        errors += tally.errors
        errors_agree += tally.errors_agree
        print(f"{tally.name}: {tally.agree} of {tally.samples}, errors {tally.errors_agree} of {tally.errors}  "
              f"{time.perf_counter() - start:.1f}s {tally.outside or ''}", flush=True)
        for where, what in tally.differences:
            print(f"    {where}: {what}")
    print(f"samples {agree} of {samples}, errors {errors_agree} of {errors}")


if __name__ == "__main__":
    main(sys.argv[1:])
